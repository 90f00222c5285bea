//! The choices of how a request is written, and the operators that change one.

use super::normal::{Class, Form, Normal, Part, PartKind, Role, ToolForm, Turn};

/// The number of choices of a plan.
pub const CHOICES: usize = 20;

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
    pub const GARBLED: Kinds = REPR | DOUBLE | LEAK | ORDER | SPEAKER;
}

/// How a request is written: for each choice a value, of which the first changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plan(pub [u8; CHOICES]);

/// The choices of a plan. The first five are in the order of [`Class`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Choice {
    System,
    User,
    Assistant,
    Caller,
    Result,
    Empty,
    Arguments,
    Tools,
    Descriptions,
    Names,
    Identifiers,
    Media,
    Developer,
    Thoughts,
    Calls,
    Systems,
    Alternation,
    Results,
    /// The settings for reasoning.
    Settings,
    /// What is given up: calls and tools.
    Drops,
}

/// The values of choices.
pub mod value {
    pub const AS_IS: u8 = 0;
    // Contents.
    pub const STRING: u8 = 1;
    pub const PARTS: u8 = 2;
    pub const ONE_PART: u8 = 3;
    // No content.
    pub const EMPTY_TEXT: u8 = 1;
    pub const NULL: u8 = 2;
    pub const EMPTY_PART: u8 = 3;
    // Arguments.
    pub const OBJECT: u8 = 1;
    pub const TEXT: u8 = 2;
    // Tools.
    pub const WRAPPED: u8 = 1;
    pub const FLAT: u8 = 2;
    pub const NO_TOOLS: u8 = 3;
    // Descriptions.
    pub const FILLED: u8 = 1;
    pub const FILLED_DEEP: u8 = 2;
    // Names of results, identifiers, results.
    pub const CHANGED: u8 = 1;
    pub const SORTED: u8 = 2;
    // Settings. A level is added to `LEVEL`, and `SWITCH` if the variables say that there is reasoning too.
    pub const NEAREST: u8 = 1;
    pub const WITHOUT_EFFORT: u8 = 2;
    pub const INVERTED: u8 = 3;
    pub const LEVEL: u8 = 16;
    pub const SWITCH: u8 = 8;
    // Media.
    pub const BY_TYPE: u8 = 1;
    pub const BY_URL: u8 = 2;
    pub const FIRST: u8 = 3;
    pub const DROPPED: u8 = 4;
    // The developer.
    pub const AS_SYSTEM: u8 = 1;
    pub const AS_USER: u8 = 2;
    // Thoughts.
    pub const REASONING_CONTENT: u8 = 1;
    pub const REASONING: u8 = 2;
    pub const THINKING: u8 = 3;
    pub const THINKING_PART: u8 = 6;
    pub const CONTENT: u8 = 5;
    // Calls.
    pub const SPLIT: u8 = 1;
    pub const APART: u8 = 2;
    // Messages of the system.
    pub const LATER_AS_USER: u8 = 1;
    pub const MERGED: u8 = 2;
    pub const ALL_AS_USER: u8 = 3;
    pub const INTO_USER: u8 = 4;
    // Alternation.
    pub const INSERTED: u8 = 1;
    pub const INSERTED_BLANK: u8 = 2;
    pub const MERGED_TURNS: u8 = 3;
    // Drops.
    pub const TOOLS: u8 = 1;
    pub const CALLS: u8 = 2;
    pub const TOOLS_AND_CALLS: u8 = 3;
}

use value::*;

impl Plan {
    pub fn get(&self, choice: Choice) -> u8 {
        self.0.get(choice as usize).copied().unwrap_or(AS_IS)
    }

    /// Returns the plan with another value of a choice.
    pub fn with(mut self, choice: Choice, value: u8) -> Self {
        if let Some(own) = self.0.get_mut(choice as usize) {
            *own = value;
        }
        self
    }

    fn with_all(self, choices: &[(Choice, u8)]) -> Self {
        choices.iter().fold(self, |plan, (choice, value)| plan.with(*choice, *value))
    }

    /// Returns the plan with one form for all contents.
    pub fn in_form(self, form: u8) -> Self {
        let empty = if form == STRING { EMPTY_TEXT } else { EMPTY_PART };
        let contents = [C::System, C::User, C::Assistant, C::Caller, C::Result];
        let plan = contents.iter().fold(self, |plan, class| plan.with(*class, form));
        plan.with(C::Empty, empty)
    }

