//! Finds the variables and the fields that the source of a template reads.
//!
//! ```text
//! {% for m in messages %}{% for c in m.tool_calls %}{{ c.function.name }}…   ->   messages: tool_calls; calls: function, function.name
//! ```
//!
//! The names of messages, calls and tools are followed through loops, assignments, slices, filters that keep items, and macros.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::experiments::{Budget, Experiments, NOTE};
use crate::ast::{
    Args, Body, Call, Child, CompareOp, Expr, ExprKind, Filter, Literal, Macro, Stmt, StmtKind, Symbol, Target, TargetKind,
};
use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::report::{Read, Reads};
use crate::template::Template;
use crate::text::message::elide;

/// The maximum work of the walks through all templates: each node takes [`NODE`], each place of a value one, and each byte of the path of a
/// field one. The largest real template has some ten thousand nodes.
const MAX_WORK: u64 = 1_000_000;

/// The work of a node.
const NODE: usize = 10;

/// The number of steps that each name of a template costs when the names are listed.
const STEPS_FOR_A_NAME: u64 = 10;

/// The maximum number of calls of a macro that are walked through. A macro that writes a schema calls itself for each part.
const MAX_CALLS: usize = 6;

/// The length in bytes from which a path or the name of a field is not extended by a field. The sign `[]`, for an item, extends a path up
/// to twice this length.
const MAX_PATH: usize = 60;

/// The maximum number of code points of a template's name. Each read has a copy of it.
const LONGEST_NAME: usize = 200;

/// The list of the input that a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Root {
    Messages,
    Calls,
    Tools,
}

/// A place in the input: a list of messages, calls or tools, or a field of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    root: Root,
    /// The path of the field in the item, which is empty for the item itself; `None` for the list.
    path: Option<Rc<str>>,
}

type Places = BTreeSet<Place>;

impl Place {
    /// Returns whether this is an item of a list, such as a message or a part of its content.
    fn is_item(&self) -> bool {
        self.path
            .as_deref()
            .is_some_and(|path| path.is_empty() || path.ends_with("[]"))
    }

    /// Returns the place of the items of this place, unless its path is too long to be followed.
    fn item(&self) -> Option<Self> {
        let path = match self.path.as_deref() {
            None => "".into(),
            Some(path) if path.len() < 2 * MAX_PATH => format!("{path}[]").into(),
            Some(_) => return None,
        };
        let (root, path) = (self.root, Some(path));
        Some(Self { root, path })
    }
}

/// Returns what the templates read, or an error if listing the names, which nothing stops, would end after the deadline.
pub fn find(template: &ChatTemplate, experiments: &Experiments<'_>) -> Result<Reads> {
    let names = template.names();
    let mut reads = Reads::default();
    let mut budget = experiments.budget(MAX_WORK);
    let mut meter = experiments.meter(u64::MAX);
    for (index, compiled) in template.compiled().enumerate() {
        let name = elide(names.get(index).copied().unwrap_or_default(), LONGEST_NAME);
        let mut walk = Walk::new(compiled, &mut budget);
        walk.body(&compiled.tree().body);
        let symbols = &compiled.tree().symbols;
        let steps = STEPS_FOR_A_NAME.saturating_mul(symbols.all().count() as u64);
        meter.charge(steps).map_err(|error| error.with_note(NOTE))?;
        let list = |found: HashMap<Rc<str>, usize>| {
            let mut list: Vec<_> = found.into_iter().map(|(field, line)| (line, field)).collect();
            list.sort_unstable();
            let reads = list.into_iter().map(|(line, field)| Read {
                name: (*field).to_owned(),
                line,
                template: name.to_string(),
            });
            reads.collect::<Vec<_>>()
        };
        let line_of = |symbol| Some((symbols.name(symbol).into(), *walk.names.get(&symbol)?));
        reads
            .variables
            .extend(list(compiled.variable_symbols().filter_map(line_of).collect()));
        reads
            .clock
            .extend(list(symbols.find("strftime_now").into_iter().filter_map(line_of).collect()));
        let mut list_fields = |root| list(walk.fields.remove(&root).unwrap_or_default());
        reads.messages.extend(list_fields(Root::Messages));
        reads.calls.extend(list_fields(Root::Calls));
        reads.tools.extend(list_fields(Root::Tools));
    }
    Ok(reads)
}

