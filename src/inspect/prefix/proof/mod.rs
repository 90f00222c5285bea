//! Proves that the prompt of a conversation is a prefix of that of the longer one.
//!
//! The template is executed for both conversations with unknown messages. Statements before and between loops over messages must print the
//! same in both. After a loop in which the longer conversation may have printed more, what the shorter one still prints must be a prefix of
//! what the longer one prints.

mod compare;
mod eval;
mod exec;
mod facts;
mod functions;
mod messages;
mod reads;
mod relate;
mod rounds;
mod state;
mod terms;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexSet;

use self::compare::Relation;
use self::eval::SPREAD;
use self::messages::Round;
use self::reads::Reads;
use self::state::{Place, State};
use self::terms::{Facts, Node, Term, Terms};
use super::Growth;
use crate::ast::{Macro, Stmt, StmtKind, Symbol, Template};
use crate::meter::{Meter, Stack};
use crate::span::Span;

/// The maximum number of expressions and statements that a proof executes.
const MAX_WORK: usize = 60_000;

/// The maximum number of steps of a proof: the values and bytes that its expressions and statements copy and compare.
pub const MAX_STEPS: u64 = 8_000_000;

/// The maximum number of values of a state that is copied. States of real templates have some hundred.
const MAX_VALUES: usize = 10_000;

/// Why no proof was found.
#[derive(Clone, Copy, Debug)]
pub enum Obstacle {
    /// The proof does not understand this expression.
    Expression(Span),
    /// The proof does not understand the template, or has too many steps.
    Size,
    /// The text of an earlier message seems to depend on later ones.
    Text,
}

/// Proves that every prompt stays a prefix when its conversation grows in this way.
pub fn prove<'t>(tree: &'t Template, growth: Growth, meter: Meter<'t>) -> Result<(), Obstacle> {
    let mut prover = Prover::new(tree, growth, meter);
    let start = prover.begin();
    let rest = Rest {
        stmts: &tree.body.stmts,
        next: None,
    };
    let is_proven = prover.drive(&rest, start);
    match prover.may_go_on() {
        true if is_proven => Ok(()),
        true => Err(Obstacle::Text),
        false => Err(prover.obstacle.map_or(Obstacle::Size, Obstacle::Expression)),
    }
}

/// The statements that are still to be executed after the current one, up to the end of the template.
struct Rest<'r, 't> {
    stmts: &'t [Stmt],
    /// The statements to execute after the body ends.
    next: Option<&'r Rest<'r, 't>>,
}

/// A proof for one way in which a conversation grows.
pub struct Prover<'t> {
    tree: &'t Template,
    growth: Growth,
    terms: Terms,
    /// The messages whose roles are known, each with its role.
    roles: Vec<(Term, Term)>,
    macros: Vec<(&'t Macro, usize)>,
    /// The macros that are being executed, the innermost last.
    calls: Vec<usize>,
    /// What each loop and each macro reads, by the address of its node.
    reads: HashMap<usize, Rc<Reads>>,
    /// The rounds of the loops over messages that are being executed.
    rounds: Vec<Round>,
    /// All rounds that the terms mention.
    all_rounds: Vec<Round>,
    /// The names that the template assigns.
    assigned: IndexSet<Symbol>,
    work: usize,
    /// The text of the block whose filters are executed.
    captured: Term,
    /// Whether the first round of a loop is executed separately, so that the beginning of its output is known.
    peels: bool,
    /// Measures the call stack.
    stack: Stack,
    /// Counts the steps, and looks at the time.
    meter: Meter<'t>,
    /// Whether the proof has ended without a result.
    has_given_up: bool,
    /// Whether it was given up because of something that the proof does not understand, and not because of its size.
    is_unclear: bool,
    /// The expression that the proof does not understand.
    obstacle: Option<Span>,
}

impl<'t> Prover<'t> {
    fn new(tree: &'t Template, growth: Growth, meter: Meter<'t>) -> Self {
        Self {
            tree,
            growth,
            terms: Terms::default(),
            roles: Vec::new(),
            macros: Vec::new(),
            calls: Vec::new(),
            reads: HashMap::new(),
            rounds: Vec::new(),
            all_rounds: Vec::new(),
            assigned: Reads::of_body(&tree.body).makes,
            work: 0,
            captured: 0,
            peels: false,
            stack: Stack::for_trees(meter.limits()),
            meter,
            has_given_up: false,
            is_unclear: false,
            obstacle: None,
        }
    }

