//! The strings at which a server stops the model.
//!
//! ```text
//! eos_token of the tokenizer, eos_token_id of generation_config.json, added tokens with the names of ends   ->   what the files name
//! user, answer                 what is printed after the answer: <|im_end|>                                 ->   what ends an answer
//! user, call, result           what is printed before the result, after the end of the call: <|observation|>  ->   what begins the next turn
//! ```

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::turns::assistant::control::{common_prefix, control_tokens};
use super::{ApplyOptions, ChatTemplate};
use crate::deadline::Bounds;
use crate::error::Result;
use crate::json::{Data, Object};
use crate::limits::Limit;
use crate::meter::Meter;
use crate::trace::Keeps;

/// The names of tokens that end a message or begin one of another role, in models whose files do not say so.
#[rustfmt::skip]
const ENDS: [&str; 17] = [
    "</s>", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "<|end|>", "<|return|>",
    "<|call|>", "<|end_of_turn|>", "<end_of_turn>", "<|END_OF_TURN_TOKEN|>", "<|observation|>", "<|user|>", "<|endofassistant|>",
];

/// The maximum number of ids of a model's ends that are looked up.
const MAX_IDS: usize = 64;

/// Words that are in no template.
const WORDS: [&str; 3] = ["Zq7yAsked", "Zq7yWritten", "Zq7yNext"];

/// The name of the tool that is called.
const TOOL: &str = "search";

/// What says that a string ends the model's message.
const EOS_TOKEN: &str = "eos_token";
pub(super) const GENERATION_CONFIG: &str = "generation_config";
pub(super) const GGUF: &str = "gguf";
const ADDED_TOKENS: &str = "added_tokens";
const AFTER_ANSWER: &str = "after_answer";
pub(crate) const NEXT_TURN: &str = "next_turn";

