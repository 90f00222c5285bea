//! Evaluates expressions to terms.

use std::rc::Rc;

use super::Prover;
use super::state::{Place, State};
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
                self.branch(left, state, |prover, truth, state| match truth == (*op == LogicOp::And) {
                    true => prover.eval(right, state),
                    false => left,
                })
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
                self.branch(test, state, |prover, truth, state| match (truth, &node.otherwise) {
                    (true, _) => prover.eval(&node.then, state),
                    (false, Some(otherwise)) => prover.eval(otherwise, state),
                    (false, None) => prover.terms.add(Node::Undefined),
                })
            }
            ExprKind::Attribute(node) => {
                let object = self.eval(&node.object, state);
                self.attribute(object, node, state)
            }
            ExprKind::Item(operands) => {
                let [object, key] = &**operands;
                let (object, key) = (self.eval(object, state), self.eval(key, state));
                self.item(object, key, state)
            }
            ExprKind::Slice(node) => self.slice(node, state),
            ExprKind::Filter(filter) => {
                let input = filter.input.as_ref().map(|input| self.eval(input, state));
                self.filter(filter, input.unwrap_or(self.captured), state)
            }
            ExprKind::Test(test) => {
                let input = self.eval(&test.input, state);
                self.test(test, input, state)
            }
            ExprKind::Call(call) => self.call(call, expr, state),
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

    pub fn binary(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
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
            CompareOp::Eq => self.terms.equal(left, right),
            CompareOp::Ne => {
                let equal = self.terms.equal(left, right);
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
                    let equal = self.terms.equal(item, *other);
                    found = self.terms.choice(equal, equal, found);
                }
                found
            }
            _ => self.terms.apply("in", "", vec![item, container]),
        }
    }

    fn attribute(&mut self, object: Term, node: &'t Attribute, state: &mut State) -> Term {
        match self.terms.get(object).clone() {
            Node::Loop(_) => self.loop_attribute(object, &node.name, state),
            other if node.is_key || matches!(other, Node::Namespace(_)) => {
                let key = self.terms.text(&node.name);
                self.item(object, key, state)
            }
            _ => self.terms.apply("attribute", &node.name, vec![object]),
        }
    }

    pub fn item(&mut self, object: Term, key: Term, state: &mut State) -> Term {
        let object = self.resolve(object, &state.facts);
        let (object_node, key_node) = (self.terms.get(object).clone(), self.terms.get(key).clone());
        match (&object_node, &key_node) {
            (Node::Undefined, _) => {
                state.is_dead = true;
                object
            }
            (Node::Namespace(address), Node::Str(name)) => {
                self.terms.spend(state.values() / 4);
                let attribute = state.get(&Place::Attribute(*address, Rc::clone(name)));
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
