//! The strings around the fields of the first messages. They show where turns end.
//!
//! ```text
//! <s>[INST] Hi [/INST]   ->   first tokens `<s>` and `[INST]`, close of the user `[/INST]`
//! ```

use super::Conversation;
use super::control::control_tokens;
use crate::chat::turns::Groups;
use crate::error::Result;
use crate::meter::Meter;

/// Returns the text after the last field of the first message of a user, without white space around it.
pub(super) fn find_user_close<'t>(conversation: &Conversation<'t>, groups: &Groups<'_>) -> Option<&'t str> {
    let Conversation { text, roles, .. } = *conversation;
    let owned = groups.iter().find(|owned| roles.get(owned.message) == Some(&"user"))?;
    let end = owned.stretches.last()?.end;
    let body = owned.printed(&(0..end)).last()?;
    text.get(body.end..end).map(str::trim)
}

/// Returns the first two control tokens before the first field of a message, which begin the text or a turn.
pub(super) fn find_first_tokens<'t>(text: &'t str, groups: &Groups<'_>, meter: &mut Meter<'_>) -> Result<Vec<&'t str>> {
    let bodies = groups
        .iter()
        .filter_map(|owned| owned.printed(&owned.stretches.first()?.range()).first());
    let end = bodies.map(|body| body.start).min().unwrap_or(text.len());
    meter.charge_scan(end)?;
    let header = text.get(..end).unwrap_or_default();
    Ok(control_tokens(header).take(2).filter_map(|token| header.get(token)).collect())
}
