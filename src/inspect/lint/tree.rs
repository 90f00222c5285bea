//! Faults that the tree shows.

use std::collections::{HashMap, HashSet};

use super::Findings;
use super::rules::{
    GENERATION_BLOCK, ITERABLE_TEST, METHODS, NO_GENERATION_PROMPT, PERCENT_FORMAT, PRINTED_CONTAINER, PYTHON_LITERAL,
    PYTHON_METHOD, REPEATED_TEST, SLICE_STEP, SPELLED_BOS, SPLIT_TOKEN, TOJSON_ARGUMENT, UNDEFINED_CALL, UNKNOWN_FILTER,
    UNSET_NAME,
};
use crate::ast::{BinaryOp, Body, Child, Expr, ExprKind, If, Literal, Piece, Stmt, StmtKind, Symbol};
use crate::template::Template;

/// The fields that are lists or objects.
const CONTAINERS: [&str; 5] = ["tool_calls", "parameters", "properties", "function", "arguments"];

/// The variables that are lists.
const LISTS: [&str; 3] = ["tools", "messages", "documents"];

/// Finds the faults that the tree of a template shows. `tokens` are the names and strings of the special tokens.
pub fn inspect(template: &Template, tokens: &[(String, String)], findings: &mut Findings<'_>) {
    let is_given = |name: &str| {
        LISTS.contains(&name)
            || name == "add_generation_prompt"
            || name.ends_with("_token")
            || tokens.iter().any(|(token, _)| token == name)
    };
    let bos = tokens.iter().find(|(name, text)| name == "bos_token" && text.len() > 2);
    let symbols = &template.tree().symbols;
    let mut walk = Walk {
        template,
        findings,
        bos: bos.map(|(_, text)| text.as_str()),
        unset: template.variable_symbols().collect(),
        guarded: HashSet::new(),
        used: HashMap::new(),
        called: HashMap::new(),
        form_tests: 0,
        items: HashSet::new(),
    };
    walk.body(&template.tree().body);
    let Walk {
        unset,
        guarded,
        used,
        called,
        ..
    } = walk;
    for name in unset.into_iter().filter(|name| !guarded.contains(name)) {
        if let Some(at) = called.get(&name) {
            findings.add(&UNDEFINED_CALL, *at, symbols.name(name));
        } else if let Some(at) = used.get(&name).filter(|_| !is_given(symbols.name(name))) {
            findings.add(&UNSET_NAME, *at, symbols.name(name));
        }
    }
    let is_chat = find_message_loop(template).is_some();
    if is_chat && symbols.find("add_generation_prompt").is_none() {
        findings.add(&NO_GENERATION_PROMPT, 0, "");
    }
}

/// Returns the offset of the first loop over the messages.
pub fn find_message_loop(template: &Template) -> Option<u32> {
    let tree = template.tree();
    let mut found = None;
    tree.body.for_each_stmt(&mut |stmt| {
        if let StmtKind::For(node) = &stmt.kind {
            node.iter.for_each_name(&mut |name| {
                if tree.symbols.name(name.symbol).contains("messages") {
                    found.get_or_insert(stmt.at);
                }
            });
        }
    });
    found
}

struct Walk<'t, 'f, 's> {
    template: &'t Template,
    findings: &'f mut Findings<'s>,
    /// The text of the BOS token.
    bos: Option<&'t str>,
    /// The names that the template reads and does not set.
    unset: Vec<Symbol>,
    /// The names that are tested or have a default.
    guarded: HashSet<Symbol>,
    /// The names that are used for their value, each with the offset of the first use.
    used: HashMap<Symbol, u32>,
    /// The names that are called, each with the offset of the first call.
    called: HashMap<Symbol, u32>,
    /// The number of conditions around the current node that test whether a value is a string or an object.
    form_tests: usize,
    /// The variables of loops over `tools`.
    items: HashSet<Symbol>,
}

