//! How the walk chooses: how often each alternative is taken, and how often what may be absent is there.
//!
//! ```text
//! body: output 45, text 30, statement 22, …     conditional: an `if` in 5 of 100
//! ```
//!
//! An alternative is called by its first text or name. One that is not told here weighs as much as any other, so that what is added to
//! the grammar is walked too.

use super::callee::Wish;
use super::walk::Walker;
use crate::ebnf::Rule;
use crate::value::Type;

impl<'w> Walker<'w> {
    /// The place of the alternative to take.
    pub(super) fn chosen(&mut self, alternatives: &'w [Rule]) -> usize {
        if alternatives.len() < 2 {
            return 0;
        }
        let is_token = self.within(0).starts_with(|char: char| char.is_ascii_uppercase());
        if self.is_large() && !is_token && !matches!(self.within(0), "primary" | "namespace_part" | "test") {
            let heights: Vec<_> = alternatives.iter().map(|rule| self.words.grammar.height(rule)).collect();
            let least = heights.iter().min().copied().flatten();
            let lowest: Vec<usize> = (0..heights.len())
                .filter(|place| heights.get(*place) == Some(&least))
                .collect();
            return self.random.pick(&lowest).copied().unwrap_or_default();
        }
        let weights: Vec<usize> = alternatives.iter().map(|rule| self.weight(rule.label())).collect();
        self.random.weighted(&weights)
    }

    fn weight(&self, label: &str) -> usize {
        let is_called = self.at.callee.is_some();
        let is_needed = self.callee.as_ref().is_some_and(|callee| callee.least > 0);
        let is_number = matches!(self.at.ty, Some(Type::Int | Type::Float | Type::Bool));
        let is_sequence = matches!(self.at.ty, Some(Type::Str | Type::Markup | Type::List | Type::Tuple));
        match (self.within(0), label) {
            ("body", "output") => 45,
            ("body", "TEXT") => 30,
            ("body", "statement") => 24_usize.checked_div(self.blocks.saturating_add(1)).unwrap_or_default(),
            ("body", "COMMENT") => 2,
            ("body", "RAW") => 1,
            ("tag", "for") => 50,
            ("tag", "if") => 50,
            ("tag", "set") => 60,
            ("tag", "break" | "continue") => {
                if self.loops > 0 {
                    25
                } else {
                    1
                }
            }
            ("tag", "macro") => 35,
            ("tag", "call_block") => {
                if self.has_macro() {
                    30
                } else {
                    2
                }
            }
            ("tag", "generation") => 10,
            ("tag", "filter_block" | "with" | "print") => 14,
            ("tag", "unsupported") => 0,
            ("set", "=") => 80,
            ("set", _) => 20,
            ("namespace_part", "NAME") => {
                if self.has_namespace() {
                    14
                } else {
                    1
                }
            }
            ("target_part" | "namespace_part", "NAME" | "target_part") => 60,
            ("target_part", _) => 3,
            ("VARIABLE_BEGIN" | "BLOCK_BEGIN", "{{" | "{%") => 70,
            ("VARIABLE_END" | "BLOCK_END", "}}" | "%}") => 70,
            ("positional" | "arguments", "positional") => 80,
            ("positional" | "arguments", "named" | "keyword") => 20,
            ("named" | "named_after_star", "keyword") => 90,
            ("named" | "named_after_star", _) => 6,
            ("postfix", "attribute") => match self.at.ty {
                _ if is_called => 2,
                Some(Type::List | Type::Tuple) => 20,
                _ => 60,
            },
            ("postfix", "subscript") => match self.at.ty {
                _ if is_called => 1,
                Some(Type::List | Type::Tuple | Type::Str | Type::Dict) => 30,
                _ => 5,
            },
            ("postfix" | "filtered", "call") => {
                if is_called {
                    200
                } else {
                    1
                }
            }
            ("filtered", "|" | "filter") => 70,
            ("filtered", "test") => {
                if self.at.ty == Some(Type::Bool) {
                    2
                } else {
                    28
                }
            }
            ("sum", "-") | ("product", "/" | "//") => {
                if is_number {
                    40
                } else {
                    2
                }
            }
            ("product", "*") => {
                if is_number || is_sequence {
                    30
                } else {
                    2
                }
            }
            ("product", "%") => {
                if is_number || self.at.ty == Some(Type::Str) {
                    20
                } else {
                    1
                }
            }
            ("sum", "+") => {
                if is_number || is_sequence {
                    40
                } else {
                    5
                }
            }
            ("comparison", "<" | "<=" | ">" | ">=") => {
                if is_number || is_sequence {
                    14
                } else {
                    1
                }
            }
            ("comparison", "in" | "not") => 14,
            ("test", "arguments") => {
                if is_needed {
                    50
                } else {
                    3
                }
            }
            ("test", "test_argument") => {
                if is_needed {
                    40
                } else {
                    2
                }
            }
            ("test", _) => {
                if is_needed {
                    3
                } else {
                    60
                }
            }
            ("subscript", "slice") => 30,
            ("subscript", "expression") => 60,
            ("attribute", "NAME") => 95,
            ("attribute", _) => 5,
            ("primary", label) => self.primary_weight(label),
            ("test_argument", "NAME") => 25,
            ("INTEGER", "NONZERO") => 80,
            ("INTEGER", _) => 4,
            ("NONZERO" | "DIGIT", "1" | "2" | "3" | "NONZERO") => 30,
            ("STRING", "CHARACTER") => 60,
            ("BLANKS", " ") => 60,
            _ => 10,
        }
    }

