//! Evaluates expressions to terms.

use super::Prover;
use super::state::State;
use super::terms::{Node, Term};
use crate::ast::{Args, Attribute, BinaryOp, CompareOp, Expr, ExprKind, Literal, LogicOp, Slice, Symbol, UnaryOp};
use crate::json::Data;

/// The maximum number of nested choices in a term that is compared. A comparison of `a if c else b` becomes a choice between two
/// comparisons.
pub const SPREAD: usize = 4;

impl<'t> Prover<'t> {
    pub fn eval(&mut self, expr: &'t Expr, state: &mut State) -> Term {
        self.charge(1);
        if self.has_given_up {
            return self.terms.lone();
        }
        let value = self.eval_kind(expr, state);
        if self.is_unclear {
            self.obstacle.get_or_insert(expr.span);
        }
        value
    }

    fn eval_kind(&mut self, expr: &'t Expr, state: &mut State) -> Term {
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Markup(text) => self.terms.text(text),
            ExprKind::UnsupportedText(_) => self.give_up(),
            ExprKind::Name(name) => self.name(name.symbol, state),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let items: Vec<Term> = items.iter().map(|item| self.eval(item, state)).collect();
                self.terms.add(Node::List(items.into()))
            }
            ExprKind::Dict(pairs) => {
                let pairs: Vec<(Term, Term)> = pairs
                    .iter()
                    .map(|(key, value)| (self.eval(key, state), self.eval(value, state)))
                    .collect();
                self.terms.add(Node::Dict(pairs.into()))
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.eval(operand, state);
                match (op, self.terms.get(operand)) {
                    (UnaryOp::Not, _) => self.negate(operand, state),
                    (UnaryOp::Neg, Node::Int(int)) => {
                        let int = int.checked_neg().unwrap_or_default();
                        self.terms.add(Node::Int(int))
                    }
                    (op, _) => self.terms.apply("unary", &format!("{op:?}"), vec![operand]),
                }
            }
            ExprKind::Binary(op, operands) => {
                let [left, right] = &**operands;
                let (left, right) = (self.eval(left, state), self.eval(right, state));
                self.binary(*op, left, right)
            }
            ExprKind::Logic(op, operands) => {
                let [left, right] = &**operands;
                let left = self.eval(left, state);
                let runs_right = *op == LogicOp::And;
                match self.terms.decide(left, &state.facts) {
                    Some(truth) if truth == runs_right => self.eval(right, state),
                    Some(_) => left,
                    None => {
                        let right = self.eval_if(left, runs_right, right, state);
                        match op {
                            LogicOp::And => self.terms.choice(left, right, left),
                            LogicOp::Or => self.terms.choice(left, left, right),
                        }
                    }
                }
            }
            ExprKind::Concat(parts) => {
                let parts: Vec<Term> = parts.iter().map(|part| self.eval(part, state)).collect();
                let parts: Vec<Term> = parts.into_iter().map(|part| self.printed(part)).collect();
                self.terms.concat(&parts)
            }
            ExprKind::Compare(compare) => {
                let mut left = self.eval(&compare.first, state);
                let mut all = None;
                for (op, right) in compare.links() {
                    let right = self.eval(right, state);
                    let link = self.compare(*op, left, right, state);
                    all = Some(match all {
                        None => link,
                        Some(before) => self.terms.choice(before, link, before),
                    });
                    left = right;
                }
                all.unwrap_or(left)
            }
            ExprKind::Conditional(node) => {
                let test = self.eval(&node.test, state);
                let otherwise = |prover: &mut Self, state: &mut State| match &node.otherwise {
                    Some(otherwise) => prover.eval(otherwise, state),
                    None => prover.terms.add(Node::Undefined),
                };
                match self.terms.decide(test, &state.facts) {
                    Some(true) => self.eval(&node.then, state),
                    Some(false) => otherwise(self, state),
                    None => {
                        let mut branches = [self.fork(state), self.fork(state)];
                        let [yes, no] = &mut branches;
                        self.terms.assume(test, true, &mut yes.facts);
                        self.terms.assume(test, false, &mut no.facts);
                        let then = self.eval(&node.then, yes);
                        let other = otherwise(self, no);
                        self.check_pure(state, yes);
                        self.check_pure(state, no);
                        match (yes.is_dead, no.is_dead) {
                            (true, true) => {
                                state.is_dead = true;
                                then
                            }
                            (true, false) => {
                                self.terms.assume(test, false, &mut state.facts);
                                other
                            }
                            (false, true) => {
                                self.terms.assume(test, true, &mut state.facts);
                                then
                            }
                            (false, false) => self.terms.choice(test, then, other),
                        }
                    }
                }
            }
            ExprKind::Attribute(node) => {
                let object = self.eval(&node.object, state);
                self.attribute(object, node, state, SPREAD)
            }
            ExprKind::Item(operands) => {
                let [object, key] = &**operands;
                let (object, key) = (self.eval(object, state), self.eval(key, state));
                self.item(object, key, state, SPREAD)
            }
            ExprKind::Slice(node) => self.slice(node, state),
            ExprKind::Filter(filter) => {
                let input = filter.input.as_ref().map(|input| self.eval(input, state));
                let input = input.unwrap_or_else(|| self.terms.add(Node::Undefined));
                self.filter(filter, input, state)
            }
            ExprKind::Test(test) => {
                let input = self.eval(&test.input, state);
                self.test(test, input, state)
            }
            ExprKind::Call(call) => self.call(call, expr, state),
        }
    }

    /// Evaluates the right side of `and` or `or`. It runs only if the left side is `truth`.
    fn eval_if(&mut self, left: Term, truth: bool, right: &'t Expr, state: &mut State) -> Term {
        let mut branch = self.fork(state);
        self.terms.assume(left, truth, &mut branch.facts);
        let term = self.eval(right, &mut branch);
        self.check_pure(state, &branch);
        if branch.is_dead {
            self.terms.assume(left, !truth, &mut state.facts);
        }
        term
    }

    /// Gives up the proof if a part of an expression that may not run changed a namespace or printed something.
    fn check_pure(&mut self, before: &State, after: &State) {
        if before.spaces != after.spaces || before.out.len() != after.out.len() {
            (self.has_given_up, self.is_unclear) = (true, true);
        }
    }

    fn negate(&mut self, term: Term, state: &State) -> Term {
        match self.terms.decide(term, &state.facts) {
            Some(truth) => self.terms.bool(!truth),
            None => self.terms.not(term),
        }
    }

    fn literal(&mut self, literal: &Literal) -> Term {
        match literal {
            Literal::None => self.terms.add(Node::None),
            Literal::Bool(bool) => self.terms.bool(*bool),
            Literal::Int(int) => self.terms.add(Node::Int(*int)),
            Literal::Float(float) => self.terms.apply("float", &float.to_string(), Vec::new()),
            Literal::Str(text) => self.terms.text(text),
            Literal::Data(data) => self.data(data),
        }
    }

    fn data(&mut self, data: &Data<'_>) -> Term {
        match data {
            Data::None => self.terms.add(Node::None),
            Data::Bool(bool) => self.terms.bool(*bool),
            Data::Int(int) => self.terms.add(Node::Int(*int)),
            Data::BigInt(int) => self.terms.apply("integer", &int.to_string(), Vec::new()),
            Data::Float(float) => self.terms.apply("float", &float.to_string(), Vec::new()),
            Data::Str(text) => self.terms.text(text),
            Data::List(items) | Data::Tuple(items) => {
                let items: Vec<Term> = items.iter().map(|item| self.data(item)).collect();
                self.terms.add(Node::List(items.into()))
            }
            Data::Object(object) => {
                let mut pairs = Vec::new();
                for (key, value) in object.entries() {
                    pairs.push((self.terms.text(key), self.data(value)));
                }
                self.terms.add(Node::Dict(pairs.into()))
            }
        }
    }

    pub fn name(&mut self, name: Symbol, state: &State) -> Term {
        self.terms.spend(state.values() / 4);
        if let Some(term) = state.find(name) {
            return term;
        }
        match self.tree.symbols.name(name) {
            "messages" => self.terms.add(Node::Messages(state.is_longer, 0)),
            "add_generation_prompt" => {
                let wants = self.has_generation_prompt && !state.is_longer;
                self.terms.bool(wants)
            }
            "caller" | "varargs" | "kwargs" | "self" | "loop" => self.give_up(),
            _ => self.terms.add(Node::Input(name)),
        }
    }

    /// Returns the text that a value prints.
    pub fn printed(&mut self, term: Term) -> Term {
        match self.terms.get(term).clone() {
            Node::Int(int) => self.terms.text(&int.to_string()),
            Node::Bool(bool) => self.terms.text(if bool { "True" } else { "False" }),
            Node::None => self.terms.text("None"),
            Node::Undefined => self.terms.text(""),
            Node::Loop(_) => self.give_up(),
            _ => term,
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        if op == BinaryOp::Add && (self.terms.is_text(left) || self.terms.is_text(right)) {
            return self.terms.concat(&[left, right]);
        }
        if let (Some((base, offset)), Some((other, other_offset))) = (self.terms.split_sum(left), self.terms.split_sum(right)) {
            match (op, base, other) {
                (BinaryOp::Add, base, None) | (BinaryOp::Add, None, base) => {
                    return self.terms.sum(base, offset.saturating_add(other_offset));
                }
                (BinaryOp::Sub, base, None) => return self.terms.sum(base, offset.saturating_sub(other_offset)),
                (BinaryOp::Sub, base, other) if base == other => {
                    return self.terms.add(Node::Int(offset.saturating_sub(other_offset)));
                }
                (BinaryOp::Sub, base, Some(other)) => {
                    // The difference of two unknown integers, which is the same in both renders if they are apart by the same number.
                    let base = base.unwrap_or_else(|| self.terms.add(Node::None));
                    let difference = self.terms.apply("difference", "", vec![base, other]);
                    let offset = offset.saturating_sub(other_offset);
                    return match offset {
                        0 => difference,
                        _ => self.terms.add(Node::Sum(difference, offset)),
                    };
                }
                _ => {}
            }
        }
        self.terms.apply("binary", &format!("{op:?}"), vec![left, right])
    }

    fn compare(&mut self, op: CompareOp, left: Term, right: Term, state: &State) -> Term {
        match op {
            CompareOp::Eq => self.terms.equal(left, right, SPREAD),
            CompareOp::Ne => {
                let equal = self.terms.equal(left, right, SPREAD);
                self.negate(equal, state)
            }
            CompareOp::Lt => self.terms.less(left, right, SPREAD),
            CompareOp::Gt => self.terms.less(right, left, SPREAD),
            CompareOp::Le => {
                let less = self.terms.less(right, left, SPREAD);
                self.negate(less, state)
            }
            CompareOp::Ge => {
                let less = self.terms.less(left, right, SPREAD);
                self.negate(less, state)
            }
            CompareOp::In => self.contains(left, right),
            CompareOp::NotIn => {
                let contains = self.contains(left, right);
                self.negate(contains, state)
            }
        }
    }

    fn contains(&mut self, item: Term, container: Term) -> Term {
        match self.terms.get(container).clone() {
            Node::List(items) => {
                let mut found = self.terms.bool(false);
                for other in items.iter().rev() {
                    if !self.may_go_on() {
                        break;
                    }
                    self.terms.spend(1);
                    let equal = self.terms.equal(item, *other, SPREAD);
                    found = self.terms.choice(equal, equal, found);
                }
                found
            }
            _ => self.terms.apply("in", "", vec![item, container]),
        }
    }

    fn attribute(&mut self, object: Term, node: &'t Attribute, state: &mut State, depth: usize) -> Term {
        match self.terms.get(object).clone() {
            Node::Loop(_) => self.loop_attribute(object, &node.name, state),
            Node::Namespace(_) => {
                let key = self.terms.text(&node.name);
                self.item(object, key, state, depth)
            }
            Node::Choice(test, then, otherwise) if depth > 0 => {
                let depth = depth.saturating_sub(1);
                self.either(test, state, [then, otherwise], &mut |prover, object, state| {
                    prover.attribute(object, node, state, depth)
                })
            }
            _ if node.is_key => {
                let key = self.terms.text(&node.name);
                self.item(object, key, state, depth)
            }
            _ => self.terms.apply("attribute", &node.name, vec![object]),
        }
    }

    /// Reads something, such as an item, of each of the two values that a choice can have. If one read is an error, the choice has the
    /// other value.
    fn either(
        &mut self,
        test: Term,
        state: &mut State,
        objects: [Term; 2],
        read: &mut dyn FnMut(&mut Self, Term, &mut State) -> Term,
    ) -> Term {
        let (facts, was_dead) = (state.facts.len(), state.is_dead);
        let [then, otherwise] = [(true, objects[0]), (false, objects[1])].map(|(truth, object)| {
            state.is_dead = false;
            self.terms.assume(test, truth, &mut state.facts);
            let value = read(self, object, state);
            state.facts.truncate(facts);
            (value, state.is_dead)
        });
        state.is_dead = was_dead || (then.1 && otherwise.1);
        match (then.1, otherwise.1) {
            (true, false) => self.terms.assume(test, false, &mut state.facts),
            (false, true) => self.terms.assume(test, true, &mut state.facts),
            _ => {}
        }
        match (then.1, otherwise.1) {
            (true, _) => otherwise.0,
            (_, true) => then.0,
            _ => self.terms.choice(test, then.0, otherwise.0),
        }
    }

    pub fn item(&mut self, object: Term, key: Term, state: &mut State, depth: usize) -> Term {
        let object = self.resolve(object, &state.facts);
        let (object_node, key_node) = (self.terms.get(object).clone(), self.terms.get(key).clone());
        match (&object_node, &key_node) {
            (Node::Choice(test, then, otherwise), _) if depth > 0 => {
                let depth = depth.saturating_sub(1);
                self.either(*test, state, [*then, *otherwise], &mut |prover, object, state| {
                    prover.item(object, key, state, depth)
                })
            }
            (Node::Undefined, _) => {
                state.is_dead = true;
                object
            }
            (Node::Namespace(address), Node::Str(name)) => {
                self.terms.spend(state.values() / 4);
                let attribute = state.attribute(*address, name);
                attribute.unwrap_or_else(|| self.terms.add(Node::Undefined))
            }
            (Node::Namespace(_) | Node::Macro(_) | Node::Loop(_), _) => self.give_up(),
            (Node::Dict(pairs), Node::Str(_)) => {
                self.terms.spend(pairs.len() / 4);
                let are_known = pairs.iter().all(|(key, _)| matches!(self.terms.get(*key), Node::Str(_)));
                let found = pairs.iter().rev().find(|(other, _)| *other == key);
                match found {
                    Some((_, value)) if are_known => *value,
                    None if are_known => self.terms.add(Node::Undefined),
                    _ => self.terms.apply("item", "", vec![object, key]),
                }
            }
            (Node::Messages(_, from), _) => self.message_at(object, *from, key, state),
            (_, Node::Str(name)) if &**name == "role" => match self.roles.iter().find(|(message, _)| *message == object) {
                Some((_, role)) => *role,
                None => self.terms.apply("item", "", vec![object, key]),
            },
            _ => self.terms.apply("item", "", vec![object, key]),
        }
    }

    fn slice(&mut self, node: &'t Slice, state: &mut State) -> Term {
        let object = self.eval(&node.object, state);
        let mut bounds = Vec::new();
        for bound in [&node.start, &node.stop, &node.step] {
            bounds.push(match bound {
                Some(bound) => self.eval(bound, state),
                None => self.terms.add(Node::None),
            });
        }
        self.slice_by(object, &bounds, SPREAD)
    }

    fn slice_by(&mut self, object: Term, bounds: &[Term], depth: usize) -> Term {
        let known: Vec<Node> = bounds.iter().map(|bound| self.terms.get(*bound).clone()).collect();
        match (self.terms.get(object).clone(), known.as_slice()) {
            (_, [Node::Choice(test, then, otherwise), _, _]) if depth > 0 => {
                let cut = |prover: &mut Self, start: Term| {
                    let bounds: Vec<Term> = std::iter::once(start).chain(bounds.iter().skip(1).copied()).collect();
                    prover.slice_by(object, &bounds, depth.saturating_sub(1))
                };
                let (then, otherwise) = (cut(self, *then), cut(self, *otherwise));
                self.terms.choice(*test, then, otherwise)
            }
            (Node::Messages(_, 0), [Node::None, Node::None, Node::Int(-1)]) => self.terms.apply("filter", "reverse", vec![object]),
            (Node::Messages(longer, from), [Node::Int(start), Node::None, Node::None]) if *start >= 0 => {
                let start = usize::try_from(*start).unwrap_or_default();
                self.terms.add(Node::Messages(longer, from.saturating_add(start)))
            }
            (Node::Messages(..), [Node::None | Node::Int(0), Node::None, Node::None]) => object,
            _ => {
                let args = std::iter::once(object).chain(bounds.iter().copied()).collect();
                self.terms.apply("slice", "", args)
            }
        }
    }

    pub fn args(&mut self, args: &'t Args, state: &mut State) -> Vec<Term> {
        let mut values: Vec<Term> = args.positional.iter().map(|arg| self.eval(arg, state)).collect();
        if let Some(others) = &args.others {
            for keyword in &others.keywords {
                let value = self.eval(&keyword.value, state);
                values.push(self.terms.apply("keyword", &keyword.name, vec![value]));
            }
            for (index, arg) in [&others.star, &others.double_star].into_iter().enumerate() {
                if let Some(arg) = arg {
                    let value = self.eval(arg, state);
                    values.push(self.terms.apply("stars", &index.to_string(), vec![value]));
                }
            }
        }
        values
    }
}
