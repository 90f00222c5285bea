//! The keys that are null in objects. Columns of a data set have all keys of all rows, and those that a row lacks are null.

use chat_template::internal::escape_key;
use chat_template::json::{Data, Object};

/// Returns whether an object in a value has a key that is null.
pub fn has_null(value: &Data<'_>) -> bool {
    match value {
        Data::List(items) | Data::Tuple(items) => items.iter().any(has_null),
        Data::Object(object) => object
            .entries()
            .iter()
            .any(|(_, value)| matches!(value, Data::None) || has_null(value)),
        _ => false,
    }
}

/// Removes the keys that are null from all objects in a value.
pub fn remove_null(value: &mut Data<'_>) {
    match value {
        Data::List(items) | Data::Tuple(items) => items.iter_mut().for_each(remove_null),
        Data::Object(object) => {
            let mut entries = std::mem::take(object).into_entries();
            entries.retain(|(_, value)| !matches!(value, Data::None));
            entries.iter_mut().for_each(|(_, value)| remove_null(value));
            *object = Object::new(entries);
        }
        _ => {}
    }
}

/// Returns the JSON pointer of the first key that is null. The default of a parameter can be null.
pub(crate) fn find_null(value: &Data<'_>, pointer: &dyn Fn() -> String) -> Option<String> {
    match value {
        Data::List(items) | Data::Tuple(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| find_null(item, &|| format!("{}/{index}", pointer())))
        }
        Data::Object(object) => object.entries().iter().find_map(|(key, value)| {
            let inner = || format!("{}/{}", pointer(), escape_key(key));
            match value {
                Data::None => (key != "default").then(inner),
                value => find_null(value, &inner),
            }
        }),
        _ => None,
    }
}