    fn primary_weight(&self, label: &str) -> usize {
        let is_wished = match self.wish {
            Wish::Of(Type::Str | Type::Markup) | Wish::OneOf(_) | Wish::Attribute | Wish::Filter | Wish::Test => label == "string",
            Wish::Of(Type::Int) => label == "INTEGER",
            Wish::Of(Type::Float) => label == "FLOAT",
            Wish::Of(Type::List) => label == "list",
            Wish::Of(Type::Dict) => label == "dict",
            Wish::Of(Type::Bool) => matches!(label, "true" | "false"),
            _ => false,
        };
        if is_wished {
            return 90;
        }
        let is_large = self.is_large();
        match label {
            "NAME" => 90,
            "string" => 26,
            "INTEGER" => 24,
            "FLOAT" => 8,
            "list" | "parentheses" if !is_large => 9,
            "dict" if !is_large => 7,
            "list" | "parentheses" | "dict" => 1,
            _ => 3,
        }
    }

    /// How often of a hundred times what may be absent is there, or there once more.
    pub(super) fn chance(&mut self, label: &str) -> usize {
        let within = self.within(0);
        let is_token = within.starts_with(|char: char| char.is_ascii_uppercase());
        let is_argument = self.given < self.wanted;
        let is_needed = self.callee.as_ref().is_some_and(|callee| callee.least > 0);
        // What a call needs is there in large sentences, too.
        match (within, label) {
            ("positional", _) => return if is_argument { 96 } else { 2 },
            ("arguments", "positional") => return if is_argument { 99 } else { 4 },
            ("filter" | "test", "arguments") => return if is_needed { 94 } else { 25 },
            ("postfix", _) if self.within(1) == "call_block" => return 1,
            ("subscript", _) if label != "," => return 97,
            ("postfix" | "filtered", _) if self.at.callee.is_some() => return 94,
            _ => {}
        }
        if self.is_large() && !is_token {
            return 0;
        }
        let is_number = matches!(self.at.ty, Some(Type::Int | Type::Float | Type::Bool));
        let is_operand = is_number || matches!(self.at.ty, Some(Type::Str | Type::Markup | Type::List | Type::Tuple));
        // Less where something is wished for, and deep inside.
        let is_rare = self.wish != Wish::Any || self.depth > 2;
        let of = |percent: usize| if is_rare { percent / 3 } else { percent };
        match (within, label) {
            ("body", _) => match self.blocks {
                0 if self.sentence.tokens.is_empty() => 99,
                0 => 82,
                1 => 60,
                _ => 45,
            },
            ("conditional", "if") => of(5),
            ("conditional", "else") => 65,
            ("or" | "and", _) => of(4),
            ("not", _) => of(5),
            ("unary", _) => of(3),
            ("comparison", _) => of(8),
            ("sum" | "product", _) if !is_operand => 2,
            ("sum" | "product" | "concat", _) => of(14),
            ("power", _) if !is_number => 1,
            ("power", _) => of(12),
            ("tuple" | "conditions", "TRAILING_COMMA") => 2,
            ("tuple" | "conditions", _) => 3,
            ("postfix", _) => match self.at.ty {
                Some(Type::Dict) if self.at.value.is_some() => 60,
                Some(Type::None | Type::Bool | Type::Int) => 8,
                Some(Type::List | Type::Tuple) => 25,
                Some(Type::Loop | Type::Namespace | Type::Cycler | Type::Range | Type::Markup) => 80,
                Some(_) => 32,
                None => 10,
            },
            ("filtered", _) => 24,
            ("filter", "|") => 12,
            ("list" | "dict", _) => 50,
            ("for", "if" | "recursive") => 12,
            ("for", "else") => 15,
            ("if", "elif" | "else") => 30,
            ("statements", ":") => 2,
            ("with", _) => 60,
            ("print", _) => 80,
            ("signature", _) => 70,
            ("parameters" | "defaults", _) => 45,
            ("target" | "namespace_target", _) => 12,
            ("dotted_name", _) => usize::from(self.random.happens(20)),
            ("string", _) => 4,
            ("subscript", ",") => 3,
            ("call_block", "signature") => 40,
            ("arguments", ",") => 3,
            ("INTEGER" | "DIGITS", _) => 12,
            ("STRING", _) => 55,
            ("BLANKS", _) => 60,
            _ => 25,
        }
    }
}
