//! The choices of the walk: how often it takes each alternative, and how often it writes an optional part.
//!
//! ```text
//! body: output 45, text 30, statement 24, …     conditional: an `if` in 5 of 100
//! ```
//!
//! An alternative is identified by its first text or name. An alternative without a row has the default weight, so that the walk
//! also takes alternatives that are added to the grammar.

use super::callee::Wish;
use super::walk::Walker;
use crate::ebnf::Rule;
use chat_template::internal::Type;

use When::{
    AfterBool, AfterContainer, AfterFormat, AfterFunction, AfterList, AfterNumber, AfterOperand, Always, HasMacro, HasNamespace,
    InLoop, TakesArguments,
};

/// A condition on the place in the template where an alternative is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Always,
    /// `break` and `continue` are allowed.
    InLoop,
    /// The template has defined a macro.
    HasMacro,
    /// The template has set a namespace.
    HasNamespace,
    /// The value that was written last is a function, a method or a macro.
    AfterFunction,
    AfterBool,
    AfterList,
    /// The value that was written last is a string, a list, a tuple or a dict.
    AfterContainer,
    AfterNumber,
    /// The value that was written last is a number, a string, a list or a tuple.
    AfterOperand,
    /// The value that was written last is a number or a string.
    AfterFormat,
    /// The function that was written last has required arguments.
    TakesArguments,
}

/// The weight of an alternative of a production.
struct Row {
    production: &'static str,
    /// The first text or name of the alternative, or an empty string for every alternative that has no row.
    label: &'static str,
    when: When,
    /// The weight if the condition holds.
    weight: usize,
    /// The weight if the condition does not hold. If it is 0, the next row of the alternative decides.
    otherwise: usize,
}

const fn row(production: &'static str, label: &'static str, when: When, weight: usize, otherwise: usize) -> Row {
    Row {
        production,
        label,
        when,
        weight,
        otherwise,
    }
}

/// The weight of an alternative without a row.
const DEFAULT: usize = 10;

#[rustfmt::skip]
static ROWS: &[Row] = &[
    row("body", "output", Always, 45, 0),
    row("body", "TEXT", Always, 30, 0),
    row("body", "COMMENT", Always, 2, 0),
    row("body", "RAW", Always, 1, 0),
    row("tag", "for", Always, 50, 0),
    row("tag", "if", Always, 50, 0),
    row("tag", "set", Always, 60, 0),
    row("tag", "break", InLoop, 25, 1),
    row("tag", "continue", InLoop, 25, 1),
    row("tag", "macro", Always, 35, 0),
    row("tag", "call_block", HasMacro, 30, 2),
    row("tag", "generation", Always, 10, 0),
    row("tag", "filter_block", Always, 14, 0),
    row("tag", "with", Always, 14, 0),
    row("tag", "print", Always, 14, 0),
    row("tag", "unsupported", Always, 0, 0),
    row("set", "=", Always, 80, 0),
    row("set", "", Always, 20, 0),
    row("namespace_part", "NAME", HasNamespace, 14, 1),
    row("namespace_part", "target_part", Always, 60, 0),
    row("namespace_part", "", Always, 3, 0),
    row("target_part", "NAME", Always, 60, 0),
    row("target_part", "", Always, 3, 0),
    row("VARIABLE_BEGIN", "{{", Always, 70, 0),
    row("VARIABLE_END", "}}", Always, 70, 0),
    row("BLOCK_BEGIN", "{%", Always, 70, 0),
    row("BLOCK_END", "%}", Always, 70, 0),
    row("positional", "positional", Always, 80, 0),
    row("positional", "named", Always, 20, 0),
    row("arguments", "positional", Always, 80, 0),
    row("arguments", "named", Always, 20, 0),
    row("named", "keyword", Always, 90, 0),
    row("named", "", Always, 6, 0),
    row("named_after_star", "keyword", Always, 90, 0),
    row("named_after_star", "", Always, 6, 0),
    row("postfix", "attribute", AfterFunction, 2, 0),
    row("postfix", "attribute", AfterList, 20, 60),
    row("postfix", "subscript", AfterFunction, 1, 0),
    row("postfix", "subscript", AfterContainer, 30, 5),
    row("postfix", "call", AfterFunction, 200, 1),
    row("filtered", "call", AfterFunction, 200, 1),
    row("filtered", "|", Always, 70, 0),
    row("filtered", "filter", Always, 70, 0),
    row("filtered", "test", AfterBool, 2, 28),
    row("sum", "+", AfterOperand, 40, 5),
    row("sum", "-", AfterNumber, 40, 2),
    row("product", "*", AfterOperand, 30, 2),
    row("product", "/", AfterNumber, 40, 2),
    row("product", "//", AfterNumber, 40, 2),
    row("product", "%", AfterFormat, 20, 1),
    row("comparison", "<", AfterOperand, 14, 1),
    row("comparison", "<=", AfterOperand, 14, 1),
    row("comparison", ">", AfterOperand, 14, 1),
    row("comparison", ">=", AfterOperand, 14, 1),
    row("comparison", "in", Always, 14, 0),
    row("comparison", "not", Always, 14, 0),
    row("test", "arguments", TakesArguments, 50, 3),
    row("test", "test_argument", TakesArguments, 40, 2),
    row("test", "", TakesArguments, 3, 60),
    row("subscript", "slice", Always, 30, 0),
    row("subscript", "expression", Always, 60, 0),
    row("attribute", "NAME", Always, 95, 0),
    row("attribute", "", Always, 5, 0),
    row("test_argument", "NAME", Always, 25, 0),
    row("INTEGER", "NONZERO", Always, 80, 0),
    row("INTEGER", "", Always, 4, 0),
    row("NONZERO", "1", Always, 30, 0),
    row("NONZERO", "2", Always, 30, 0),
    row("NONZERO", "3", Always, 30, 0),
    row("DIGIT", "NONZERO", Always, 30, 0),
    row("STRING", "CHARACTER", Always, 60, 0),
    row("BLANKS", " ", Always, 60, 0),
];

