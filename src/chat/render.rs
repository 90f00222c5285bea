//! Makes the prompt of a render: what the model would write in it, and where its characters came from.

use super::prompt::Prompt;
use super::turns::assistant::{AssistantOptions, AssistantSpans};
#[cfg(feature = "internal")]
use crate::builtins::LOOKUPS;
use crate::error::Result;
use crate::eval;
#[cfg(feature = "internal")]
use crate::meter::Meter;
#[cfg(feature = "internal")]
use crate::template::{Input, copy};
use crate::template::{RenderOptions, Template};
use crate::trace::Trace;
#[cfg(feature = "internal")]
use crate::value::Arena;
use crate::value::Runtime;

impl Template {
    /// Renders the template with a context, like [`Template::render`]. If the context has `messages`, the prompt has their turns.
    ///
    /// # Errors
    /// Those of [`Template::render`].
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn render_prompt(
        &self,
        context: &dyn Input,
        options: &RenderOptions<'_>,
        assistant: Option<AssistantOptions<'_>>,
    ) -> Result<Prompt> {
        let deadline = options.bounds.start();
        let meter = || Meter::within(options.bounds, &deadline);
        let prompt = self.render_prompt_once(context, options, assistant.as_ref(), meter())?;
        if !prompt.is_ambiguous {
            return Ok(prompt);
        }
        let (context, _claims) = copy(context, options.clock, &meter())?;
        self.render_prompt_once(&context, options, assistant.as_ref(), meter())
    }

    #[cfg(feature = "internal")]
    fn render_prompt_once(
        &self,
        context: &dyn Input,
        options: &RenderOptions<'_>,
        assistant: Option<&AssistantOptions<'_>>,
        meter: Meter<'_>,
    ) -> Result<Prompt> {
        let arena = Arena::default();
        let mut runtime = Runtime::with_meter(&arena, meter, options.clock, &LOOKUPS);
        let has_assistant = assistant.is_some();
        let (is_traced, tracks_spans) = (options.trace || has_assistant, self.marks_spans(options, has_assistant));
        let mut written = self.render_context(&mut runtime, context, is_traced, tracks_spans)?;
        self.finish_prompt(&mut runtime, &mut written, options, options.trace, assistant)
    }

    /// Returns whether a render counts the spans of `{% generation %}` blocks.
    pub(super) fn marks_spans(&self, options: &RenderOptions<'_>, has_assistant: bool) -> bool {
        options.tracks_spans() || (has_assistant && self.has_generation())
    }

    /// Makes the prompt of what was written. It has segments if it is traced.
    pub(super) fn finish_prompt<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        written: &mut eval::Rendered,
        options: &RenderOptions<'_>,
        is_traced: bool,
        assistant: Option<&AssistantOptions<'_>>,
    ) -> Result<Prompt> {
        let output = self.finish(runtime, written, options)?;
        let assistant = match assistant {
            Some(options) => self.find_assistant(runtime, &output, std::mem::take(&mut written.pieces), options)?,
            None => AssistantSpans::default(),
        };
        Ok(Prompt {
            text: output.text,
            reference_spans: output.reference_spans,
            generation_spans: output.generation_spans,
            steps: runtime.meter.steps(),
            trace: if is_traced { output.trace } else { Trace::default() },
            is_ambiguous: output.is_ambiguous,
            assistant,
            ..Prompt::default()
        })
    }
}