    /// Returns the form of the contents of a class.
    pub fn content(&self, class: Class) -> u8 {
        self.0.get(class as usize).copied().unwrap_or(AS_IS)
    }

    /// Returns the plan with the choice at an index as in another plan.
    pub fn undo(mut self, index: usize, other: &Self) -> Self {
        if let (Some(own), Some(other)) = (self.0.get_mut(index), other.0.get(index)) {
            *own = *other;
        }
        self
    }

    /// Returns whether the plan moves or gives up what another one leaves in its place.
    pub fn moves(&self, other: &Self) -> bool {
        let own = [
            Choice::Developer,
            Choice::Calls,
            Choice::Systems,
            Choice::Alternation,
            Choice::Results,
            Choice::Drops,
        ];
        let gives_up = |choice: Choice| self.get(choice) == DROPPED;
        own.iter().any(|choice| self.get(*choice) != other.get(*choice))
            || gives_up(Choice::Media)
            || self.get(Choice::Media) == FIRST
            || gives_up(Choice::Settings)
            || gives_up(Choice::Thoughts)
            || self.get(Choice::Thoughts) == CONTENT
    }
}

/// An operator sets a choice of a plan. It has a cost, the faults that it may mend, and a condition for the requests that it can change.
pub struct Operator {
    pub choice: Choice,
    pub value: u8,
    pub cost: u8,
    pub mends: Kinds,
    pub applies: fn(&Normal<'_>) -> bool,
}

const fn op(choice: Choice, value: u8, cost: u8, mends: Kinds, applies: fn(&Normal<'_>) -> bool) -> Operator {
    Operator {
        choice,
        value,
        cost,
        mends,
        applies,
    }
}

use Choice as C;
use kind as k;

/// The operators, the cheapest of each kind first.
#[rustfmt::skip]
pub const OPERATORS: [Operator; 57] = [
    op(C::Empty, EMPTY_TEXT, 1, k::CALL | k::CALLER, has_empty),
    op(C::Empty, NULL, 1, k::CALL | k::CALLER, has_empty),
    op(C::Empty, EMPTY_PART, 1, k::CALL | k::CALLER, has_empty),
    op(C::Result, STRING, 1, k::RESULT, |n| has_parts(n, Class::Tool)),
    op(C::User, STRING, 1, k::USER | k::MEDIUM, |n| has_parts(n, Class::User)),
    op(C::System, STRING, 1, k::SYSTEM, |n| has_parts(n, Class::System)),
    op(C::Assistant, STRING, 1, k::ASSISTANT, |n| has_parts(n, Class::Assistant)),
    op(C::Caller, STRING, 1, k::CALLER | k::CALL, |n| has_parts(n, Class::Caller)),
    op(C::Result, PARTS, 1, k::RESULT, |n| has_class(n, Class::Tool)),
    op(C::User, PARTS, 1, k::USER | k::MEDIUM, |n| has_class(n, Class::User)),
    op(C::System, PARTS, 1, k::SYSTEM, |n| has_class(n, Class::System)),
    op(C::Assistant, PARTS, 1, k::ASSISTANT, |n| has_class(n, Class::Assistant)),
    op(C::Caller, PARTS, 1, k::CALLER | k::CALL, |n| has_class(n, Class::Caller)),
    op(C::Result, ONE_PART, 1, k::RESULT, |n| has_several(n, Class::Tool)),
    op(C::User, ONE_PART, 1, k::USER, |n| has_several(n, Class::User)),
    op(C::System, ONE_PART, 1, k::SYSTEM, |n| has_several(n, Class::System)),
    op(C::Assistant, ONE_PART, 1, k::ASSISTANT, |n| has_several(n, Class::Assistant)),
    op(C::Caller, ONE_PART, 1, k::CALLER, |n| has_several(n, Class::Caller)),
    op(C::Arguments, OBJECT, 1, k::CALL | k::DOUBLE, has_calls),
    op(C::Arguments, TEXT, 1, k::CALL | k::DOUBLE | k::REPR, has_calls),
    op(C::Tools, WRAPPED, 1, k::TOOL, |n| n.tools.iter().any(|tool| !matches!(tool.form, ToolForm::Wrapped))),
    op(C::Tools, FLAT, 1, k::TOOL, |n| !n.tools.is_empty()),
    op(C::Tools, NO_TOOLS, 1, 0, |n| n.tools.is_empty() || n.refuses_tools),
    op(C::Descriptions, FILLED, 1, k::TOOL, |n| n.tools.iter().any(|tool| tool.description.is_none_or(str::is_empty) || tool.parameters.is_none())),
    op(C::Descriptions, FILLED_DEEP, 1, k::TOOL, |n| !n.tools.is_empty()),
    op(C::Names, CHANGED, 1, k::RESULT | k::TOOL, |n| any(n, |turn| turn.result.is_some_and(|result| result.name.is_none()))),
    op(C::Identifiers, CHANGED, 1, k::CALL, |n| has_calls(n) || has_class(n, Class::Tool)),
    op(C::Results, SORTED, 1, k::ORDER, has_unsorted_results),
    op(C::Settings, NEAREST, 1, 0, |n| n.has_settings),
    op(C::Media, BY_TYPE, 1, k::MEDIUM | k::LEAK, has_media),
    op(C::Media, BY_URL, 1, k::MEDIUM | k::LEAK, has_media),
    op(C::Media, FIRST, 2, k::MEDIUM, has_media),
    op(C::Developer, AS_SYSTEM, 1, k::SYSTEM | k::ECHO | k::SPEAKER, has_developer),
    op(C::Developer, AS_USER, 2, k::SYSTEM | k::ECHO | k::SPEAKER, has_developer),
    op(C::Thoughts, REASONING_CONTENT, 1, k::THOUGHT, has_thoughts),
    op(C::Thoughts, REASONING, 1, k::THOUGHT, has_thoughts),
    op(C::Thoughts, THINKING, 1, k::THOUGHT, has_thoughts),
    op(C::Thoughts, THINKING_PART, 1, k::THOUGHT, has_thoughts),
    op(C::Thoughts, CONTENT, 3, k::THOUGHT, has_thoughts),
    op(C::Calls, SPLIT, 2, k::CALL | k::RESULT, |n| any(n, |turn| turn.calls.len() > 1)),
    op(C::Calls, APART, 2, k::CALLER | k::CALL, |n| any(n, |turn| !turn.calls.is_empty() && !turn.parts.is_empty())),
    op(C::Systems, LATER_AS_USER, 2, k::SYSTEM | k::ORDER | k::SPEAKER, has_later_system),
    op(C::Systems, MERGED, 2, k::SYSTEM | k::ORDER | k::SPEAKER, has_later_system),
    op(C::Alternation, INSERTED, 2, k::USER | k::ASSISTANT | k::SPEAKER, |_| true),
    op(C::Alternation, INSERTED_BLANK, 2, k::USER | k::ASSISTANT | k::SPEAKER, |_| true),
    op(C::Alternation, MERGED_TURNS, 2, k::USER | k::ASSISTANT | k::SPEAKER, |_| true),
    op(C::Systems, ALL_AS_USER, 3, k::SYSTEM | k::ORDER | k::SPEAKER, |n| has_class(n, Class::System)),
    op(C::Systems, INTO_USER, 3, k::SYSTEM | k::ORDER | k::SPEAKER, |n| has_class(n, Class::System)),
    op(C::Results, CHANGED, 3, k::RESULT | k::ECHO | k::SPEAKER, |n| has_class(n, Class::Tool)),
    op(C::Settings, DROPPED, 3, 0, |n| n.has_settings),
    op(C::Media, DROPPED, 4, k::MEDIUM | k::LEAK | k::CONTENT, has_media),
    op(C::Thoughts, DROPPED, 4, 0, has_thoughts),
    op(C::Drops, TOOLS, 6, 0, |n| !n.tools.is_empty()),
    op(C::Drops, CALLS, 6, 0, has_calls),
    op(C::Drops, TOOLS_AND_CALLS, 6, 0, |n| has_calls(n) && !n.tools.is_empty()),
    op(C::Tools, FLAT, 6, k::DOUBLE, |n| !n.tools.is_empty()),
    op(C::Arguments, OBJECT, 6, k::REPR, has_calls),
];

/// Plans that are tried if no operator helps, the least change first. Those of `GIVE_UP` give something up.
pub fn cautious(gives_up: bool) -> Vec<Plan> {
    let shared = [
        (C::Identifiers, CHANGED),
        (C::Names, CHANGED),
        (C::Developer, AS_SYSTEM),
        (C::Descriptions, FILLED),
    ];
    let [strings, parts] = [STRING, PARTS].map(|form| Plan::default().with_all(&shared).in_form(form));
    let mut plans = Vec::new();
    for arguments in [OBJECT, TEXT] {
        for alternation in [MERGED_TURNS, INSERTED, INSERTED_BLANK] {
            let plan = strings.with(C::Arguments, arguments).with(C::Alternation, alternation);
            for results in [AS_IS, CHANGED] {
                for systems in [MERGED, INTO_USER, ALL_AS_USER] {
                    if systems != ALL_AS_USER || alternation == MERGED_TURNS {
                        plans.push(plan.with(C::Results, results).with(C::Systems, systems));
                    }
                }
            }
        }
    }
    for arguments in [OBJECT, TEXT] {
        plans.push(parts.with_all(&[(C::Arguments, arguments), (C::Systems, MERGED)]));
        let split = [(C::Systems, MERGED), (C::Alternation, MERGED_TURNS), (C::Calls, SPLIT)];
        plans.push(strings.with_all(&split).with(C::Arguments, arguments));
    }
    if gives_up {
        let dropped = [(C::Media, DROPPED), (C::Thoughts, DROPPED)];
        let without: Vec<Plan> = plans.iter().take(10).map(|plan| plan.with_all(&dropped)).collect();
        plans.extend(without);
        let own = [
            (C::Drops, TOOLS_AND_CALLS),
            (C::Results, CHANGED),
            (C::Alternation, MERGED_TURNS),
        ];
        let last = strings.with_all(&dropped).with_all(&own);
        plans.extend([INTO_USER, ALL_AS_USER].map(|systems| last.with(C::Systems, systems)));
    }
    plans
}

fn any(normal: &Normal<'_>, is_wanted: impl Fn(&Turn<'_>) -> bool) -> bool {
    normal.turns.iter().any(is_wanted)
}

fn has_class(normal: &Normal<'_>, class: Class) -> bool {
    any(normal, |turn| turn.class() == class)
}

fn has_parts(normal: &Normal<'_>, class: Class) -> bool {
    any(normal, |turn| turn.class() == class && turn.form == Form::Parts)
}

fn has_several(normal: &Normal<'_>, class: Class) -> bool {
    any(normal, |turn| turn.class() == class && turn.parts.len() > 1)
}

fn has_empty(normal: &Normal<'_>) -> bool {
    let is_empty = |part: &Part<'_>| part.kind == PartKind::Text && part.text.is_empty();
    any(normal, |turn| turn.role == Role::Assistant && turn.parts.iter().all(is_empty))
}

fn has_calls(normal: &Normal<'_>) -> bool {
    has_class(normal, Class::Caller)
}

fn has_developer(normal: &Normal<'_>) -> bool {
    any(normal, |turn| turn.role == Role::Developer)
}

/// Returns whether results are in another order than their calls.
fn has_unsorted_results(normal: &Normal<'_>) -> bool {
    are_unsorted(normal.turns.iter().map(|turn| turn.result.and_then(|result| result.call)))
}

/// Returns whether one of these calls is before the one that precedes it in the list.
pub fn are_unsorted(calls: impl Iterator<Item = Option<usize>> + Clone) -> bool {
    calls
        .clone()
        .zip(calls.skip(1))
        .any(|(call, next)| next.is_some() && next < call)
}

fn has_thoughts(normal: &Normal<'_>) -> bool {
    any(normal, |turn| !turn.thoughts.is_empty())
}

fn has_later_system(normal: &Normal<'_>) -> bool {
    normal.turns.iter().skip(1).any(|turn| turn.class() == Class::System)
}

fn has_media(normal: &Normal<'_>) -> bool {
    let is_medium = |part: &Part<'_>| matches!(part.kind, PartKind::Medium(_));
    any(normal, |turn| turn.parts.iter().any(is_medium))
}
