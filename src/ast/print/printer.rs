//! The writer of printed trees.

use crate::ast::{Symbol, Symbols};

/// The places of parentheses in a printed source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parentheses {
    /// Only where the source would otherwise parse to another tree. More parentheses could exceed the limit on nesting.
    Needed,
    /// Around every expression. Two trees then have equal sources only if they are equal.
    All,
}

/// The source that is being printed.
pub(super) struct Printer<'t> {
    symbols: &'t Symbols,
    pub parentheses: Parentheses,
    pub out: String,
}

impl<'t> Printer<'t> {
    pub fn new(symbols: &'t Symbols, parentheses: Parentheses) -> Self {
        Self {
            symbols,
            parentheses,
            out: String::new(),
        }
    }

    pub fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes the items with commas between them.
    pub fn write_list<T>(&mut self, items: &[T], mut write_item: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            self.push(if index == 0 { "" } else { ", " });
            write_item(self, item);
        }
    }

    pub fn write_name(&mut self, symbol: Symbol) {
        self.out.push_str(self.symbols.name(symbol));
    }
}
