//! The changes of values, each with its reason.

use super::change::ChangeKind::{
    self, Dropped, Emptied, Encoded, Filled, Garbled, Inserted, Joined, Merged, Moved, Omitted, Parsed, Recast, Renamed, Split,
    Unwrapped, Wrapped,
};
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

/// Returns the change that tells of a fault of a prompt.
pub fn reason_of(fault: Kinds) -> Option<Reason> {
    Some(match fault {
        kind::ECHO => return None,
        kind::REPR => (Garbled, "the template prints it in the notation of Python or JSON"),
        kind::DOUBLE => (Garbled, "the template encodes it a second time"),
        kind::LEAK => (Garbled, "the template prints the data of the medium"),
        kind::ORDER => (Moved, "the template prints the messages in another order"),
        kind::LATE => (Moved, "the template prints the text after the result of the call"),
        kind::SPEAKER => (Recast, "the template prints it as if the assistant had said it"),
        kind::TOOL => (Dropped, "the template does not print this of a tool"),
        kind::CALL => (Dropped, "the template does not print this of a call"),
        kind::THOUGHT => (Dropped, "the template does not print this reasoning"),
        kind::MEDIUM => NO_MEDIUM,
        kind::EFFORT | kind::THINKING => (Dropped, "the prompt is the same with another value"),
        _ => (Dropped, "the prompt does not have the text"),
    })
}
