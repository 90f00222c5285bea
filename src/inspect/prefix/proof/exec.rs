//! Executes statements for one of the two renders.

use std::rc::Rc;

use super::Prover;
use super::messages::Round;
use super::reads::Reads;
use super::state::{Place, State};
use super::terms::{Node, Term};
use crate::ast::{Args, Body, Call, For, If, Macro, Piece, Stmt, StmtKind, Target, TargetKind};

/// The maximum number of nested macros whose code is executed, and of nested loops whose first round is executed on its own.
const MAX_CALLS: usize = 6;

/// The maximum number of values that a part of the template may read, also through macros.
const MAX_INPUTS: usize = 1000;

/// The maximum number of parameters of a macro whose code is executed.
const MAX_PARAMETERS: usize = 100;

impl<'t> Prover<'t> {
    pub fn exec(&mut self, stmts: &'t [Stmt], state: &mut State) {
        for stmt in stmts {
            if state.is_dead || self.has_given_up {
                return;
            }
            let stopped = state.stopped.unwrap_or_else(|| self.terms.bool(false));
            self.branch(stopped, state, |prover, is_stopped, state| {
                if !is_stopped {
                    state.stopped = None;
                    prover.stmt(stmt, state);
                }
                stopped
            });
        }
    }

    pub fn stmt(&mut self, stmt: &'t Stmt, state: &mut State) {
        self.charge(state.values() / 32 + 1);
        match &stmt.kind {
            StmtKind::Output(node) => {
                for piece in &node.pieces {
                    let text = match piece {
                        Piece::Text { text, .. } => self.terms.text(text),
                        Piece::Expr(expr) => {
                            let value = self.eval(expr, state);
                            self.printed(value)
                        }
                    };
                    if *self.terms.get(text) != Node::Str("".into()) {
                        state.out.push(text);
                    }
                }
            }
            StmtKind::If(node) => self.choose(node, 0, state),
            StmtKind::Set(node) => {
                let value = self.eval(&node.value, state);
                self.assign(&node.target, value, state);
            }
            StmtKind::SetBlock(node) => {
                self.captured = self.capture(&node.body, state);
                let text = node.filter.as_ref().map(|filter| self.eval(filter, state));
                self.assign(&node.target, text.unwrap_or(self.captured), state);
            }
            StmtKind::For(node) => {
                let list = self.eval(&node.iter, state);
                self.repeat(node, list, state);
            }
            StmtKind::Macro(node) => {
                let index = self.add_macro(node, state.depth());
                if let Some(name) = node.name {
                    let term = self.terms.add(Node::Macro(index));
                    state.set(Place::Variable(name), term);
                }
            }
            StmtKind::Generation(node) => {
                state.open_scope();
                self.exec(&node.body.stmts, state);
                state.close_scope();
            }
            StmtKind::FilterBlock(node) => {
                self.captured = self.capture(&node.body, state);
                let value = self.eval(&node.filter, state);
                state.out.push(self.printed(value));
            }
            StmtKind::Break | StmtKind::Continue => state.stopped = Some(self.terms.bool(true)),
            StmtKind::CallBlock(_) | StmtKind::With(_) | StmtKind::Unsupported(_) => {
                self.give_up();
            }
        }
    }

    /// Executes an `if` from one of its arms on.
    fn choose(&mut self, node: &'t If, arm: usize, state: &mut State) {
        let Some(current) = node.arms.get(arm) else {
            return self.exec(&node.otherwise.stmts, state);
        };
        let test = self.eval(&current.test, state);
        if state.is_dead || self.has_given_up {
            return;
        }
        self.branch(test, state, |prover, truth, state| {
            match truth {
                true => prover.exec(&current.body.stmts, state),
                false => prover.choose(node, arm + 1, state),
            }
            test
        });
    }

    /// Executes a body, and returns what it prints.
    fn capture(&mut self, body: &'t Body, state: &mut State) -> Term {
        let outer = std::mem::take(&mut state.out);
        state.open_scope();
        self.exec(&body.stmts, state);
        state.close_scope();
        let text = std::mem::replace(&mut state.out, outer);
        self.terms.concat(&text)
    }

    pub fn assign(&mut self, target: &Target, value: Term, state: &mut State) {
        self.terms.spend(state.values() / 4);
        match &target.kind {
            TargetKind::Name { symbol, .. } => state.set(Place::Variable(*symbol), value),
            TargetKind::Attribute { object, name, .. } => match state.find(*object).map(|object| self.terms.get(object).clone()) {
                Some(Node::Namespace(address)) => state.set(Place::Attribute(address, (**name).into()), value),
                _ => {
                    self.give_up();
                }
            },
            TargetKind::Tuple(targets) => {
                for (index, target) in targets.iter().enumerate() {
                    let item = self.terms.apply("unpack", &index.to_string(), vec![value]);
                    self.assign(target, item, state);
                }
            }
        }
    }

