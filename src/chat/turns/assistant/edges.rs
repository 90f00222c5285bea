//! The strings around the fields of the first messages. They show where turns end.
//!
//! ```text
//! <s>[INST] Hi [/INST]   ->   first tokens `<s>` and `[INST]`, close of the user `[/INST]`
//! ```

use std::ops::Range;

use super::Scene;
use super::control::control_tokens;
use crate::chat::turns::groups::Groups;
use crate::error::Result;
use crate::meter::Meter;

/// Returns the text after the last field of the first user message, without white space around it.
pub(super) fn find_user_close<'t>(scene: &Scene<'t>, groups: &Groups<'_>) -> Option<&'t str> {
    let Scene { text, roles, .. } = *scene;
    let owned = groups.iter().find(|owned| roles.get(owned.message) == Some(&"user"))?;
    let end = owned.stretches.last()?.end;
    let body = owned.printed(&(0..end)).last()?;
    text.get(body.end..end).map(str::trim)
}

/// Returns the control tokens that begin the text and its first turn: the first one before the first field of a message, and the second if
/// it directly follows. Other tokens can be those of a system prompt of the template's own, and end its turn.
pub(super) fn find_first_tokens<'t>(text: &'t str, groups: &Groups<'_>, meter: &mut Meter<'_>) -> Result<Vec<&'t str>> {
    let bodies = groups
        .iter()
        .filter_map(|owned| owned.printed(&owned.stretches.first()?.range()).first());
    let end = bodies.map(|body| body.start).min().unwrap_or(text.len());
    meter.charge_scan(end)?;
    let header = text.get(..end).unwrap_or_default();
    let mut tokens = control_tokens(header);
    let first = tokens.next();
    let is_next = |token: &Range<usize>| {
        let between = first.as_ref().and_then(|first| header.get(first.end..token.start));
        between.is_some_and(|between| between.trim().is_empty())
    };
    let second = tokens.next().filter(is_next);
    Ok(first
        .into_iter()
        .chain(second)
        .filter_map(|token| header.get(token))
        .collect())
}
