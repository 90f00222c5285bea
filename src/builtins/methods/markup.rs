//! The methods of a Markup that markupsafe 3.0.4 defines: those of `str` that it overrides, and its own `escape`.
//!
//! ```text
//! {{ ("<a>"|safe).replace("a", "<") }}       <&lt;>
//! {{ (","|safe).join(["<", ">"]) }}          &lt;,&gt;
//! {{ ("<b>"|safe).escape("<") }}             &lt;
//! ```
//!
//! The methods that markupsafe does not override (`find`, `isalpha` …) are those of `str`.

use super::str_split;
use crate::builtins::table::{BuiltIn, built_ins};
use crate::value::{Function, Iter, Shortcut, Signature, Str, Style, Type, Value, markup};

/// Returns the methods of `str` that markupsafe overrides. They have the same bodies as those of `str`, which return a Markup for a Markup.
pub(super) fn override_methods(of_str: &[&[BuiltIn]]) -> Vec<BuiltIn> {
    let methods = of_str.iter().copied().flatten();
    methods
        .flat_map(|method| {
            method
                .markup
                .iter()
                .map(|(python, unnamed)| override_method(*method, python, *unnamed))
        })
        .collect()
}

fn override_method(method: BuiltIn, python: &'static str, unnamed: usize) -> BuiltIn {
    let function = Function {
        python,
        ty: match method.function.ty {
            Type::BuiltinFunction => Type::Method,
            ty => ty,
        },
        signature: Signature {
            style: Style::Python,
            unnamed,
            ..method.function.signature
        },
        shortcut: Shortcut::None,
        ..method.function
    };
    BuiltIn { function, ..method }
}

built_ins! { OWN:
    /// Escapes the items and joins them.
    Python "Markup.join".with_unnamed(2) fn join(runtime, &separator: Str, iterable: Items) -> Text {
        let mut iter = Iter::new(&iterable)?;
        let (mut items, mut claim) = (Vec::new(), None);
        while let Some(item) = iter.next(runtime)? {
            runtime
                .meter
                .claim_growth::<Value<'_>>(&mut claim, items.len(), items.capacity())?;
            items.push(Value::Str(markup::escape(runtime, &item)?));
        }
        match str_split::join_items(runtime, &separator, &items)? {
            Value::Str(text) => Ok(Value::Str(text.with_markup(true))),
            other => Ok(other),
        }
    }

    /// Escapes a string, unless it is a Markup already.
    Python "Markup.escape".with_unnamed(2) fn escape(runtime, cls, s) -> Markup {
        let _ = cls;
        Ok(Value::Str(markup::escape(runtime, &s)?))
    }
}
