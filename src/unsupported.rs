//! The constructs of Jinja and Python that this crate does not support, because no chat template uses them.
//!
//! ```text
//! {{ x|pprint }}    `pprint` is not part of the Jinja that chat templates use; write `|tojson(indent=2)`
//! ```
//!
//! A template that contains such a construct compiles. Reaching the construct is an error of kind [`ErrorKind::Unsupported`], so a
//! template still renders if only its debugging branch has one. A construct becomes supported when a real template uses it or
//! transformers documents it. `tests/cases/unsupported.jsonl` has one case for each row.
//!
//! `tests/reference/reachable.py` reads the names of the rows from this file.

use crate::error::{Error, ErrorKind};

/// A row of the table: the names of one place, and what to write instead of them.
#[derive(Debug)]
pub struct Unsupported {
    /// The place in a template where the names occur.
    pub place: Site,
    /// The names as templates write them. A row of [`Site::Value`] or [`Site::Literal`] has one description instead.
    pub names: &'static [&'static str],
    /// The end of the error message, which says what to write instead.
    pub instead: &'static str,
}

/// A place in a template where an unsupported construct can occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// A tag: `{% include … %}`.
    Statement,
    /// A variable: `{{ lipsum() }}`.
    Variable,
    /// A filter: `{{ x|pprint }}`.
    Filter,
    /// An attribute of values of the named Python type: `{{ (5).bit_length() }}`.
    Attribute(&'static str),
    /// A value that an operation would make: `{{ (-8) ** 0.5 }}`.
    Value,
    /// A part of a string literal: `{{ "\N{DASH}" }}`.
    Literal,
}

/// A complex number: `{{ (-8) ** 0.5 }}`.
pub static COMPLEX: Unsupported = row(
    Site::Value,
    &["a complex number"],
    "raise a number that is not negative to a fractional power",
);

/// A set: `{{ d.keys() - ["a"] }}`.
pub static SET: Unsupported = row(Site::Value, &["a set"], "filter a list, as in `d|list|reject('in', other)`");

/// The test `sameas` on two values for which the answer depends on how CPython stores them: `{{ x is sameas y }}`.
pub static IDENTITY: Unsupported = row(Site::Value, &["the identity of a computed value"], "compare with `==`");

/// A block `set` whose target is an item of a dict `d`: `{% set d.a %}…{% endset %}`. transformers changes the dict, which for `apply` is a
/// copy of the caller's. The values of this crate do not change.
pub static ITEM_ASSIGNMENT: Unsupported = row(Site::Value, &["a block `set` into a dict"], "use a `namespace`");

/// The name of a character in a string literal: `{{ "\N{EM DASH}" }}`.
pub static CHARACTER_NAME: Unsupported = row(
    Site::Literal,
    &["the name of a character, `\\N{…}`,"],
    "write the character itself, or `\\u` and its code",
);

/// Half of a character in a string literal: `{{ "\ud800" }}`.
pub static SURROGATE: Unsupported = row(Site::Literal, &["a lone surrogate"], "write the whole character");

const fn row(place: Site, names: &'static [&'static str], instead: &'static str) -> Unsupported {
    Unsupported { place, names, instead }
}

/// The attributes of a string that are unsupported.
pub const TEXT_ATTRIBUTES: Unsupported = row(Site::Attribute("str"), &["encode"], "leave text as it is");

const NO_OTHER_TEMPLATE: &str = "write the other template's text here: a chat template is one file";
const NO_METHOD: &str = "use the operators, filters and tests on numbers";

/// The rows whose names templates write.
#[rustfmt::skip]
static NAMED: [Unsupported; 17] = [
    row(Site::Statement, &["include", "import", "from", "extends"], NO_OTHER_TEMPLATE),
    row(Site::Statement, &["block"], "write its content in place, or a `macro`"),
    row(Site::Statement, &["autoescape"], "use the filter `|escape`"),
    row(Site::Variable, &["self"], "call a `macro`"),
    row(Site::Variable, &["lipsum"], "write the text"),
    row(Site::Filter, &["pprint"], "write `|tojson(indent=2)`"),
    row(Site::Filter, &["striptags", "urlize", "urlencode", "xmlattr"], "prepare HTML and URLs before the template sees them"),
    row(Site::Filter, &["random"], "choose before the template is rendered"),
    TEXT_ATTRIBUTES,
    row(Site::Attribute("Markup"), &["striptags", "unescape"], "prepare HTML before the template sees it"),
    row(
        Site::Attribute("int"),
        &["as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "imag", "numerator", "real", "to_bytes"],
        NO_METHOD,
    ),
    row(Site::Attribute("float"), &["as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "real"], NO_METHOD),
    row(Site::Attribute("range"), &["count", "index", "start", "step", "stop"], "make a list with `|list`"),
    row(Site::Attribute("dict"), &["fromkeys"], "write the dict"),
    row(Site::Attribute("view"), &["isdisjoint", "mapping"], "use the dict, or its `|items`"),
    row(
        Site::Attribute("generator"),
        &["close", "gi_running", "gi_suspended", "gi_yieldfrom", "send", "throw"],
        "make a list with `|list`",
    ),
    row(Site::Attribute("cycler"), &["current", "next", "reset"], "call the class, as in `cycler('a', 'b')`"),
];

impl Unsupported {
    /// Returns the error for a row that has one name.
    #[cold]
    pub fn error(&self) -> Error {
        Error::new(
            ErrorKind::Unsupported,
            self.message(self.names.first().copied().unwrap_or_default()),
        )
    }

    fn message(&self, name: &str) -> String {
        let quote = match self.place {
            Site::Value | Site::Literal => "",
            _ => "`",
        };
        let instead = self.instead;
        format!("{quote}{name}{quote} is not part of the Jinja that chat templates use; {instead}")
    }
}

/// Returns the error for a name, if the name is unsupported at this place.
#[cold]
pub fn find(place: Site, name: &str) -> Option<Error> {
    let row = rows_at(place).find(|row| row.names.contains(&name))?;
    Some(Error::new(ErrorKind::Unsupported, row.message(name)))
}

/// Returns all names that are unsupported at a place.
pub fn names(place: Site) -> impl Iterator<Item = &'static str> {
    rows_at(place).flat_map(|row| row.names.iter().copied())
}

fn rows_at(place: Site) -> impl Iterator<Item = &'static Unsupported> {
    NAMED.iter().filter(move |row| row.place == place)
}