impl Walk<'_, '_, '_> {
    fn body(&mut self, body: &Body) {
        body.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Output(node) => self.output(&node.pieces),
            StmtKind::If(node) => return self.choice(node),
            StmtKind::For(node) => {
                if let (Some(name), ExprKind::Name(list)) = (first_name(stmt), &node.iter.kind) {
                    if self.name(list.symbol) == "tools" {
                        self.items.insert(name);
                    }
                }
            }
            StmtKind::Generation(_) => self.findings.add(&GENERATION_BLOCK, stmt.span.start, ""),
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Expr(expr) => self.expr(expr, matches!(stmt.kind, StmtKind::Output(_))),
            Child::Body(body) => self.body(body),
            _ => {}
        });
    }

    /// Checks the conditions and the bodies of an `if`.
    fn choice(&mut self, node: &If) {
        let source = self.template.source();
        let tests_form = node.arms.iter().any(|arm| tests_form(&arm.test));
        self.form_tests += usize::from(tests_form);
        let mut earlier = HashSet::new();
        for arm in &node.arms {
            let test = source.slice(arm.test.span);
            if !earlier.insert(test) {
                self.findings.add(&REPEATED_TEST, arm.test.span.start, test);
            }
            self.guard(&arm.test);
            self.expr(&arm.test, false);
            self.body(&arm.body);
        }
        self.body(&node.otherwise);
        self.form_tests = self.form_tests.saturating_sub(usize::from(tests_form));
    }

    /// Notes the name of a condition, which may be undefined.
    fn guard(&mut self, expr: &Expr) {
        if let ExprKind::Name(name) = &expr.kind {
            self.guarded.insert(name.symbol);
        }
    }

    fn output(&mut self, pieces: &[Piece]) {
        for (index, piece) in pieces.iter().enumerate() {
            match (piece, pieces.get(index + 1)) {
                (Piece::Text { text, at, .. }, Some(Piece::Expr(..))) => self.check_end(text, *at),
                (Piece::Expr(expr), _) => self.check_printed(expr),
                _ => {}
            }
            if let (Piece::Text { text, at, .. }, Some(bos)) = (piece, self.bos) {
                if text.contains(bos) {
                    self.findings.add(&SPELLED_BOS, *at, "");
                }
            }
        }
    }

    /// Checks whether the text before a printed value begins a control token, as in `<|{{ message.role }}|>`.
    fn check_end(&mut self, text: &str, at: u32) {
        if let Some((_, token)) = text.rsplit_once("<|") {
            let is_open = !token.contains("|>") && token.chars().all(|char| char.is_alphanumeric() || char == '_');
            if is_open {
                self.findings.add(&SPLIT_TOKEN, at, &format!("<|{token}"));
            }
        }
    }

    /// Checks whether a value that is printed is a list or an object.
    fn check_printed(&mut self, expr: &Expr) {
        let name = match &expr.kind {
            ExprKind::Name(name) if self.items.contains(&name.symbol) || LISTS.contains(&self.name(name.symbol)) => true,
            ExprKind::Attribute(node) => CONTAINERS.contains(&&*node.name),
            ExprKind::Item(operands) => {
                let [_, key] = &**operands;
                matches!(&key.kind, ExprKind::Literal(Literal::Str(key)) if CONTAINERS.contains(&&**key))
            }
            ExprKind::Filter(filter) if &*filter.name == "string" => {
                filter.input.iter().for_each(|input| self.check_printed(input));
                false
            }
            ExprKind::Concat(parts) => {
                parts.iter().for_each(|part| self.check_printed(part));
                false
            }
            _ => false,
        };
        if name && self.form_tests == 0 {
            let text = self.template.source().slice(expr.span).to_owned();
            self.findings.add(&PRINTED_CONTAINER, expr.span.start, &text);
        }
    }

    fn name(&self, name: Symbol) -> &str {
        self.template.tree().symbols.name(name)
    }

    /// Checks an expression and its parts. `is_used` tells whether an output or an operation uses its value.
    fn expr(&mut self, expr: &Expr, is_used: bool) {
        let source = self.template.source();
        match &expr.kind {
            ExprKind::Literal(Literal::Bool(_) | Literal::None) => {
                let text = source.slice(expr.span);
                if ["True", "False", "None"].contains(&text) {
                    self.findings.add(&PYTHON_LITERAL, expr.span.start, text);
                }
            }
            ExprKind::Name(name) if is_used => {
                self.used.entry(name.symbol).or_insert(expr.span.start);
            }
            ExprKind::Slice(slice) if slice.step.is_some() => {
                self.findings.add(&SLICE_STEP, expr.span.start, source.slice(expr.span));
            }
            ExprKind::Binary(BinaryOp::Mod, operands) => {
                let [left, _] = &**operands;
                if matches!(left.kind, ExprKind::Literal(Literal::Str(_))) {
                    self.findings.add(&PERCENT_FORMAT, expr.at, "");
                }
            }
            ExprKind::Binary(BinaryOp::Add, operands) => {
                let [left, _] = &**operands;
                self.check_literal_end(left);
            }
            ExprKind::Concat(parts) => {
                let before = parts.len().saturating_sub(1);
                parts.iter().take(before).for_each(|part| self.check_literal_end(part));
            }
            ExprKind::Filter(filter) => {
                if filter.builtin.is_none() {
                    self.findings.add(&UNKNOWN_FILTER, expr.at, &filter.name);
                }
                if let (true, Some(others)) = (&*filter.name == "tojson", &filter.args.others) {
                    for keyword in others.keywords.iter().filter(|keyword| &*keyword.name != "indent") {
                        self.findings.add(&TOJSON_ARGUMENT, keyword.value.span.start, &keyword.name);
                    }
                }
                if let (true, Some(input)) = (["default", "d"].contains(&&*filter.name), &filter.input) {
                    input.for_each_name(&mut |name| {
                        self.guarded.insert(name.symbol);
                    });
                }
            }
            ExprKind::Test(test) => {
                if test.builtin.is_none() {
                    self.findings.add(&UNKNOWN_FILTER, expr.at, &test.name);
                }
                if let (ExprKind::Name(name), "iterable") = (&test.input.kind, &*test.name) {
                    let list = LISTS.iter().find(|list| **list == self.name(name.symbol));
                    list.iter()
                        .for_each(|list| self.findings.add(&ITERABLE_TEST, expr.span.start, list));
                }
                test.input.for_each_name(&mut |name| {
                    self.guarded.insert(name.symbol);
                });
            }
            ExprKind::Call(call) => {
                if let ExprKind::Name(name) = &call.callee.kind {
                    self.called.entry(name.symbol).or_insert(expr.span.start);
                }
                if let ExprKind::Attribute(node) = &call.callee.kind {
                    let method = METHODS.iter().find(|(name, _)| *name == &*node.name);
                    if let Some((name, instead)) = method {
                        self.findings
                            .add_with(&PYTHON_METHOD, node.object.span.end.saturating_add(1), name, instead);
                    }
                }
            }
            ExprKind::Logic(_, operands) => operands.iter().for_each(|operand| self.guard(operand)),
            ExprKind::Conditional(node) => self.guard(&node.test),
            _ => {}
        }
        let uses_parts = matches!(
            expr.kind,
            ExprKind::Binary(..) | ExprKind::Concat(_) | ExprKind::Attribute(_) | ExprKind::Filter(_)
        );
        expr.for_each_child(&mut |child| self.expr(child, uses_parts));
    }

    fn check_literal_end(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(Literal::Str(text)) => self.check_end(text, expr.span.start),
            ExprKind::Binary(BinaryOp::Add, operands) => {
                let [_, right] = &**operands;
                self.check_literal_end(right);
            }
            _ => {}
        }
    }
}

/// Returns the first variable of a loop.
fn first_name(stmt: &Stmt) -> Option<Symbol> {
    let StmtKind::For(node) = &stmt.kind else { return None };
    let mut found = None;
    node.target.for_each_name(&mut |_, name| found = found.or(Some(name)));
    found
}

/// Returns whether a condition tests the form of a value.
fn tests_form(expr: &Expr) -> bool {
    if let ExprKind::Test(test) = &expr.kind {
        return ["string", "mapping", "iterable", "sequence"].contains(&&*test.name);
    }
    let mut found = false;
    expr.for_each_child(&mut |child| found |= tests_form(child));
    found
}
