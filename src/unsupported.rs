//! What Jinja and Python have and no chat template uses: this crate refuses it, by one table.
//!
//! ```text
//! {{ x|pprint }}    `pprint` is not part of the Jinja that chat templates use; write `|tojson(indent=2)`
//! ```
//!
//! A construct of the table compiles, and is an error of the kind [`ErrorKind::Unsupported`] when it is reached, so a template whose
//! debugging branch has one still renders. A construct enters the crate when a real template uses it or transformers documents it.

use crate::error::{Error, ErrorKind};

/// A row of the table: names of one kind, and what to write instead of them.
#[derive(Debug)]
pub struct Unsupported {
    /// What the names belong to.
    pub place: Place,
    /// The names in templates; for [`Place::Value`] and [`Place::Literal`], a description.
    pub names: &'static [&'static str],
    /// What to write instead: the end of the message.
    pub instead: &'static str,
}

/// What a name of the table belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A tag: `{% include … %}`.
    Statement,
    /// A variable: `{{ lipsum() }}`.
    Variable,
    /// A filter: `{{ x|pprint }}`.
    Filter,
    /// An attribute of the Python type of this name: `{{ 5.bit_length() }}`.
    Attribute(&'static str),
    /// A value that an operation would make: `{{ (-8) ** 0.5 }}`.
    Value,
    /// A part of a string literal: `{{ "\N{DASH}" }}`.
    Literal,
}

/// `(-8) ** 0.5`
pub static COMPLEX: Unsupported = Unsupported {
    place: Place::Value,
    names: &["a complex number"],
    instead: "raise a number that is not negative to a fractional power",
};

/// `d.keys() - ["a"]`
pub static SET: Unsupported = Unsupported {
    place: Place::Value,
    names: &["a set"],
    instead: "filter a list, as in `d|list|reject('in', other)`",
};

/// `x is sameas y`, where only CPython's memory decides.
pub static IDENTITY: Unsupported = Unsupported {
    place: Place::Value,
    names: &["the identity of a computed value"],
    instead: "compare with `==`",
};

/// `{% set d.a %}…{% endset %}`, where `d` is a dict.
pub static ITEM_ASSIGNMENT: Unsupported = Unsupported {
    place: Place::Value,
    names: &["a block `set` into a dict"],
    instead: "use a `namespace`",
};

/// `"\N{EM DASH}"`
pub static CHARACTER_NAME: Unsupported = Unsupported {
    place: Place::Literal,
    names: &["the name of a character, `\\N{…}`,"],
    instead: "write the character itself, or `\\u` and its code",
};

/// `"\ud800"`
pub static SURROGATE: Unsupported = Unsupported {
    place: Place::Literal,
    names: &["a lone surrogate"],
    instead: "write the whole character",
};

const fn row(place: Place, names: &'static [&'static str], instead: &'static str) -> Unsupported {
    Unsupported { place, names, instead }
}

const NO_OTHER_TEMPLATE: &str = "write the other template's text here: a chat template is one file";
const NO_METHOD: &str = "use the operators, filters and tests on numbers";

#[rustfmt::skip]
static NAMED: [Unsupported; 15] = [
    row(Place::Statement, &["include", "import", "from", "extends"], NO_OTHER_TEMPLATE),
    row(Place::Statement, &["block"], "write its content in place, or a `macro`"),
    row(Place::Statement, &["autoescape"], "use the filter `|escape`"),
    row(Place::Variable, &["self"], "call a `macro`"),
    row(Place::Variable, &["lipsum"], "write the text"),
    row(Place::Filter, &["pprint"], "write `|tojson(indent=2)`"),
    row(Place::Filter, &["striptags", "urlize", "urlencode", "xmlattr"], "prepare HTML and URLs before the template sees them"),
    row(Place::Filter, &["random"], "choose before the template is rendered"),
    row(Place::Attribute("str"), &["encode"], "leave text as it is"),
    row(Place::Attribute("Markup"), &["striptags", "unescape"], "prepare HTML before the template sees it"),
    row(
        Place::Attribute("int"),
        &["as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "imag", "numerator", "real", "to_bytes"],
        NO_METHOD,
    ),
    row(Place::Attribute("float"), &["as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "is_integer", "real"], NO_METHOD),
    row(Place::Attribute("range"), &["count", "index", "start", "step", "stop"], "make a list with `|list`"),
    row(Place::Attribute("dict"), &["fromkeys"], "write the dict"),
    row(Place::Attribute("view"), &["isdisjoint", "mapping"], "use the dict, or its `|items`"),
];

impl Unsupported {
    /// The error of reaching a name of this row.
    #[cold]
    fn refuse(&self, name: &str) -> Error {
        let quote = match self.place {
            Place::Value | Place::Literal => "",
            _ => "`",
        };
        let instead = self.instead;
        Error::new(
            ErrorKind::Unsupported,
            format!("{quote}{name}{quote} is not part of the Jinja that chat templates use; {instead}"),
        )
    }

    /// The error of reaching this row, which has one name.
    #[cold]
    pub fn error(&self) -> Error {
        self.refuse(self.names.first().copied().unwrap_or_default())
    }
}

/// The names of one kind that the table has.
pub fn names(place: Place) -> impl Iterator<Item = &'static str> {
    NAMED
        .iter()
        .filter(move |row| row.place == place)
        .flat_map(|row| row.names)
        .copied()
}

/// The error of reaching a name, if the table has it.
#[cold]
pub fn find(place: Place, name: &str) -> Option<Error> {
    let row = NAMED.iter().find(|row| row.place == place && row.names.contains(&name))?;
    Some(row.refuse(name))
}