    /// Returns the states at the beginning of the template, and sets the roles of the last and the appended message.
    fn begin(&mut self) -> [State; 2] {
        let appended = self.terms.add(Node::Appended);
        let last = self.terms.add(Node::Last);
        let role = match self.growth {
            Growth::GenerationPrompt | Growth::Assistant => "assistant",
            Growth::Tool => "tool",
            Growth::User => "user",
        };
        let role = self.terms.text(role);
        self.roles.push((appended, role));
        if self.growth == Growth::User {
            let role = self.terms.text("assistant");
            self.roles.push((last, role));
        }
        let mut states = [State::new(false), State::new(true)];
        for state in &mut states {
            let wants = self.growth == Growth::GenerationPrompt && !state.is_longer;
            let given = [
                ("messages", Node::Messages(state.is_longer, 0)),
                ("add_generation_prompt", Node::Bool(wants)),
            ];
            for (name, value) in given {
                if let Some(name) = self.tree.symbols.find(name) {
                    let value = self.terms.add(value);
                    state.set(Place::Variable(name), value);
                }
            }
            self.assume_role_of_last(last, state);
        }
        states
    }

    /// Adds to the facts which roles the last message of the shorter conversation can have.
    fn assume_role_of_last(&mut self, message: Term, state: &mut State) {
        let (truth, roles): (_, &[&str]) = match self.growth {
            Growth::GenerationPrompt | Growth::Assistant => (false, &["assistant", "system", "developer"]),
            Growth::User => (true, &["assistant"]),
            Growth::Tool => (false, &["user", "system", "developer"]),
        };
        let key = self.terms.text("role");
        let role = self.terms.apply("item", "", vec![message, key]);
        for other in roles {
            let other = self.terms.text(other);
            let is_other = self.terms.equal(role, other);
            self.terms.assume(is_other, truth, &mut state.facts);
        }
    }

    /// Remembers that the template has something that the proof does not understand, and returns an unknown value.
    fn give_up(&mut self) -> Term {
        (self.has_given_up, self.is_unclear) = (true, true);
        self.terms.lone()
    }

    fn charge(&mut self, work: usize) {
        self.work += work;
        self.terms.spend(work);
        if !self.may_go_on() || self.work > MAX_WORK || self.terms.len() > MAX_WORK || self.stack.check().is_err() {
            self.has_given_up = true;
        }
    }

    /// Charges the meter for the work since the last call, and returns whether the proof has not been given up.
    fn may_go_on(&mut self) -> bool {
        let was_too_much = self.terms.is_full || self.terms.is_exhausted();
        let spent = self.terms.take_spent();
        self.has_given_up |= was_too_much || self.meter.charge(spent).is_err();
        !self.has_given_up
    }

    /// Copies a state, so that two paths can begin with it. If the proof was given up, or no memory is left, the copy is empty.
    fn fork(&mut self, state: &State) -> State {
        let values = state.values();
        self.terms.spend(values / 4);
        if values > MAX_VALUES {
            self.has_given_up = true;
        }
        let claim = self.may_go_on().then(|| self.meter.claim(state.bytes()));
        match claim {
            Some(Ok(claim)) => state.copy(claim),
            _ => {
                self.has_given_up = true;
                State::new(state.is_longer)
            }
        }
    }

    /// Executes both branches of a choice, as far as the facts do not decide it. Joins the states after them, and returns the chosen value.
    fn branch(&mut self, test: Term, state: &mut State, mut run: impl FnMut(&mut Self, bool, &mut State) -> Term) -> Term {
        if let Some(truth) = self.terms.decide(test, &state.facts) {
            return run(self, truth, state);
        }
        let [(one, then), (other, otherwise)] = [true, false].map(|truth| {
            let mut branch = self.fork(state);
            self.terms.assume(test, truth, &mut branch.facts);
            (run(self, truth, &mut branch), branch)
        });
        if !self.may_go_on() {
            return one;
        }
        let chosen = match (then.is_dead, otherwise.is_dead) {
            (true, _) => other,
            (_, true) => one,
            _ => self.terms.choice(test, one, other),
        };
        let before = std::mem::replace(state, State::new(state.is_longer));
        *state = before.join(&mut self.terms, test, then, otherwise);
        chosen
    }

    /// Copies the states of both renders.
    fn fork_both(&mut self, states: &[State; 2]) -> [State; 2] {
        states.each_ref().map(|state| self.fork(state))
    }

    /// Assumes that a condition is false, and returns copies of the states for which it is true.
    fn split(&mut self, test: Term, states: &mut [State; 2]) -> [State; 2] {
        let mut chosen = self.fork_both(states);
        for (chosen, other) in chosen.iter_mut().zip(states) {
            self.terms.assume(test, true, &mut chosen.facts);
            self.terms.assume(test, false, &mut other.facts);
        }
        chosen
    }

