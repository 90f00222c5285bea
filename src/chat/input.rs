//! What a caller may hand over: JSON as servers hold it, without a copy.
//!
//! ```text
//! &serde_json::Value    &json::Data    &[Value]    &[&Value]    &Vec<Value>    &Vec<Map>    &HashMap<String, Value>    &Option<Vec<Value>>
//! ```
//!
//! Anything else that is `Serialize` becomes [`Data`] by [`crate::json::to_data`]. What an input means is not known here.

use std::collections::{BTreeMap, HashMap};

use crate::error::Result;
use crate::json::{Data, Object};
use crate::value::{Dict, Entries, Key, Runtime, Seq, Str, Value};

/// Values as servers hold them: JSON trees, and slices, maps and options of them. They are borrowed, and never copied or changed.
///
/// `None` is null, and a null argument is the same as none, as in Python. So the field of a request goes into the options as it is:
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
/// let template = ChatTemplate::from_source("{{ messages|length }} {{ tools }} {{ documents }}", &[]);
/// let request = Request { messages: vec![Map::new()], ..Request::default() };
/// let options = ApplyOptions { tools: Some(&request.tools), documents: Some(&request.documents), ..Default::default() };
/// assert_eq!(template.apply(&request.messages, &options)?.text, "1 None None");
///
/// let tools = request.tools.as_ref();
/// assert_eq!(template.apply(&request.messages, &ApplyOptions { tools: Some(&tools), ..options })?.text, "1 None None");
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// Maps of one's own hold variables:
///
/// ```
/// use std::collections::BTreeMap;
///
/// use chat_template::{ApplyOptions, ChatTemplate};
/// use serde_json::json;
///
/// let template = ChatTemplate::from_source("{{ messages|length }} {{ enable_thinking }}", &[]);
/// let messages = vec![json!({"role": "user", "content": "Hi"})];
/// let variables = BTreeMap::from([("enable_thinking", json!(true))]);
/// let options = ApplyOptions { variables: Some(&variables), ..Default::default() };
/// assert_eq!(template.apply(&messages, &options)?.text, "1 True");
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// This trait is sealed. Turn anything else that is `Serialize` into a [`Data`] with [`json::to_data`](crate::json::to_data).
pub trait Input: sealed::Borrow {}

impl<T: sealed::Borrow + ?Sized> Input for T {}

pub(super) mod sealed {
    use crate::error::Result;
    use crate::value::{Runtime, Value};

    pub trait Borrow {
        /// The value that a template sees.
        fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>>;
    }
}

use sealed::Borrow;

impl Borrow for serde_json::Value {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::from(self))
    }
}

impl Borrow for serde_json::Map<String, serde_json::Value> {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::Dict(Dict::Json(self)))
    }
}

impl Borrow for [serde_json::Value] {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::List(Seq::Json(self)))
    }
}

impl Borrow for Data<'_> {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::from(self))
    }
}

impl Borrow for Object<'_> {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::Dict(Dict::Data(self)))
    }
}

impl Borrow for [Data<'_>] {
    fn borrow_value<'a>(&'a self, _: &mut Runtime<'a>) -> Result<Value<'a>> {
        Ok(Value::List(Seq::Data(self)))
    }
}

impl<T: Borrow> Borrow for [&T] {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        list(self, runtime)
    }
}

impl Borrow for [serde_json::Map<String, serde_json::Value>] {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        list(self, runtime)
    }
}

impl Borrow for [Object<'_>] {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        list(self, runtime)
    }
}

impl<K: AsRef<str>, V: Borrow> Borrow for [BTreeMap<K, V>] {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        list(self, runtime)
    }
}

impl<K: AsRef<str>, V: Borrow, S> Borrow for [HashMap<K, V, S>] {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        list(self, runtime)
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

impl<T> Borrow for Vec<T>
where
    [T]: Borrow,
{
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        self.as_slice().borrow_value(runtime)
    }
}

impl<T, const N: usize> Borrow for [T; N]
where
    [T]: Borrow,
{
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        self.as_slice().borrow_value(runtime)
    }
}

impl<T: Borrow + ?Sized> Borrow for &T {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        (**self).borrow_value(runtime)
    }
}

impl<K: AsRef<str>, V: Borrow> Borrow for BTreeMap<K, V> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        dict(self.iter().map(|(key, value)| (key.as_ref(), value)), runtime)
    }
}

impl<K: AsRef<str>, V: Borrow, S> Borrow for HashMap<K, V, S> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        dict(self.iter().map(|(key, value)| (key.as_ref(), value)), runtime)
    }
}

fn list<'a, T: Borrow>(items: &'a [T], runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
    let items: Result<_> = items.iter().map(|item| item.borrow_value(runtime)).collect();
    runtime.list(items?)
}

fn dict<'a, V: Borrow + 'a>(entries: impl Iterator<Item = (&'a str, &'a V)>, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
    let mut values = Entries::default();
    for (key, value) in entries {
        values.insert(Key::from(Str::from(key)), value.borrow_value(runtime)?);
    }
    Ok(Value::Dict(runtime.dict(values)?))
}
