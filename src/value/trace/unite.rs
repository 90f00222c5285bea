//! The origin of a string that is made from other values: the union of the origins of all strings in them.

use std::collections::HashSet;

use super::{PieceOrigin, Tape};
use crate::error::Result;
use crate::meter::{Claim, Meter};
use crate::trace::{InputMap, Union};
use crate::value::{NamespaceId, Runtime, Seq, Value};

/// Values that are not visited yet.
enum Pending<'a> {
    Value(Value<'a>),
    /// The items of a list before an index.
    Items(Seq<'a>, usize),
}

/// The values that are still to be visited. The last one is visited first, and the caller pushes what is in it.
#[derive(Default)]
struct Walk<'a> {
    pending: Vec<Pending<'a>>,
    /// The claim to the memory of `pending`.
    claim: Option<Claim>,
    /// The namespaces that were visited. A namespace can contain itself.
    namespaces: HashSet<NamespaceId>,
}

impl<'a> Walk<'a> {
    fn push(&mut self, meter: &mut Meter<'_>, value: Value<'a>) -> Result<()> {
        self.push_pending(meter, Pending::Value(value))
    }

    fn push_items(&mut self, meter: &mut Meter<'_>, items: Seq<'a>) -> Result<()> {
        let len = items.len();
        self.push_pending(meter, Pending::Items(items, len))
    }

    fn push_pending(&mut self, meter: &mut Meter<'_>, pending: Pending<'a>) -> Result<()> {
        meter.claim_growth::<Pending<'_>>(&mut self.claim, self.pending.len(), self.pending.capacity())?;
        self.pending.push(pending);
        Ok(())
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        loop {
            match self.pending.pop()? {
                Pending::Value(value) => return Some(value),
                Pending::Items(items, left) => {
                    let item = left.checked_sub(1).and_then(|last| Some((last, items.get(last)?)));
                    if let Some((last, item)) = item {
                        self.pending.push(Pending::Items(items, last));
                        return Some(item);
                    }
                }
            }
        }
    }
}

impl<'a> Runtime<'a> {
    /// Returns the origin of a string that is made from the arguments of the running function.
    pub(super) fn unite_arguments(&mut self, tape: &mut Tape<'a>) -> Result<PieceOrigin> {
        let first = tape.first_argument;
        // The arguments do not change while the map is used.
        let arguments = std::mem::take(&mut tape.arguments);
        let source = match tape.map(&mut self.meter) {
            Ok(Some(map)) => self.unite(map, arguments.get(first..).unwrap_or_default()),
            Ok(None) => Ok(PieceOrigin::Made),
            Err(error) => Err(error),
        };
        tape.arguments = arguments;
        source
    }

    /// Returns the origin of a string that is made from these values.
    fn unite(&mut self, map: &mut InputMap<'a>, values: &[Value<'a>]) -> Result<PieceOrigin> {
        let (mut union, mut walk) = (Union::default(), Walk::default());
        for value in values.iter().rev() {
            walk.push(&mut self.meter, *value)?;
            while let Some(value) = walk.next() {
                self.meter.charge(1)?;
                self.unite_value(map, value, &mut union, &mut walk)?;
            }
        }
        let source = map.finish(union);
        map.claim(&mut self.meter)?;
        Ok(source)
    }

    /// Adds the origins of a value to a union, and the values in it to those that are not visited yet.
    fn unite_value(&mut self, map: &mut InputMap<'a>, value: Value<'a>, union: &mut Union, walk: &mut Walk<'a>) -> Result<()> {
        match value {
            Value::Str(text) => match self.heap.pieces_of(&text) {
                Some((from, view)) => {
                    for piece in from.overlapping(view) {
                        map.extend(union, piece.source, piece.bytes().len());
                        self.meter.charge(union.take_steps().saturating_add(1))?;
                    }
                }
                None => {
                    map.extend_with_text(union, text.as_str());
                    self.meter.charge(union.take_steps())?;
                }
            },
            Value::List(items) | Value::Tuple(items) => walk.push_items(&mut self.meter, items)?,
            Value::Dict(dict) | Value::Keys(dict) | Value::Values(dict) | Value::Items(dict) => {
                self.meter.charge_items(dict.len() / 8)?;
                for (key, value) in dict.iter() {
                    // The code points in a table of `str.maketrans` can be those of any string.
                    if matches!((&key, &value), (Value::Int(_), Value::Int(_))) {
                        map.extend_with_all(union);
                    }
                    walk.push(&mut self.meter, key)?;
                    walk.push(&mut self.meter, value)?;
                }
            }
            Value::Namespace(id) if walk.namespaces.insert(id) => {
                for (name, value) in self.namespace_items(id)? {
                    walk.push(&mut self.meter, name)?;
                    walk.push(&mut self.meter, value)?;
                }
            }
            Value::Method(method) => walk.push(&mut self.meter, method.receiver)?,
            Value::Cycler(cycler) => walk.push_items(&mut self.meter, cycler.items)?,
            Value::Joiner(joiner) => walk.push(&mut self.meter, joiner.separator)?,
            // The values that these compute later are not known, so they can come from any string of the input.
            Value::Iterator(_) | Value::Loop(_) | Value::Macro(_) => map.extend_with_all(union),
            _ => {}
        }
        Ok(())
    }
}