    /// Executes statements for both renders. Returns whether the text of the shorter conversation is a prefix of the other.
    fn drive(&mut self, rest: &Rest<'_, 't>, mut states: [State; 2]) -> bool {
        let mut stmts = rest.stmts;
        while let Some((stmt, after)) = stmts.split_first() {
            let all = stmts;
            stmts = after;
            self.charge(1);
            if self.has_given_up {
                return false;
            }
            let rest = Rest { stmts, next: rest.next };
            let [one, other] = &mut states;
            match &stmt.kind {
                StmtKind::For(node) => {
                    let lists = [self.eval(&node.iter, one), self.eval(&node.iter, other)];
                    let facts = join_facts(one, other);
                    let lists = lists.map(|list| self.resolve(list, &facts));
                    if let Some(test) = self.find_common_test(lists) {
                        // The list is one or the other list of messages: the rest is executed for each.
                        let rest = Rest {
                            stmts: all,
                            next: rest.next,
                        };
                        let chosen = self.split(test, &mut states);
                        return self.drive(&rest, chosen) && self.drive(&rest, states);
                    }
                    if let Some(shape) = self.find_shape(lists, SPREAD) {
                        let Some(outcome) = self.relate(node, shape, states) else {
                            return false;
                        };
                        for (states, is_exact) in outcome.apart {
                            if !self.finish(&rest, states, is_exact) {
                                return false;
                            }
                        }
                        let Some(together) = outcome.together else { return true };
                        states = together;
                        continue;
                    }
                }
                StmtKind::If(node) if self.repeats_messages(stmt, one) => {
                    return self.drive_if(node, 0, &rest, states);
                }
                _ => {}
            }
            self.stmt(stmt, one);
            self.stmt(stmt, other);
            if one.is_dead || other.is_dead {
                return true;
            }
            let facts = join_facts(one, other);
            let (first, second) = (std::mem::take(&mut one.out), std::mem::take(&mut other.out));
            if !self.are_related(&first, &second, Relation::Equal, &facts) {
                return false;
            }
        }
        rest.next.is_none_or(|next| self.drive(next, states))
    }

    /// Returns the term that a choice has as its value, as far as the facts decide the conditions.
    fn resolve(&self, mut term: Term, facts: &[(Term, bool)]) -> Term {
        while let Node::Choice(test, then, otherwise) = *self.terms.get(term) {
            match self.terms.decide(test, facts) {
                Some(true) => term = then,
                Some(false) => term = otherwise,
                None => break,
            }
        }
        term
    }

    /// Returns the condition that chooses between two lists of messages in both renders.
    fn find_common_test(&self, lists: [Term; 2]) -> Option<Term> {
        match lists.map(|list| self.terms.get(list)) {
            [Node::Choice(test, ..), Node::Choice(other, ..)] if test == other && lists[0] != lists[1] => Some(*test),
            _ => None,
        }
    }

    /// Executes an `if` with a loop over messages in it: each branch on its own, with all that follows.
    fn drive_if(&mut self, node: &'t crate::ast::If, arm: usize, rest: &Rest<'_, 't>, mut states: [State; 2]) -> bool {
        let Some(current) = node.arms.get(arm) else {
            let body = Rest {
                stmts: &node.otherwise.stmts,
                next: Some(rest),
            };
            return self.drive(&body, states);
        };
        let [one, other] = &mut states;
        let (test, other_test) = (self.eval(&current.test, one), self.eval(&current.test, other));
        let facts = join_facts(one, other);
        let decided = [test, other_test].map(|test| self.terms.decide(test, &facts));
        let body = Rest {
            stmts: &current.body.stmts,
            next: Some(rest),
        };
        match decided {
            [Some(true), Some(true)] => self.drive(&body, states),
            [Some(false), Some(false)] => self.drive_if(node, arm + 1, rest, states),
            [None, None] if test == other_test => {
                let taken = self.split(test, &mut states);
                self.drive(&body, taken) && self.drive_if(node, arm + 1, rest, states)
            }
            _ => false,
        }
    }

    /// Executes the statements after a loop in which the longer conversation may have printed more.
    fn finish(&mut self, rest: &Rest<'_, 't>, states: [State; 2], is_exact: bool) -> bool {
        let [mut one, mut other] = states;
        let was_peeling = std::mem::replace(&mut self.peels, true);
        self.exec_rest(rest, &mut one);
        let facts = join_facts(&one, &other);
        let mut is_prefix = one.is_dead || self.are_related(&one.out, &[], Relation::Equal, &facts);
        if !is_prefix && is_exact && !self.has_given_up {
            self.exec_rest(rest, &mut other);
            let facts = join_facts(&one, &other);
            is_prefix = other.is_dead || self.are_related(&one.out, &other.out, Relation::Prefix, &facts);
        }
        self.peels = was_peeling;
        is_prefix
    }

    fn exec_rest(&mut self, rest: &Rest<'_, 't>, state: &mut State) {
        self.exec(rest.stmts, state);
        if let Some(next) = rest.next {
            self.exec_rest(next, state);
        }
    }
}

/// Returns the facts of both states, each once.
fn join_facts(one: &State, other: &State) -> Facts {
    let mut facts = one.facts.clone();
    if one.facts != other.facts {
        let known: HashSet<&(Term, bool)> = one.facts.iter().collect();
        facts.extend(other.facts.iter().filter(|fact| !known.contains(fact)));
    }
    facts
}