    /// Executes a loop without executing its rounds: what it prints and assigns is an unknown function of all that it reads.
    fn repeat(&mut self, node: &'t For, list: Term, state: &mut State) {
        if node.recursive {
            self.give_up();
        }
        let is_empty = match self.terms.get(list) {
            Node::List(items) => items.is_empty(),
            node => matches!(node, Node::Undefined),
        };
        if is_empty {
            return self.exec(&node.otherwise.stmts, state);
        }
        let reads = self.reads_of(node);
        let mut inputs = vec![list];
        self.add_inputs(&reads, state, &mut inputs, 0);
        let address = std::ptr::from_ref(node) as usize;
        let before = (self.peels && reads.prints).then(|| self.fork(state));
        for (object, name) in &reads.assigned {
            self.terms.spend((inputs.len() + state.values()) / 4);
            match state.find(*object).map(|object| self.terms.get(object).clone()) {
                Some(Node::Namespace(space)) => {
                    let value = self
                        .terms
                        .apply_node("loop attribute", &format!("{space} {name}"), address, inputs.clone());
                    state.set(Place::Attribute(space, Rc::clone(name)), value);
                }
                // A namespace that the loop makes for itself.
                _ if reads.makes.contains(object) => {}
                _ => {
                    self.give_up();
                }
            }
        }
        if reads.prints {
            let text = self.terms.apply_node("output", "loop", address, inputs);
            let first = before.and_then(|before| self.peel(node, list, before));
            let Some(first) = first else {
                state.out.push(text);
                return;
            };
            let empty = self.terms.text("");
            let rest = self.terms.apply("output", "rounds after the first", vec![text]);
            let text = self.terms.concat(&[first, rest]);
            let text = match self.terms.decide(list, &state.facts) {
                Some(true) => text,
                _ => self.terms.choice(list, text, empty),
            };
            state.out.push(text);
        }
    }

    /// Executes the first round of a loop, and returns what it prints.
    fn peel(&mut self, node: &'t For, list: Term, mut state: State) -> Option<Term> {
        if self.rounds.len() > MAX_CALLS || node.test.is_some() {
            return None;
        }
        let zero = self.terms.add(Node::Int(0));
        let undefined = self.terms.add(Node::Undefined);
        let item = self.terms.apply("first", "", vec![list]);
        let after = self.terms.fresh();
        let round = Round {
            item,
            index: [zero; 2],
            length: [self.terms.lone(); 2],
            is_last: [self.terms.lone(); 2],
            before: [undefined; 2],
            after: [after; 2],
            ..Round::default()
        };
        self.all_rounds.push(round);
        let variable = self.terms.add(Node::Loop(self.all_rounds.len().saturating_sub(1)));
        state.out.clear();
        state.stopped = None;
        state.open_scope();
        self.assign(&node.target, item, &mut state);
        if let Some(name) = self.tree.symbols.find("loop") {
            state.set(Place::Variable(name), variable);
        }
        self.exec(&node.body.stmts, &mut state);
        (!state.is_dead).then(|| self.terms.concat(&state.out))
    }

    /// Adds the values that a part of the template reads to a list, also those that the macros read that it calls.
    pub fn add_inputs(&mut self, reads: &Reads, state: &State, inputs: &mut Vec<Term>, depth: usize) {
        if reads.is_large() || inputs.len() > MAX_INPUTS {
            self.give_up();
            return;
        }
        for name in &reads.names {
            self.terms.spend((inputs.len() + state.values()) / 4);
            let term = match state.find(*name) {
                Some(term) => term,
                None => match self.tree.symbols.name(*name) {
                    "loop" | "caller" | "varargs" | "kwargs" => continue,
                    _ => self.name(*name, state),
                },
            };
            if inputs.contains(&term) {
                continue;
            }
            inputs.push(term);
            match *self.terms.get(term) {
                Node::Namespace(address) => inputs.extend(state.attributes(address)),
                Node::Macro(index) => {
                    let Some(reads) = self.macro_reads(index) else { continue };
                    if reads.assigns_foreign() || depth > MAX_CALLS {
                        self.give_up();
                    }
                    self.add_inputs(&reads, state, inputs, depth + 1);
                }
                Node::Loop(index) => {
                    let side = usize::from(state.is_longer);
                    if let Some(round) = self.all_rounds.get(index) {
                        let pairs = [round.index, round.length, round.is_last, round.before, round.after];
                        inputs.extend(pairs.iter().filter_map(|pair| pair.get(side)));
                    }
                }
                _ => {}
            }
        }
    }