impl<'w> Walker<'w> {
    /// Returns the index of an alternative, chosen at random.
    pub(super) fn choose(&mut self, alternatives: &'w [Rule]) -> usize {
        if alternatives.len() < 2 {
            return 0;
        }
        let is_token = self.within(0).starts_with(|char: char| char.is_ascii_uppercase());
        if self.is_large() && !is_token && !matches!(self.within(0), "primary" | "namespace_part" | "test") {
            let heights: Vec<_> = alternatives.iter().map(|rule| self.vocabulary.grammar.height(rule)).collect();
            let least = heights.iter().min().copied().flatten();
            let lowest: Vec<usize> = (0..heights.len())
                .filter(|place| heights.get(*place) == Some(&least))
                .collect();
            return self.random.pick(&lowest).copied().unwrap_or_default();
        }
        let weights: Vec<usize> = alternatives.iter().map(|rule| self.weight(rule.label())).collect();
        self.random.pick_weighted(&weights)
    }

    fn weight(&self, label: &str) -> usize {
        let production = self.within(0);
        match (production, label) {
            // Statements are rarer inside of statements.
            ("body", "statement") => return 24_usize.checked_div(self.blocks + 1).unwrap_or_default(),
            ("primary", _) => return self.primary_weight(label),
            _ => {}
        }
        let of_alternative = |name: &'static str| {
            ROWS.iter()
                .filter(move |row| row.production == production && row.label == name)
        };
        let decide = |row: &Row| if self.holds(row.when) { row.weight } else { row.otherwise };
        let label = ROWS.iter().map(|row| row.label).find(|name| *name == label);
        let mut rows = label.into_iter().flat_map(of_alternative).peekable();
        if rows.peek().is_some() {
            return rows.map(decide).find(|weight| *weight > 0).unwrap_or_default();
        }
        of_alternative("").map(decide).next().unwrap_or(DEFAULT)
    }

    fn holds(&self, when: When) -> bool {
        let is_number = matches!(self.last.ty, Some(Type::Int | Type::Float | Type::Bool));
        match when {
            Always => true,
            InLoop => self.loops > 0,
            HasMacro => self.has_macro(),
            HasNamespace => self.has_namespace(),
            AfterFunction => self.last.callee.is_some(),
            AfterBool => self.last.ty == Some(Type::Bool),
            AfterList => matches!(self.last.ty, Some(Type::List | Type::Tuple)),
            AfterContainer => matches!(self.last.ty, Some(Type::List | Type::Tuple | Type::Str | Type::Dict)),
            AfterNumber => is_number,
            AfterOperand => is_number || matches!(self.last.ty, Some(Type::Str | Type::Markup | Type::List | Type::Tuple)),
            AfterFormat => is_number || self.last.ty == Some(Type::Str),
            TakesArguments => self.callee.as_ref().is_some_and(|callee| callee.required > 0),
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

    /// Returns the percentage of times that an optional part is written, or that a repeated part is written once more.
    pub(super) fn chance(&mut self, label: &str) -> usize {
        let within = self.within(0);
        let is_token = within.starts_with(|char: char| char.is_ascii_uppercase());
        let is_argument = self.arguments_written < self.arguments_wanted;
        let is_needed = self.callee.as_ref().is_some_and(|callee| callee.required > 0);
        // Required arguments are written in large templates, too.
        match (within, label) {
            ("positional", _) => return if is_argument { 96 } else { 2 },
            ("arguments", "positional") => return if is_argument { 99 } else { 4 },
            ("filter" | "test", "arguments") => return if is_needed { 94 } else { 25 },
            ("postfix", _) if self.within(1) == "call_block" => return 1,
            ("subscript", _) if label != "," => return 97,
            ("postfix" | "filtered", _) if self.last.callee.is_some() => return 94,
            _ => {}
        }
        if self.is_large() && !is_token {
            return 0;
        }
        let is_number = matches!(self.last.ty, Some(Type::Int | Type::Float | Type::Bool));
        let is_operand = is_number || matches!(self.last.ty, Some(Type::Str | Type::Markup | Type::List | Type::Tuple));
        // Operations are rarer where a value has a purpose, and in deep expressions.
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
            ("postfix", _) => match self.last.ty {
                Some(Type::Dict) if self.last.value.is_some() => 60,
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
