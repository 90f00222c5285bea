//! The types that `apply` accepts for messages, tools, documents and variables: JSON trees, borrowed without a copy.
//!
//! ```text
//! &serde_json::Value    &json::Data    &[Value]    &[&Value]    &Vec<Value>    &Vec<Map>    &HashMap<String, Value>    &Option<Vec<Value>>
//! ```
//!
//! Any other type that implements `Serialize` is turned into [`Data`] by [`crate::json::to_data`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::error::Result;
use crate::json::{Data, Object};
use crate::value::{Dict, Entries, Key, Runtime, Seq, Value};

/// A JSON tree, or a slice, map or option of JSON trees. An input is borrowed; it is never copied or changed.
///
/// `None` is null, and an argument that is null counts as missing, as in Python. An optional field of a request can therefore be passed as
/// it is:
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate};
/// use serde_json::{Map, Value};
///
/// #[derive(Default)]
/// struct Request {
///     messages: Vec<Map<String, Value>>,
///     tools: Option<Vec<Value>>,
///     documents: Option<Value>,
/// }
///
/// let template = ChatTemplate::from_source("{{ messages|length }} {{ tools }} {{ documents }}", &[])?;
/// let request = Request { messages: vec![Map::new()], ..Request::default() };
/// let options = ApplyOptions::default().with_tools(&request.tools).with_documents(&request.documents);
/// assert_eq!(template.apply(&request.messages, &options)?.text, "1 None None");
///
/// let tools = request.tools.as_ref();
/// assert_eq!(template.apply(&request.messages, &options.with_tools(&tools))?.text, "1 None None");
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// This trait is sealed. Turn anything else that is `Serialize` into a [`Data`] with [`json::to_data`](crate::json::to_data).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be borrowed as JSON",
    note = "pass a `serde_json::Value`, JSON text to `apply_json`, or what `json::to_data` makes of another type"
)]
pub trait Input: sealed::Borrow {}

impl<T: sealed::Borrow + ?Sized> Input for T {}

/// Shows no content, which can be large and private.
///
/// ```
/// let tools = serde_json::json!([]);
/// let options = chat_template::ApplyOptions::default().with_tools(&tools);
/// assert!(format!("{options:?}").starts_with("ApplyOptions { tools: Some(_), documents: None, chat_template: None, "));
/// ```
impl std::fmt::Debug for dyn Input + '_ {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("_")
    }
}

pub(crate) mod sealed {
    use crate::error::Result;
    use crate::value::{Runtime, Value};

    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be borrowed as JSON",
        note = "pass a `serde_json::Value`, JSON text to `apply_json`, or what `json::to_data` makes of another type"
    )]
    pub trait Borrow {
        /// Returns the value that a template sees.
        fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>>;

        /// Returns a list of such values as a template sees it.
        fn borrow_list<'a>(items: &'a [Self], runtime: &mut Runtime<'a>) -> Result<Value<'a>>
        where
            Self: Sized,
        {
            let items: Result<Vec<_>> = items.iter().map(|item| item.borrow_value(runtime)).collect();
            runtime.list(&items?)
        }
    }
}

use sealed::Borrow;

impl Borrow for serde_json::Value {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::from(self))
    }

    fn borrow_list<'a>(items: &'a [Self], _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::List(Seq::Json(items)))
    }
}

impl Borrow for serde_json::Map<String, serde_json::Value> {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::Dict(Dict::Json(self)))
    }
}

impl Borrow for Data<'_> {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::from(self))
    }

    fn borrow_list<'a>(items: &'a [Self], _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::List(Seq::Data(items)))
    }
}

impl Borrow for Cow<'_, Data<'_>> {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::from(&**self))
    }
}

impl Borrow for Object<'_> {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::Dict(Dict::Data(self)))
    }
}

impl<T: Borrow> Borrow for [T] {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        T::borrow_list(self, runtime)
    }
}

impl<T: Borrow> Borrow for Vec<T> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        T::borrow_list(self, runtime)
    }
}

impl<T: Borrow, const N: usize> Borrow for [T; N] {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        T::borrow_list(self, runtime)
    }
}

impl<T: Borrow> Borrow for Option<T> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        self.as_ref().map_or(Ok(Value::None), |value| value.borrow_value(runtime))
    }
}

impl<T: Borrow + ?Sized> Borrow for std::sync::Arc<T> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        (**self).borrow_value(runtime)
    }
}

impl<T: Borrow + ?Sized> Borrow for &T {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        (**self).borrow_value(runtime)
    }
}

impl<K: AsRef<str>, V: Borrow> Borrow for BTreeMap<K, V> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        dict(self, runtime)
    }
}

impl<K: AsRef<str>, V: Borrow, S> Borrow for HashMap<K, V, S> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        dict(self, runtime)
    }
}

fn dict<'a, K: AsRef<str> + 'a, V: Borrow + 'a>(
    entries: impl IntoIterator<Item = (&'a K, &'a V)>,
    runtime: &mut Runtime<'a>,
) -> Result<Value<'a>> {
    let mut values = Entries::default();
    for (key, value) in entries {
        values.insert(Key::new(runtime, Value::text(key.as_ref()))?, value.borrow_value(runtime)?);
    }
    Ok(Value::Dict(runtime.dict(values)?))
}