/// Returns a copy of the places that a variable may hold. Without work left there are none.
fn copy_places(budget: &mut Budget<'_>, places: Option<&Places>) -> Places {
    let places = places.filter(|places| budget.spend(places.len() + 1));
    places.cloned().unwrap_or_default()
}

/// A walk through a template that knows which variables hold which places.
struct Walk<'t, 'b> {
    template: &'t Template,
    /// The places that each variable may hold.
    variables: HashMap<Symbol, Places>,
    /// The places that each attribute of a namespace may hold.
    attributes: HashMap<&'t str, Places>,
    /// What variables held before the scopes around the current statement set them.
    hidden: Vec<(Symbol, Option<Places>)>,
    macros: HashMap<Symbol, &'t Macro>,
    /// The arguments with which each macro was walked through.
    called: HashMap<Symbol, HashSet<Vec<Places>>>,
    /// The lowest line on which each name occurs.
    names: HashMap<Symbol, usize>,
    fields: HashMap<Root, HashMap<Rc<str>, usize>>,
    /// Counts the nodes and places, and measures the stack that nested calls of macros take.
    budget: &'b mut Budget<'t>,
}

impl<'t, 'b> Walk<'t, 'b> {
    fn new(template: &'t Template, budget: &'b mut Budget<'t>) -> Self {
        let root = |name: &str, root| {
            let symbol = template.tree().symbols.find(name)?;
            Some((symbol, Places::from([Place { root, path: None }])))
        };
        let roots = [root("messages", Root::Messages), root("tools", Root::Tools)];
        Self {
            template,
            variables: roots.into_iter().flatten().collect(),
            attributes: HashMap::new(),
            hidden: Vec::new(),
            macros: HashMap::new(),
            called: HashMap::new(),
            names: HashMap::new(),
            fields: HashMap::new(),
            budget,
        }
    }

    fn line(&self, expr: &Expr) -> usize {
        self.template.source().line(expr.at) as usize
    }

