//! How a request is written: a choice for each thing that templates take in different forms.

use super::normal::Class;

/// The kinds of what a prompt loses or garbles, one bit each.
pub type Kinds = u32;

/// The kinds of losses, one bit each. Those of contents are in the order of [`Class`].
pub mod kind {
    use super::Kinds;

    pub const SYSTEM: Kinds = 1;
    pub const USER: Kinds = 1 << 1;
    pub const ASSISTANT: Kinds = 1 << 2;
    pub const CALLER: Kinds = 1 << 3;
    pub const RESULT: Kinds = 1 << 4;
    pub const CALL: Kinds = 1 << 5;
    pub const TOOL: Kinds = 1 << 6;
    pub const THOUGHT: Kinds = 1 << 7;
    pub const MEDIUM: Kinds = 1 << 8;
    pub const FIELD: Kinds = 1 << 9;
    /// A part of the content was printed as Python or JSON prints it.
    pub const REPR: Kinds = 1 << 10;
    /// Arguments were encoded twice.
    pub const DOUBLE: Kinds = 1 << 11;
    /// The data of a medium was printed.
    pub const LEAK: Kinds = 1 << 12;
    /// Messages were printed in another order.
    pub const ORDER: Kinds = 1 << 13;
    /// A string of another role was printed after the header of the assistant.
    pub const SPEAKER: Kinds = 1 << 14;
    /// A role was printed that the template does not know.
    pub const ECHO: Kinds = 1 << 15;

    /// A string of a document.
    pub const DOCUMENT: Kinds = 1 << 16;

    /// A text beside a call was printed after the result of the call.
    pub const LATE: Kinds = 1 << 17;
    /// An effort, or whether there is reasoning, without an effect on the prompt.
    pub const EFFORT: Kinds = 1 << 18;
    pub const THINKING: Kinds = 1 << 19;

    pub const CONTENT: Kinds = SYSTEM | USER | ASSISTANT | CALLER | RESULT;
}

/// Defines choices, of which the first value changes nothing.
macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($value:ident),* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub enum $name {
                #[default]
                AsIs,
                $($value),*
            }
        )*
    };
}

choices! {
    /// The form of contents.
    Content { String, Parts, OnePart }
    /// The value that is written if a message has no content.
    Empty { String, Null, Part }
    /// The form of the arguments of calls.
    CallArguments { Object, Text }
    /// The form of tools. If there are none, an empty list can be written.
    ToolList { Wrapped, Flat, Empty }
    /// Whether tools, and in them all parameters, get descriptions.
    Descriptions { Filled, FilledDeep }
    /// The form and the place of media.
    MediaForm { ByType, ByUrl, First, Dropped }
    /// The role of the developer.
    Developer { System, User }
    /// The field of reasoning, or its place in the content.
    ThoughtForm { ReasoningContent, Reasoning, Thinking, Part, Content, Dropped }
    /// Whether calls have messages of their own: one for each call, or one without the content.
    CallForm { Split, Apart }
    /// Where system messages go.
    Systems { LaterAsUser, Merged, AllAsUser, IntoUser }
    /// How the user and the assistant speak in turns.
    Alternated { Inserted, InsertedBlank, Merged }
    /// The role and the order of results.
    ResultForm { AsUser, Sorted }
    /// Whether tools or calls are left out.
    Drops { Tools, Calls, Both }
}

/// How the settings for reasoning become variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SettingForm {
    #[default]
    AsIs,
    /// The effort is the word nearest to it that the template knows.
    Nearest,
    /// The effort is the known one at the index `level`, or none if the index is after the last. If `is_switched`, a variable switches
    /// reasoning on too.
    Level {
        level: usize,
        is_switched: bool,
    },
    WithoutEffort,
    /// Reasoning is switched on in place of off.
    Inverted,
    Dropped,
}

/// Defines the plan, and for each of its choices a function that makes it as another plan does.
macro_rules! plan {
    ($($(#[$doc:meta])* $field:ident: $type:ty),*) => {
        /// How a request is written. The default changes nothing.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Plan {
            $($(#[$doc])* pub $field: $type),*
        }

        /// Each function makes a choice as another plan does.
        pub const UNDO: &[fn(&mut Plan, &Plan)] = &[$(|plan, other| plan.$field = other.$field),*];
    };
}

plan! {
    system: Content,
    user: Content,
    assistant: Content,
    caller: Content,
    result: Content,
    empty: Empty,
    arguments: CallArguments,
    tools: ToolList,
    descriptions: Descriptions,
    /// Whether results get the names of their functions.
    fills_names: bool,
    /// Whether calls and results get identifiers of nine letters and digits.
    renames_ids: bool,
    media: MediaForm,
    developer: Developer,
    thoughts: ThoughtForm,
    calls: CallForm,
    systems: Systems,
    alternation: Alternated,
    results: ResultForm,
    settings: SettingForm,
    drops: Drops
}

impl Plan {
    /// Returns the form of the contents of a class.
    pub fn content(&self, class: Class) -> Content {
        match class {
            Class::System => self.system,
            Class::User => self.user,
            Class::Assistant => self.assistant,
            Class::Caller => self.caller,
            Class::Tool => self.result,
        }
    }

    pub fn drops_tools(&self) -> bool {
        matches!(self.drops, Drops::Tools | Drops::Both)
    }

    pub fn drops_calls(&self) -> bool {
        matches!(self.drops, Drops::Calls | Drops::Both)
    }

    /// Returns the plan with one form for all contents.
    pub fn in_form(self, form: Content) -> Self {
        Self {
            system: form,
            user: form,
            assistant: form,
            caller: form,
            result: form,
            empty: if form == Content::String { Empty::String } else { Empty::Part },
            ..self
        }
    }

    /// Returns whether the plan gives up what another one does not: tools, calls, media or reasoning.
    pub fn gives_up(&self, other: &Self) -> bool {
        let drops_media = |plan: &Self| plan.media == MediaForm::Dropped;
        let drops_thoughts = |plan: &Self| plan.thoughts == ThoughtForm::Dropped;
        self.drops_tools() && !other.drops_tools()
            || self.drops_calls() && !other.drops_calls()
            || drops_media(self) && !drops_media(other)
            || drops_thoughts(self) && !drops_thoughts(other)
    }

    /// Returns whether the plan moves or gives up what another one leaves in its place.
    pub fn moves(&self, other: &Self) -> bool {
        let moved = |plan: &Self| {
            let choices = (plan.developer, plan.calls, plan.systems, plan.alternation, plan.results);
            let (media, thoughts) = (plan.media == MediaForm::First, plan.thoughts == ThoughtForm::Content);
            (choices, media, thoughts, plan.settings == SettingForm::Dropped)
        };
        self.gives_up(other) || moved(self) != moved(other)
    }
}
