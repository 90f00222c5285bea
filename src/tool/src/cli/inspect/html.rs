//! The report as an HTML page, with example prompts in the colours of the pictures of `render`.

use chat_template::Witness;
use chat_template::json;
use chat_template::{ApplyOptions, Bounds, ChatTemplate, Error, Limits, Prompt, Report};
use maud::{Markup, html};

use super::super::explain::{Picture, frame, legend};
use super::page::{Group, INDENT, SUMMARY, list_groups, quote};

/// The verdicts whose conversations are shown, with their titles.
const EXAMPLES: [(&str, &str); 9] = [
    ("generation_prompt", "A question with the generation prompt"),
    ("roles.system.string", "A system message"),
    ("roles.assistant.string", "An answer"),
    ("roles.user.parts", "Content as parts"),
    ("tools.name", "Tools"),
    ("calls.object", "A call with arguments as an object"),
    ("calls.string", "A call with arguments as text"),
    ("reasoning.replayed", "Reasoning"),
    ("media.image", "An image"),
];

/// The maximum number of bytes of an example's prompt, as in the experiments.
const MAX_OUTPUT: u64 = 1 << 16;

/// Returns the page. The bounds apply to all its examples together.
pub fn page(title: &str, chat: &ChatTemplate, report: &Report<'_>, bounds: Bounds<'_>) -> Result<String, Error> {
    let mut renders = Renders::new(chat, bounds);
    let witnesses = report.witnesses()?;
    let examples = EXAMPLES.iter().filter_map(|(path, name)| {
        let witness = witnesses.get(*path)?;
        Some(((*name).to_owned(), witness))
    });
    let switches = report.switches()?.iter().filter_map(|switch| {
        let witness = witnesses.get(&format!("switches.{}", switch.name))?;
        let value = witness.variables.as_ref().and_then(|variables| variables.get(&switch.name));
        let name = format!("{} = {}", switch.name, value.map(ToString::to_string).unwrap_or_default());
        Some((name, witness))
    });
    let show = |(name, witness)| html! { section { h2 { (name) } (renders.show(witness)) } };
    let examples: Vec<Markup> = examples.chain(switches).map(show).collect();
    let groups = list_groups(report)?;
    let body = html! {
        main class="report" {
            @for group in groups {
                section { (show_group(&group)) }
            }
            section { h2 { "examples" } (legend(|_| true)) }
            @for example in examples { (example) }
        }
    };
    Ok(frame(&format!("{title}: inspected"), title, SUMMARY, &body))
}

/// Returns the heading of a group and its rows, with the names of their columns first if the title has them.
fn show_group(group: &Group) -> Markup {
    let (title, columns) = group.title.split_once("  ").unwrap_or((group.title, ""));
    let columns = columns.trim_start();
    // The rows are not indented here.
    let width = group.title.len().saturating_sub(columns.len()).saturating_sub(INDENT.len());
    html! {
        h2 { (title) }
        // Places in several lines, one below the other, must not wrap.
        pre class=[group.rows.iter().flatten().any(|(_, text)| text.contains('\n')).then_some("wide")] {
            @if !columns.is_empty() { span class="columns" { (" ".repeat(width)) (columns) "\n" } }
            @for row in &group.rows {
                @for (tone, text) in row { span class=(tone.class()) { (text) } }
                "\n"
            }
        }
    }
}

/// A renderer of the examples, with what is left of their limits.
struct Renders<'t> {
    chat: &'t ChatTemplate,
    limits: Limits,
    bounds: Bounds<'t>,
}

impl<'t> Renders<'t> {
    fn new(chat: &'t ChatTemplate, bounds: Bounds<'t>) -> Self {
        Self {
            chat,
            limits: bounds.limits.clone().with_output(bounds.limits.output.min(MAX_OUTPUT)),
            bounds,
        }
    }

    /// Renders the conversation of a verdict again, and returns its picture or its error.
    fn show(&mut self, witness: &Witness) -> Markup {
        let drawn = match &witness.error {
            Some(error) => Err(error.clone()),
            None => self.render(witness).and_then(|prompt| self.draw(&prompt, witness)),
        };
        drawn.unwrap_or_else(|message| html! { p { (quote(&message)) } })
    }

    fn draw(&self, prompt: &Prompt, witness: &Witness) -> Result<Markup, String> {
        let messages = json::to_data(&witness.messages).ok();
        let picture = Picture::new(prompt, &self.chat.control_tokens(), messages.as_ref(), None, Vec::new())?;
        Ok(html! { pre { (picture.marked_prompt()) } })
    }

    fn render(&mut self, witness: &Witness) -> Result<Prompt, String> {
        let options = ApplyOptions::default()
            .with_tools(&witness.tools)
            .with_documents(&witness.documents)
            .with_variables(&witness.variables)
            .with_add_generation_prompt(witness.add_generation_prompt)
            .with_trace(true)
            .with_generation_spans(true)
            .with_bounds(self.bounds.with_limits(&self.limits));
        let prompt = self
            .chat
            .apply(&witness.messages, &options)
            .map_err(|error| error.message().to_owned())?;
        self.limits.steps = self.limits.steps.saturating_sub(prompt.steps);
        Ok(prompt)
    }
}
