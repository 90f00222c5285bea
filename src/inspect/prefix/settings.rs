//! The values that the variables of the caller have during the search.

use serde_json::{Value, json};

use crate::chat::is_reserved_name;
use crate::inspect::experiments::Experiments;
use crate::inspect::literals::{self, Literals};

/// The maximum number of sets of variables that a search tries, and of variables of a template that it sets.
const MAX_SETTINGS: usize = 8;

/// Returns the sets of variables to try: none at all, and each variable with the first two values that the template compares it with, with
/// true and with false.
pub fn list_settings(experiments: &Experiments<'_>) -> Vec<Option<Value>> {
    let mut settings = vec![None];
    let mut budget = experiments.budget(literals::MAX_WORK);
    for compiled in experiments.template.compiled() {
        let literals = Literals::find(compiled, &mut budget);
        let variables = compiled.variables().into_iter();
        let is_switch = |name: &&str| !is_reserved_name(name) && !name.ends_with("_token");
        for name in variables.filter(is_switch).take(MAX_SETTINGS) {
            let values = literals.list(name, &mut budget).into_iter().take(2);
            for value in values.chain([Value::Bool(true), Value::Bool(false)]) {
                if settings.len() == MAX_SETTINGS {
                    return settings;
                }
                let setting = Some(json!({name: value}));
                if !settings.contains(&setting) {
                    settings.push(setting);
                }
            }
        }
    }
    settings
}