/// A string at which a server stops the model, and what says so.
pub(crate) type StopToken = (String, Vec<&'static str>);

/// Special tokens of a request, each by its name.
type SpecialTokens<'o> = &'o [(&'o str, &'o str)];

impl ChatTemplate {
    /// Returns the strings at which a server stops the model, each with its sources. A string is no part of the message.
    ///
    /// The sources are `eos_token`, `generation_config` (`eos_token_id` in `generation_config.json`), `gguf` (the ends
    /// of turns and messages that a GGUF file names), `added_tokens` (special tokens with the
    /// name of an end, such as `<|eom_id|>`), `after_answer` (what the template prints after an answer or a call) and `next_turn` (what it prints
    /// before the next message).
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}";
    /// let template = ChatTemplate::from_source(source, &[("eos_token", "<eos>")])?;
    /// let stops = template.stop_tokens()?;
    /// assert_eq!(stops[0], ("<eos>".to_owned(), vec!["eos_token"]));
    /// assert_eq!(stops[1], ("<|end|>".to_owned(), vec!["after_answer"]));
    /// assert_eq!(stops[2], ("<|user|>".to_owned(), vec!["next_turn"]));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a limit is reached. A template that renders no such conversation says nothing.
    pub fn stop_tokens(&self) -> Result<Vec<(String, Vec<&'static str>)>> {
        let bounds = Bounds::default();
        Ok(self
            .find_stop_tokens(None, &Meter::within(bounds, &bounds.start()))?
            .into_owned())
    }

    /// Returns the stop tokens within the bounds of a meter, with the special tokens of a request or with its own. The latter are found once
    /// and kept, and each call has the same cost.
    pub(crate) fn find_stop_tokens(&self, tokens: Option<SpecialTokens<'_>>, meter: &Meter<'_>) -> Result<Cow<'_, [StopToken]>> {
        if tokens.is_some() {
            return self.list_stops(tokens, meter).map(Cow::Owned);
        }
        let kept = self.kept::<OnceLock<(Vec<StopToken>, u64)>>();
        let (stops, cost) = match kept.get() {
            Some(known) => known,
            None => {
                let own = meter.fork(meter.steps_left()).share_steps();
                let stops = self.list_stops(None, &own)?;
                kept.get_or_init(|| (stops, own.steps()))
            }
        };
        meter.renew().charge(*cost)?;
        Ok(Cow::Borrowed(stops))
    }

    fn list_stops(&self, tokens: Option<SpecialTokens<'_>>, meter: &Meter<'_>) -> Result<Vec<StopToken>> {
        let mut stops = Stops::default();
        meter.renew().charge_items(self.control_tokens().len())?;
        let own = self
            .special_tokens()
            .iter()
            .map(|(name, token)| (name.as_str(), token.as_str()));
        let eos = match tokens {
            Some(tokens) => tokens.iter().copied().find(|(name, _)| *name == "eos_token"),
            None => own.into_iter().find(|(name, _)| *name == "eos_token"),
        };
        if let Some((_, eos)) = eos {
            stops.add(eos, EOS_TOKEN);
        }
        for (token, source) in &self.parts.own_stops {
            stops.add(token, source);
        }
        let added = self.control_tokens().into_iter().filter(|token| ENDS.contains(token));
        added.for_each(|token| stops.add(token, ADDED_TOKENS));
        let [asked, written, next] = WORDS;
        let say = |role: &str, text: &str, is_part: bool| match is_part {
            true => json!({"role": role, "content": [{"type": "text", "text": text}]}),
            false => json!({"role": role, "content": text}),
        };
        for is_part in [false, true] {
            let before = [say("user", asked, is_part), say("assistant", written, is_part)];
            let after = [say("user", next, is_part)];
            if self.find_ends((&before, &after), (None, tokens), &mut stops, meter)? {
                break;
            }
        }
        let arguments = json!({"query": written});
        let tools = json!([{"type": "function", "function": {"name": TOOL, "description": "Searches.", "parameters":
            {"type": "object", "properties": {"query": {"type": "string", "description": "The words."}}, "required": ["query"]}}}]);
        for arguments in [arguments.clone(), arguments.to_string().into()] {
            let call = json!([{"id": "call00001", "type": "function", "function": {"name": TOOL, "arguments": arguments}}]);
            let before = [
                say("user", asked, false),
                json!({"role": "assistant", "content": "", "tool_calls": call}),
            ];
            let after = [json!({"role": "tool", "tool_call_id": "call00001", "name": TOOL, "content": next})];
            if self.find_ends((&before, &after), (Some(&tools), tokens), &mut stops, meter)? {
                break;
            }
        }
        Ok(stops.0)
    }

    /// Adds what is printed after the model's text, and what begins the next message. Returns whether the template renders the messages.
    fn find_ends(
        &self,
        (before, after): (&[Value], &[Value]),
        (tools, special_tokens): (Option<&Value>, Option<SpecialTokens<'_>>),
        stops: &mut Stops,
        meter: &Meter<'_>,
    ) -> Result<bool> {
        let [_, written, next] = WORDS;
        let render = |messages: &[Value]| {
            let options = ApplyOptions {
                tools: tools.map(|tools| tools as _),
                special_tokens,
                ..ApplyOptions::default()
            };
            match self.apply_within(messages, &options, Keeps::Nothing, meter) {
                Ok(prompt) => Ok(prompt.text.rsplit_once(written).map(|(before, rest)| {
                    let within = before.rsplit_once(TOOL).map_or("", |(_, within)| within);
                    (within.to_owned(), rest.to_owned())
                })),
                Err(error) => match error.reached().map(|reached| reached.limit) {
                    Some(Limit::Steps | Limit::Milliseconds | Limit::Cancel) => Err(error),
                    _ => Ok(None),
                },
            }
        };
        let Some((within, closing)) = render(before)? else {
            return Ok(false);
        };
        // What closes a call or is within it is not the end of the message.
        let is_end = |token: &&str| !token.starts_with("</") && !token.starts_with("[/") && !within.contains(token);
        let mut ends = control_tokens(&closing).filter_map(|token| closing.get(token)).filter(is_end);
        let end = if tools.is_some() { ends.last() } else { ends.next() };
        end.into_iter().for_each(|end| stops.add(end, AFTER_ANSWER));
        let Some((_, between)) = render(&[before, after].concat())? else {
            return Ok(true);
        };
        let header = between.split(next).next().unwrap_or_default();
        let header = header.get(common_prefix(header, &closing)..).unwrap_or_default();
        // A tag that both strings begin was cut.
        let start = header.find(['<', '[']).unwrap_or_default();
        let token = control_tokens(header).next().and_then(|token| header.get(token));
        let line = header.get(start..).and_then(|rest| rest.trim().lines().next());
        let begins = token
            .or(line)
            .filter(|begins| begins.len() > 2 && begins.contains(|char: char| char.is_ascii_punctuation()));
        begins.into_iter().for_each(|begins| stops.add(begins, NEXT_TURN));
        Ok(true)
    }
}

/// The stop tokens so far, each once.
#[derive(Default)]
struct Stops(Vec<StopToken>);

impl Stops {
    fn add(&mut self, text: &str, source: &'static str) {
        let text = text.trim();
        match self.0.iter_mut().find(|(known, _)| known == text) {
            _ if text.is_empty() => {}
            Some((_, sources)) if sources.contains(&source) => {}
            Some((_, sources)) => sources.push(source),
            None => self.0.push((text.to_owned(), vec![source])),
        }
    }
}

/// Returns the tokens that `eos_token_id` names in a `generation_config.json`. `ids` are the added tokens of `tokenizer.json` with their ids.
pub(super) fn read_generation_stops(generation: &Object<'_>, config: &Object<'_>, ids: &[(i64, String)]) -> Vec<String> {
    let wanted = match generation.get("eos_token_id") {
        Some(Data::List(wanted)) => wanted.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let find = |id: &Data<'_>| {
        let Data::Int(id) = id else { return None };
        let known = ids.iter().find(|(other, _)| other == id).map(|(_, token)| token.clone());
        let Some(Data::Object(added)) = config.get("added_tokens_decoder") else {
            return known;
        };
        match added.get(&id.to_string()) {
            Some(Data::Object(token)) => match token.get("content") {
                Some(Data::Str(content)) => Some(content.to_string()),
                _ => known,
            },
            _ => known,
        }
    };
    wanted.iter().take(MAX_IDS).filter_map(find).collect()
}
