//! The roles that a template does not know.

use crate::error::Result;
use crate::meter::Meter;
use crate::request::normal::Role;
use crate::request::prepared::Request;
use crate::request::write::Written;

/// Returns the roles of a request that are no words of the template.
pub fn list_unknown_roles(request: &Request<'_>, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<Vec<Role>> {
    let source = request.template.source().unwrap_or_default();
    let mut unknown = Vec::new();
    for role in [Role::Developer, Role::Tool] {
        meter.charge_items(written.spoken.len())?;
        if written.spoken.iter().any(|spoken| spoken.role == role) {
            meter.charge_scan(source.len())?;
            unknown.extend((!has_word(source, role.name())).then_some(role));
        }
    }
    Ok(unknown)
}

/// Returns whether a source has a word that is no part of a longer one.
fn has_word(source: &str, word: &str) -> bool {
    let is_letter = |character: char| character.is_alphanumeric() || character == '_';
    source.match_indices(word).any(|(at, _)| {
        let before = source.get(..at).and_then(|text| text.chars().next_back());
        let after = source
            .get(at.saturating_add(word.len())..)
            .and_then(|text| text.chars().next());
        let is_quoted = before.is_some_and(|character| matches!(character, '\'' | '"'));
        is_quoted || !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}