    fn body(&mut self, body: &'t Body) {
        body.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// Walks through statements in a scope: their assignments are undone after them.
    fn scope(&mut self, walk: impl FnOnce(&mut Self)) {
        let depth = self.hidden.len();
        walk(self);
        for (symbol, places) in self.hidden.split_off(depth).into_iter().rev() {
            match places {
                Some(places) => drop(self.variables.insert(symbol, places)),
                None => drop(self.variables.remove(&symbol)),
            }
        }
    }

    /// Counts a node, and returns whether it may be visited.
    fn may_enter(&mut self) -> bool {
        self.budget.spend(NODE) && self.budget.has_stack()
    }

    /// Walks through a statement and its bodies.
    fn stmt(&mut self, stmt: &'t Stmt) {
        if !self.may_enter() {
            return;
        }
        match &stmt.kind {
            StmtKind::For(node) => {
                let items = self.expr(&node.iter).iter().filter_map(Place::item).collect();
                self.scope(|walk| {
                    walk.bind(&node.target, items);
                    if let Some(test) = &node.test {
                        walk.expr(&test.condition);
                    }
                    walk.body(&node.body);
                });
                self.scope(|walk| walk.body(&node.otherwise));
            }
            StmtKind::If(node) => {
                let mut merged: HashMap<Symbol, Places> = HashMap::new();
                let arms = node.arms.iter().map(|arm| (Some(&arm.test), &arm.body));
                for (test, body) in arms.chain([(None, &node.otherwise)]) {
                    test.into_iter().for_each(|test| drop(self.expr(test)));
                    let depth = self.hidden.len();
                    self.body(body);
                    // What one branch sets may still be set after the statement.
                    for (symbol, _) in self.hidden.get(depth..).unwrap_or_default() {
                        if !self.budget.spend(NODE) {
                            break;
                        }
                        let places = copy_places(self.budget, self.variables.get(symbol));
                        merged.entry(*symbol).or_default().extend(places);
                    }
                }
                for (symbol, places) in merged {
                    self.variables.entry(symbol).or_default().extend(places);
                }
            }
            StmtKind::Set(node) => {
                let places = self.expr(&node.value);
                self.bind(&node.target, places);
            }
            StmtKind::SetBlock(node) => {
                self.scope(|walk| walk.body(&node.body));
                node.filter.iter().for_each(|filter| drop(self.expr(filter)));
                self.bind(&node.target, Places::new());
            }
            StmtKind::Macro(node) | StmtKind::Generation(node) => {
                self.macros.extend(node.name.map(|name| (name, &**node)));
                self.call_macro(node, Vec::new());
            }
            StmtKind::CallBlock(node) => {
                self.expr(&node.callee);
                self.args(&node.args);
                self.call_macro(&node.body, Vec::new());
            }
            StmtKind::With(node) => self.scope(|walk| {
                for (target, value) in &node.bindings {
                    let places = walk.expr(value);
                    walk.bind(target, places);
                }
                walk.body(&node.body);
            }),
            _ => stmt.for_each_child(&mut |child| match child {
                Child::Expr(expr) => drop(self.expr(expr)),
                Child::Body(body) => self.scope(|walk| walk.body(body)),
                _ => {}
            }),
        }
    }

    /// Binds the variables of a target to the places that its value can come from. [`Walk::scope`] restores the earlier ones. Attributes of
    /// the same name share their places, whatever their namespace.
    fn bind(&mut self, target: &'t Target, places: Places) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => {
                let before = self.variables.insert(*symbol, places);
                self.hidden.push((*symbol, before));
            }
            TargetKind::Attribute { name, .. } => self.attributes.entry(name).or_default().extend(places),
            // Of a pair of `items()`, only the value, which comes last, has places.
            TargetKind::Tuple(targets) => {
                if let Some((last, others)) = targets.split_last() {
                    others.iter().for_each(|target| self.bind(target, Places::new()));
                    self.bind(last, places);
                }
            }
        }
    }

    /// Walks through a macro with arguments, unless that was done before.
    fn call_macro(&mut self, node: &'t Macro, arguments: Vec<Places>) {
        if let Some(name) = node.name {
            let calls = self.called.entry(name).or_default();
            if calls.len() >= MAX_CALLS || !calls.insert(arguments.clone()) {
                return;
            }
        }
        self.scope(|walk| {
            let mut arguments = arguments.into_iter();
            for parameter in &node.parameters {
                let default = parameter.default.as_ref().map(|default| walk.expr(default));
                let places = arguments.next().or(default).unwrap_or_default();
                let before = walk.variables.insert(parameter.symbol, places);
                walk.hidden.push((parameter.symbol, before));
            }
            walk.body(&node.body);
        });
    }

    fn args(&mut self, args: &'t Args) -> Vec<Places> {
        if let Some(others) = &args.others {
            let keywords = others.keywords.iter().map(|keyword| &keyword.value);
            for value in keywords.chain(others.star.as_deref()).chain(others.double_star.as_deref()) {
                self.expr(value);
            }
        }
        args.positional.iter().map(|argument| self.expr(argument)).collect()
    }

    /// Returns the places of a field that are followed, and notes that it is read.
    fn field(&mut self, places: &Places, name: &str, line: usize) -> Places {
        let mut found = Places::new();
        for place in places {
            let path: Rc<str> = match place.path.as_deref() {
                None => continue,
                Some("") => name.into(),
                Some(path) if path.len().max(name.len()) < MAX_PATH => format!("{path}.{name}").into(),
                Some(_) => continue,
            };
            if !self.budget.spend(path.len()) {
                break;
            }
            let fields = self.fields.entry(place.root).or_default();
            let known = fields.entry(Rc::clone(&path)).or_insert(line);
            *known = line.min(*known);
            if name.len() < MAX_PATH {
                let (root, path) = match (place.root, &*path) {
                    (Root::Messages, "tool_calls") => (Root::Calls, None),
                    (root, _) => (root, Some(path)),
                };
                found.insert(Place { root, path });
            }
        }
        found
    }

    /// Records a read of the field that an argument names.
    fn named_field(&mut self, places: &Places, name: &Expr) {
        if let ExprKind::Literal(Literal::Str(text)) = &name.kind {
            self.field(places, text, self.line(name));
        }
    }

    /// Walks through an expression, and returns the places that its value may be. Without work left there are none.
    fn expr(&mut self, expr: &'t Expr) -> Places {
        if !self.may_enter() {
            return Places::new();
        }
        let places = self.find_places(expr);
        let is_allowed = self.budget.spend(places.len());
        if is_allowed { places } else { Places::new() }
    }

    /// Walks through the parts of an expression, and returns the places that its value may be.
    fn find_places(&mut self, expr: &'t Expr) -> Places {
        match &expr.kind {
            ExprKind::Name(name) => {
                let line = self.line(expr);
                let known = self.names.entry(name.symbol).or_insert(line);
                *known = line.min(*known);
                copy_places(self.budget, self.variables.get(&name.symbol))
            }
            ExprKind::Attribute(attribute) => {
                let object = self.expr(&attribute.object);
                let mut places = self.field(&object, &attribute.name, self.line(expr));
                places.extend(copy_places(self.budget, self.attributes.get(&*attribute.name)));
                places
            }
            ExprKind::Item(operands) => {
                let [object, index] = &**operands;
                let object = self.expr(object);
                match &index.kind {
                    ExprKind::Literal(Literal::Str(name)) => self.field(&object, name, self.line(expr)),
                    _ => {
                        self.expr(index);
                        object.iter().filter_map(Place::item).collect()
                    }
                }
            }
            ExprKind::Slice(slice) => {
                for bound in [&slice.start, &slice.stop, &slice.step].into_iter().flatten() {
                    self.expr(bound);
                }
                self.expr(&slice.object)
            }
            ExprKind::Conditional(node) => {
                self.expr(&node.test);
                let branches = [Some(&node.then), node.otherwise.as_ref()];
                branches.into_iter().flatten().flat_map(|branch| self.expr(branch)).collect()
            }
            ExprKind::Logic(_, operands) => operands.iter().flat_map(|operand| self.expr(operand)).collect(),
            ExprKind::Binary(_, operands) => {
                // A sum of lists has the items of both.
                let places = operands.iter().flat_map(|operand| self.expr(operand));
                places.filter(|place| place.path.is_none()).collect()
            }
            ExprKind::Compare(compare) => {
                let mut left = &compare.first;
                self.expr(left);
                for (operator, right) in compare.links() {
                    let places = self.expr(right);
                    if let (CompareOp::In | CompareOp::NotIn, ExprKind::Literal(Literal::Str(name))) = (operator, &left.kind) {
                        let items = places.iter().filter(|place| place.is_item()).cloned().collect();
                        self.field(&items, name, self.line(expr));
                    }
                    left = right;
                }
                Places::new()
            }
            ExprKind::Filter(filter) => self.filter(filter),
            ExprKind::Call(call) => self.call(call, self.line(expr)),
            _ => {
                expr.for_each_child(&mut |child| drop(self.expr(child)));
                Places::new()
            }
        }
    }

    /// Walks through a filter, and returns the places that its result may be.
    fn filter(&mut self, filter: &'t Filter) -> Places {
        let mut input = filter.input.as_ref().map(|input| self.expr(input)).unwrap_or_default();
        let arguments = self.args(&filter.args);
        let items: Places = input.iter().filter_map(Place::item).collect();
        match &*filter.name {
            "selectattr" | "rejectattr" => {
                if let Some(argument) = filter.args.positional.first() {
                    self.named_field(&items, argument);
                }
                input
            }
            "map" => {
                let keywords = filter.args.others.iter().flat_map(|others| &others.keywords);
                for keyword in keywords.filter(|keyword| &*keyword.name == "attribute") {
                    self.named_field(&items, &keyword.value);
                }
                Places::new()
            }
            "default" | "d" => {
                input.extend(arguments.into_iter().flatten());
                input
            }
            "list" | "reverse" | "sort" | "select" | "reject" | "unique" | "items" => input,
            "first" | "last" => items,
            _ => Places::new(),
        }
    }

    /// Walks through a call, and returns the places that its result may be.
    fn call(&mut self, call: &'t Call, line: usize) -> Places {
        let ExprKind::Attribute(method) = &call.callee.kind else {
            self.expr(&call.callee);
            let arguments = self.args(&call.args);
            let ExprKind::Name(name) = &call.callee.kind else {
                return Places::new();
            };
            let node = self.macros.get(&name.symbol).copied();
            if let Some(node) = node.filter(|_| arguments.iter().any(|places| !places.is_empty())) {
                self.call_macro(node, arguments);
            }
            return Places::new();
        };
        let object = self.expr(&method.object);
        self.args(&call.args);
        match (&*method.name, call.args.positional.first().map(|argument| &argument.kind)) {
            ("get", Some(ExprKind::Literal(Literal::Str(name)))) => self.field(&object, name, line),
            ("items" | "values", _) => object,
            _ => Places::new(),
        }
    }
}
