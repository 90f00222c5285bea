//! The operators, each of which makes one choice of a plan, and the plans that are tried if no operator helps.

use super::normal::{BodyTurn, Class, ContentForm, ContentPart, Normal, PartKind, Role, ToolForm};
use super::plan::{
    Alternated, CallArguments, CallForm, Content, Descriptions, Developer, Drops, Empty, Kinds, MediaForm, Plan, ResultForm,
    SettingForm, Systems, ThoughtForm, ToolList, kind as k,
};

/// An operator makes a choice of a plan. It has a cost, the faults that it may mend, and a condition for the requests that it can change.
pub struct Operator {
    pub choose: fn(&mut Plan),
    pub cost: u8,
    pub mends: Kinds,
    pub applies: fn(&Normal<'_>) -> bool,
}

const fn op(choose: fn(&mut Plan), cost: u8, mends: Kinds, applies: fn(&Normal<'_>) -> bool) -> Operator {
    Operator {
        choose,
        cost,
        mends,
        applies,
    }
}

/// The operators, the cheapest of each kind first.
#[rustfmt::skip]
pub const OPERATORS: [Operator; 57] = [
    op(|plan| plan.empty = Empty::String, 1, k::CALL | k::CALLER, has_empty),
    op(|plan| plan.empty = Empty::Null, 1, k::CALL | k::CALLER, has_empty),
    op(|plan| plan.empty = Empty::Part, 1, k::CALL | k::CALLER, has_empty),
    op(|plan| plan.result = Content::String, 1, k::RESULT, |n| has_parts(n, Class::Tool)),
    op(|plan| plan.user = Content::String, 1, k::USER | k::MEDIUM, |n| has_parts(n, Class::User)),
    op(|plan| plan.system = Content::String, 1, k::SYSTEM, |n| has_parts(n, Class::System)),
    op(|plan| plan.assistant = Content::String, 1, k::ASSISTANT, |n| has_parts(n, Class::Assistant)),
    op(|plan| plan.caller = Content::String, 1, k::CALLER | k::CALL, |n| has_parts(n, Class::Caller)),
    op(|plan| plan.result = Content::Parts, 1, k::RESULT, |n| has_class(n, Class::Tool)),
    op(|plan| plan.user = Content::Parts, 1, k::USER | k::MEDIUM, |n| has_class(n, Class::User)),
    op(|plan| plan.system = Content::Parts, 1, k::SYSTEM, |n| has_class(n, Class::System)),
    op(|plan| plan.assistant = Content::Parts, 1, k::ASSISTANT, |n| has_class(n, Class::Assistant)),
    op(|plan| plan.caller = Content::Parts, 1, k::CALLER | k::CALL, |n| has_class(n, Class::Caller)),
    op(|plan| plan.result = Content::OnePart, 1, k::RESULT, |n| has_several(n, Class::Tool)),
    op(|plan| plan.user = Content::OnePart, 1, k::USER, |n| has_several(n, Class::User)),
    op(|plan| plan.system = Content::OnePart, 1, k::SYSTEM, |n| has_several(n, Class::System)),
    op(|plan| plan.assistant = Content::OnePart, 1, k::ASSISTANT, |n| has_several(n, Class::Assistant)),
    op(|plan| plan.caller = Content::OnePart, 1, k::CALLER, |n| has_several(n, Class::Caller)),
    op(|plan| plan.arguments = CallArguments::Object, 1, k::CALL | k::DOUBLE, has_calls),
    op(|plan| plan.arguments = CallArguments::Text, 1, k::CALL | k::DOUBLE | k::REPR, has_calls),
    op(|plan| plan.tools = ToolList::Wrapped, 1, k::TOOL, |n| n.tools.iter().any(|tool| !matches!(tool.form, ToolForm::Wrapped))),
    op(|plan| plan.tools = ToolList::Flat, 1, k::TOOL, |n| !n.tools.is_empty()),
    op(|plan| plan.tools = ToolList::Empty, 1, 0, |n| n.tools.is_empty() || n.refuses_tools),
    op(|plan| plan.descriptions = Descriptions::Filled, 1, k::TOOL, |n| n.tools.iter().any(|tool| tool.description.is_none_or(str::is_empty) || tool.parameters.is_none())),
    op(|plan| plan.descriptions = Descriptions::FilledDeep, 1, k::TOOL, |n| !n.tools.is_empty()),
    op(|plan| plan.fills_names = true, 1, k::RESULT | k::TOOL, |n| any(n, |turn| turn.result.is_some_and(|result| result.name.is_none()))),
    op(|plan| plan.renames_ids = true, 1, k::CALL, |n| has_calls(n) || has_class(n, Class::Tool)),
    op(|plan| plan.results = ResultForm::Sorted, 1, k::ORDER, has_unsorted_results),
    op(|plan| plan.settings = SettingForm::Nearest, 1, 0, |n| n.has_settings),
    op(|plan| plan.media = MediaForm::ByType, 1, k::MEDIUM | k::LEAK, has_media),
    op(|plan| plan.media = MediaForm::ByUrl, 1, k::MEDIUM | k::LEAK, has_media),
    op(|plan| plan.media = MediaForm::First, 2, k::MEDIUM, has_media),
    op(|plan| plan.developer = Developer::System, 1, k::SYSTEM | k::ECHO | k::SPEAKER, has_developer),
    op(|plan| plan.developer = Developer::User, 2, k::SYSTEM | k::ECHO | k::SPEAKER, has_developer),
    op(|plan| plan.thoughts = ThoughtForm::ReasoningContent, 1, k::THOUGHT, has_thoughts),
    op(|plan| plan.thoughts = ThoughtForm::Reasoning, 1, k::THOUGHT, has_thoughts),
    op(|plan| plan.thoughts = ThoughtForm::Thinking, 1, k::THOUGHT, has_thoughts),
    op(|plan| plan.thoughts = ThoughtForm::Part, 1, k::THOUGHT, has_thoughts),
    op(|plan| plan.thoughts = ThoughtForm::Content, 3, k::THOUGHT, has_thoughts),
    op(|plan| plan.calls = CallForm::Split, 2, k::CALL | k::RESULT, |n| any(n, |turn| turn.calls.len() > 1)),
    op(|plan| plan.calls = CallForm::Apart, 2, k::CALLER | k::CALL, |n| any(n, |turn| !turn.calls.is_empty() && !turn.parts.is_empty())),
    op(|plan| plan.systems = Systems::LaterAsUser, 2, k::SYSTEM | k::ORDER | k::SPEAKER, has_later_system),
    op(|plan| plan.systems = Systems::Merged, 2, k::SYSTEM | k::ORDER | k::SPEAKER, has_later_system),
    op(|plan| plan.alternation = Alternated::Inserted, 2, k::USER | k::ASSISTANT | k::SPEAKER, |_| true),
    op(|plan| plan.alternation = Alternated::InsertedBlank, 2, k::USER | k::ASSISTANT | k::SPEAKER, |_| true),
    op(|plan| plan.alternation = Alternated::Merged, 2, k::USER | k::ASSISTANT | k::SPEAKER, |_| true),
    op(|plan| plan.systems = Systems::AllAsUser, 3, k::SYSTEM | k::ORDER | k::SPEAKER, |n| has_class(n, Class::System)),
    op(|plan| plan.systems = Systems::IntoUser, 3, k::SYSTEM | k::ORDER | k::SPEAKER, |n| has_class(n, Class::System)),
    op(|plan| plan.results = ResultForm::AsUser, 3, k::RESULT | k::ECHO | k::SPEAKER, |n| has_class(n, Class::Tool)),
    op(|plan| plan.settings = SettingForm::Dropped, 3, 0, |n| n.has_settings),
    op(|plan| plan.media = MediaForm::Dropped, 4, k::MEDIUM | k::LEAK | k::CONTENT, has_media),
    op(|plan| plan.thoughts = ThoughtForm::Dropped, 4, 0, has_thoughts),
    op(|plan| plan.drops = Drops::Tools, 6, 0, |n| !n.tools.is_empty()),
    op(|plan| plan.drops = Drops::Calls, 6, 0, has_calls),
    op(|plan| plan.drops = Drops::Both, 6, 0, |n| has_calls(n) && !n.tools.is_empty()),
    op(|plan| plan.tools = ToolList::Flat, 6, k::DOUBLE, |n| !n.tools.is_empty()),
    op(|plan| plan.arguments = CallArguments::Object, 6, k::REPR, has_calls),
];

/// Plans that are tried if no operator helps, the least change first. Some of them give something up.
pub fn cautious(gives_up: bool) -> Vec<Plan> {
    let shared = Plan {
        renames_ids: true,
        fills_names: true,
        developer: Developer::System,
        descriptions: Descriptions::Filled,
        ..Plan::default()
    };
    let [strings, parts] = [Content::String, Content::Parts].map(|form| shared.in_form(form));
    let forms = [CallArguments::Object, CallArguments::Text];
    let combine = |base: Plan, arguments, systems, alternation, results| Plan {
        arguments,
        systems,
        alternation,
        results,
        ..base
    };
    let mut plans = Vec::new();
    for arguments in forms {
        for alternation in [Alternated::Merged, Alternated::Inserted, Alternated::InsertedBlank] {
            for results in [ResultForm::AsIs, ResultForm::AsUser] {
                let all = [Systems::Merged, Systems::IntoUser, Systems::AllAsUser];
                let all = all.into_iter().take(if alternation == Alternated::Merged { 3 } else { 2 });
                plans.extend(all.map(|systems| combine(strings, arguments, systems, alternation, results)));
            }
        }
    }
    for arguments in forms {
        let with = |base, alternation| combine(base, arguments, Systems::Merged, alternation, ResultForm::AsIs);
        let split = with(strings, Alternated::Merged);
        let calls = CallForm::Split;
        plans.extend([with(parts, Alternated::AsIs), Plan { calls, ..split }]);
    }
    if gives_up {
        let without = |plan: Plan| Plan {
            media: MediaForm::Dropped,
            thoughts: ThoughtForm::Dropped,
            ..plan
        };
        let dropped: Vec<Plan> = plans.iter().take(10).map(|plan| without(*plan)).collect();
        plans.extend(dropped);
        plans.extend([Systems::IntoUser, Systems::AllAsUser].map(|systems| Plan {
            systems,
            drops: Drops::Both,
            results: ResultForm::AsUser,
            alternation: Alternated::Merged,
            ..without(strings)
        }));
    }
    plans
}

fn any(normal: &Normal<'_>, is_wanted: impl Fn(&BodyTurn<'_>) -> bool) -> bool {
    normal.turns.iter().any(is_wanted)
}

fn has_class(normal: &Normal<'_>, class: Class) -> bool {
    any(normal, |turn| turn.class() == class)
}

fn has_parts(normal: &Normal<'_>, class: Class) -> bool {
    any(normal, |turn| turn.class() == class && turn.form == ContentForm::Parts)
}

fn has_several(normal: &Normal<'_>, class: Class) -> bool {
    any(normal, |turn| turn.class() == class && turn.parts.len() > 1)
}

fn has_empty(normal: &Normal<'_>) -> bool {
    let is_empty = |part: &ContentPart<'_>| part.kind == PartKind::Text && part.text.is_empty();
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
    let calls = normal.turns.iter().map(|turn| turn.result.and_then(|result| result.call));
    let mut pairs = calls.clone().zip(calls.skip(1));
    pairs.any(|(call, next)| next.is_some() && next < call)
}

fn has_thoughts(normal: &Normal<'_>) -> bool {
    any(normal, |turn| !turn.thoughts.is_empty())
}

fn has_later_system(normal: &Normal<'_>) -> bool {
    normal.turns.iter().skip(1).any(|turn| turn.class() == Class::System)
}

fn has_media(normal: &Normal<'_>) -> bool {
    let is_medium = |part: &ContentPart<'_>| matches!(part.kind, PartKind::Medium(_));
    any(normal, |turn| turn.parts.iter().any(is_medium))
}
