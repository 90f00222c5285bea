//! The changes of values, each with its reason.

use super::change::ChangeKind::{
    self, Dropped, Emptied, Encoded, Filled, Garbled, Inserted, Joined, Merged, Moved, Omitted, Parsed, Recast, Renamed, Split,
    Unwrapped, Wrapped,
};
use super::places::BodyPlace;
use super::plan::{Kinds, kind};

/// What is done with a value, and why.
pub type Reason = (ChangeKind, &'static str);

// What no prompt can have, or none in its place.
pub const COMPACTION: Reason = (Dropped, "the earlier conversation is encrypted");
pub const CONFIGURATION: Reason = (Dropped, "the settings of a prompt are the same for all messages");
pub const CUT: Reason = (Dropped, "the prompt would have more tokens than the limit");
pub const ENCRYPTED: Reason = (Dropped, "the reasoning is encrypted");
pub const ENCRYPTED_TEXT: Reason = (Dropped, "the text is encrypted");
pub const ERROR_MARK: Reason = (Dropped, "templates have no place for the mark of a result that is an error");
pub const MODEL_NAME: Reason = (Dropped, "it names a model, and is no text");
pub const NAMESPACE: Reason = (Dropped, "templates have no place for what several tools have in common");
pub const NO_THOUGHT: Reason = (Dropped, "the reasoning has no text");
pub const RESULT_FIRST: Reason = (Moved, "results come directly after their calls");
pub const SERVER_TOOL: Reason = (Dropped, "the server runs this tool, and the body has no schema of it");
pub const STORED_AUDIO: Reason = (Dropped, "the audio of an earlier answer is stored elsewhere");
pub const TOOL_CHANGE: Reason = (Dropped, "the tools of a prompt are the same for all messages");
pub const TOOL_CHOICE: Reason = (Dropped, "`tool_choice` is `none`");
pub const UNKNOWN_PART: Reason = (
    Garbled,
    "no template knows the type of the part, so its JSON is in the prompt",
);

// Messages.
pub const ALTERNATES: &str = "the template wants the user and the assistant in turns";
pub const ALTERNATES_BY_BLANK: Reason = (Inserted, ALTERNATES);
pub const ALTERNATES_BY_MERGER: Reason = (Merged, ALTERNATES);
pub const CALL_WITHOUT_RESULT: Reason = (Inserted, "the template wants a result after a call");
pub const DEVELOPER: Reason = (Recast, "the template does not know the role `developer`");
pub const FIELD_OF_MERGED: Reason = (
    Dropped,
    "the message is merged with another one, which can have the field itself",
);
pub const FIELD_OF_OMITTED: Reason = (Dropped, "the message says nothing else, and is left out");
pub const NO_SYSTEM: Reason = (Merged, "the template takes no system message");
pub const ONE_SYSTEM: Reason = (Merged, "the template takes one system message");
pub const SYSTEM_HERE: Reason = (Recast, "the template does not take a system message here");

// Contents.
pub const AS_STRING: Reason = (Joined, "the template takes the content as one string");
pub const AS_PARTS: Reason = (Wrapped, "the template takes the content as parts");
pub const EMPTY_PART: Reason = (Emptied, "the template wants parts");
pub const EMPTY_STRING: Reason = (Emptied, "the template can fail without content, or print `None`");
pub const MEDIUM_TYPE: Reason = (Renamed, "the template knows the medium by another type");
pub const NO_CONTENT: Reason = (Omitted, "the template takes null as no content");
pub const NO_MEDIUM: Reason = (Dropped, NO_PLACE);
pub const NO_TEXT: Reason = (Dropped, "the prompt does not have the text");
pub const NO_PLACE: &str = "the template has no place for it";
pub const PLACEHOLDER: Reason = (Recast, NO_PLACE);

// Reasoning.
pub const THOUGHT_FAILS: Reason = (Dropped, "the template fails with reasoning");
pub const THOUGHT_FIELD: Reason = (Renamed, "the template reads reasoning in another field");
pub const THOUGHT_IN_CONTENT: Reason = (Moved, "the template has no place for reasoning of its own");
pub const THOUGHT_PART: Reason = (Renamed, "the template reads reasoning as a part of the content");

// Calls and results.
pub const ARGUMENTS_ENCODED: Reason = (Encoded, "the template takes arguments as JSON text");
pub const ARGUMENTS_NOTHING: Reason = (Parsed, "the arguments are an empty object");
pub const ARGUMENTS_PARSED: Reason = (Parsed, "the template takes arguments as an object");
pub const ARGUMENTS_WRAPPED: Reason = (
    Wrapped,
    "the template takes arguments as an object, and the string is not the JSON of one",
);
pub const CALL_APART: Reason = (Split, "the template does not print content beside calls");
pub const CALL_AS_TEXT: Reason = (Recast, "the template does not print calls");
pub const CALL_FAILS: Reason = (Dropped, "the template fails with calls");
pub const CALL_IDENTIFIER: Reason = (Renamed, "the template takes identifiers of nine letters and digits");
pub const ONE_CALL: Reason = (Split, "the template takes one call in a message");
pub const RESULT_AS_USER: Reason = (Recast, "the template does not take results of tools");
pub const RESULT_NAME: Reason = (Filled, "the template reads the name of the function in its result");
pub const RESULT_ORDER: Reason = (
    Moved,
    "the template prints results without their identifiers, so they are in the order of their calls",
);

// Tools.
pub const TOOL_AS_TEXT: Reason = (Recast, "the template does not print tools");
pub const TOOL_DESCRIPTION: Reason = (Filled, "the template reads the description of a function");
pub const TOOL_DESCRIPTIONS: Reason = (Filled, "the template reads the description of each parameter");
pub const TOOL_FAILS: Reason = (Dropped, "the template fails with tools");
pub const TOOL_FLAT: Reason = (Unwrapped, "the template reads a tool without an object around it");
pub const TOOL_PARAMETERS: Reason = (Filled, "the template reads the parameters of a function");
pub const TOOL_WRAPPED: Reason = (Wrapped, "templates read `function` of a tool");

/// The faults of prompts: for each kind, the part of a [`Score`] to which it belongs, how much it weighs, and the change that tells of it.
#[rustfmt::skip]
const FAULTS: [(Kinds, usize, u32, Option<Reason>); 14] = [
    (kind::REPR, 1, 10, Some((Garbled, "the template prints it in the notation of Python or JSON"))),
    (kind::DOUBLE, 1, 10, Some((Garbled, "the template encodes it a second time"))),
    (kind::LEAK, 1, 10, Some((Garbled, "the template prints the data of the medium"))),
    (kind::ORDER, 1, 3, Some((Moved, "the template prints the messages in another order"))),
    (kind::SPEAKER, 1, 1, Some((Recast, "the template prints it as if the assistant had said it"))),
    (kind::CALL, 2, 150, Some((Dropped, "the template does not print this of a call"))),
    (kind::CONTENT, 2, 100, Some(NO_TEXT)),
    (kind::TOOL, 2, 10, Some((Dropped, "the template does not print this of a tool"))),
    (kind::THOUGHT, 2, 3, Some((Dropped, "the template does not print this reasoning"))),
    (kind::MEDIUM, 2, 2, Some(NO_MEDIUM)),
    (kind::LATE, 2, 0, Some((Moved, "the template prints the text after the result of the call"))),
    (kind::EFFORT | kind::THINKING, 2, 0, Some((Dropped, "the prompt is the same with another value"))),
    (kind::FIELD | kind::DOCUMENT, 2, 0, Some(NO_TEXT)),
    (kind::ECHO, 3, 1, None),
];

/// How much of a request is refused, garbled, lost and echoed. A lower score is better.
pub type Score = [u32; 4];

/// Returns the score of faults.
pub fn score_of(faults: &[(Kinds, BodyPlace)]) -> Score {
    let mut score = Score::default();
    for (_, part, weight, _) in faults.iter().filter_map(|(fault, _)| find(*fault)) {
        if let Some(sum) = score.get_mut(*part) {
            *sum = sum.saturating_add(*weight);
        }
    }
    score
}

/// Returns the change that tells of a fault of a prompt.
pub fn reason_of(fault: Kinds) -> Option<Reason> {
    find(fault)?.3
}

fn find(fault: Kinds) -> Option<&'static (Kinds, usize, u32, Option<Reason>)> {
    FAULTS.iter().find(|(kinds, ..)| kinds & fault != 0)
}