    pub fn make_namespace(&mut self, call: &'t Call, address: usize, state: &mut State) -> Term {
        if !call.args.positional.is_empty() || has_stars(&call.args) {
            self.give_up();
        }
        let mut attributes = Vec::new();
        for keyword in call.args.others.iter().flat_map(|others| &others.keywords) {
            attributes.push((&keyword.name, self.eval(&keyword.value, state)));
        }
        self.terms.spend(state.values() / 4);
        state.clear(address);
        for (name, value) in attributes {
            state.set(Place::Attribute(address, (**name).into()), value);
        }
        self.terms.add(Node::Namespace(address))
    }

    /// Calls a macro. The result of one that calls itself is an unknown function of all that it reads.
    pub fn call_macro(&mut self, index: usize, args: &'t Args, state: &mut State) -> Term {
        let values = self.args(args, state);
        let Some((node, depth)) = self.macros.get(index).copied() else {
            return self.give_up();
        };
        let Some(reads) = self.macro_reads(index) else {
            return self.give_up();
        };
        self.charge(1);
        if self.calls.contains(&index) || self.calls.len() > MAX_CALLS {
            if reads.assigns_foreign() {
                return self.give_up();
            }
            let mut inputs = values;
            self.add_inputs(&reads, state, &mut inputs, 0);
            return self.terms.apply_node("macro", "", std::ptr::from_ref(node) as usize, inputs);
        }
        let (positional, others) = values.split_at(args.positional.len().min(values.len()));
        let count = node.parameters.len();
        if has_stars(args) || node.specials.iter().any(Option::is_some) || positional.len() > count || count > MAX_PARAMETERS {
            return self.give_up();
        }
        let hidden = state.hide_scopes(depth);
        state.open_scope();
        for (position, parameter) in node.parameters.iter().enumerate() {
            let name = self.tree.symbols.name(parameter.symbol);
            let named = || {
                others.iter().find_map(|term| match self.terms.get(*term) {
                    Node::Apply(operation, values) if &*operation.name == name => values.first().copied(),
                    _ => None,
                })
            };
            let value = match (positional.get(position).copied().or_else(named), &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.eval(default, state),
                (None, None) => self.terms.add(Node::Undefined),
            };
            state.set(Place::Variable(parameter.symbol), value);
        }
        self.calls.push(index);
        let (outer, stopped) = (std::mem::take(&mut state.out), state.stopped.take());
        self.exec(&node.body.stmts, state);
        let text = std::mem::replace(&mut state.out, outer);
        state.stopped = stopped;
        self.calls.pop();
        state.close_scope();
        state.restore_scopes(hidden);
        self.terms.concat(&text)
    }

    fn add_macro(&mut self, node: &'t Macro, depth: usize) -> usize {
        self.terms.spend(self.macros.len() / 4);
        let known = self.macros.iter().position(|(other, _)| std::ptr::eq(*other, node));
        known.unwrap_or_else(|| {
            self.macros.push((node, depth));
            self.macros.len() - 1
        })
    }

    /// Returns whether an `if` contains a loop whose list is, as far as the source shows, made of messages.
    pub fn repeats_messages(&mut self, stmt: &'t Stmt, state: &State) -> bool {
        let StmtKind::If(node) = &stmt.kind else { return false };
        self.terms.spend(1);
        let bodies = node.arms.iter().map(|arm| &arm.body).chain([&node.otherwise]);
        let mut stmts = bodies.flat_map(|body| &body.stmts);
        stmts.any(|stmt| match &stmt.kind {
            StmtKind::For(node) => {
                let mut found = false;
                node.iter.for_each_name(&mut |name| {
                    self.terms.spend(state.values() / 4);
                    let value = state.find(name.symbol);
                    found |=
                        value.is_some_and(|value| self.terms.varies(value)) || self.tree.symbols.name(name.symbol) == "messages";
                    found |= value.is_none() && self.assigned.contains(&name.symbol);
                });
                found
            }
            StmtKind::If(_) => self.repeats_messages(stmt, state),
            _ => false,
        })
    }
}

/// Returns whether a call passes arguments by `*` or `**`.
fn has_stars(args: &Args) -> bool {
    let others = args.others.as_ref();
    others.is_some_and(|others| others.star.is_some() || others.double_star.is_some())
}
