//! Runs loops: plain ones, those with a condition, and recursive ones.

use std::fmt;

use super::{Evaluator, Flow, Render};
use crate::ast::{For, LoopTest, Slot, Target, TargetKind};
use crate::error::{Error, Result, TraceFrame};
use crate::value::{Arguments, Callable, Dict, EnvironmentId, GAIN, Iter, Loop, Runtime, Value, ops};

/// The variable `loop` of a recursive loop as a function: `loop(items)` runs the loop for other items.
struct RecursiveLoop<'a> {
    render: Render<'a>,
    node: &'a For,
    environment: Option<EnvironmentId>,
    depth0: i64,
    /// The offset of the token whose line the loop has.
    at: u32,
}

/// The generator of the items that fulfil the condition of a loop.
struct Tested<'a> {
    render: Render<'a>,
    node: &'a LoopTest,
    environment: Option<EnvironmentId>,
    source: Value<'a>,
    /// The iteration, which begins with the first item.
    iter: Option<Iter<'a>>,
}

impl<'a> Evaluator<'a, '_> {
    #[inline(never)]
    pub(super) fn for_loop(&mut self, node: &'a For, at: u32) -> Result<Flow> {
        let iterable = self.iterable(&node.iter)?;
        if node.recursive {
            self.first_recursion(node, iterable, at).map(|()| Flow::Next)
        } else {
            self.rounds(node, iterable, 0, at)
        }
    }

    #[inline(never)]
    fn first_recursion(&mut self, node: &'a For, iterable: Value<'a>, at: u32) -> Result<()> {
        self.pieces += 1;
        let recursive = self.recursive_loop(node, 0, at);
        recursive.run(self.runtime, &mut Arguments::one(iterable), &mut self.out)
    }

    fn recursive_loop(&self, node: &'a For, depth0: i64, at: u32) -> RecursiveLoop<'a> {
        RecursiveLoop {
            render: self.render,
            node,
            environment: self.frame.environment,
            depth0,
            at,
        }
    }

    /// Runs all rounds, and the `else` body if no round reached the end of its body. In the `else` body, `break` and `continue` belong to
    /// the outer loop.
    fn rounds(&mut self, node: &'a For, iterable: Value<'a>, depth0: i64, at: u32) -> Result<Flow> {
        if matches!(&iterable, Value::List(items) | Value::Tuple(items) if items.is_empty()) {
            return self.otherwise(node);
        }
        let source = match &node.test {
            Some(test) => self.filter_items(node, test, iterable)?,
            None => iterable,
        };
        let iter = Iter::new(&source).map_err(|error| self.explain_iterated(error, node, 0).at(node.iter.span))?;
        let reached = match &node.loop_slot {
            Some(slot) => {
                let context = self.loop_context(node, iter, &source, depth0, at)?;
                self.run_rounds(node, at, |evaluator| evaluator.advance(&node.target, context, slot))?
            }
            None => {
                let mut iter = iter;
                self.run_rounds(node, at, |evaluator| evaluator.next_item(&node.target, &mut iter))?
            }
        };
        if !node.keeps_variables() {
            self.leave_scope(&node.scope)?;
        }
        if reached { Ok(Flow::Next) } else { self.otherwise(node) }
    }

    fn otherwise(&mut self, node: &'a For) -> Result<Flow> {
        if node.otherwise.stmts.is_empty() {
            return Ok(Flow::Next);
        }
        self.enter_scope(&node.otherwise_scope)?;
        let flow = self.body(&node.otherwise)?;
        self.leave_scope(&node.otherwise_scope)?;
        Ok(flow)
    }

    /// Makes the generator of the items that fulfil the condition of a loop.
    #[inline(never)]
    fn filter_items(&mut self, node: &'a For, test: &'a LoopTest, source: Value<'a>) -> Result<Value<'a>> {
        let height = source.height().saturating_add(GAIN);
        let mut tested = Tested {
            render: self.render,
            node: test,
            environment: self.environment_around(node),
            source,
            iter: None,
        };
        let (render, at) = (self.render, test.condition.at);
        self.runtime.generator("generator", height, move |runtime| {
            tested.next(runtime).map_err(|error| render.add_line(error, at))
        })
    }

    /// Makes the value of the variable `loop`.
    #[inline(never)]
    fn loop_context(&mut self, node: &'a For, iter: Iter<'a>, source: &Value<'a>, depth0: i64, at: u32) -> Result<&'a Loop<'a>> {
        let length = ops::try_length(self.runtime, source)?;
        if !node.recursive {
            return Loop::new(self.runtime, iter, length, source.height(), None, 0);
        }
        let recurse = self.runtime.arena.store(RecursiveLoop {
            environment: self.environment_around(node),
            ..self.recursive_loop(node, depth0.saturating_add(1), at)
        });
        Loop::new(self.runtime, iter, length, source.height(), Some(recurse), depth0)
    }

    /// Returns the environment around the loop's own frame, in which recursive calls and the loop's condition run.
    fn environment_around(&self, node: &'a For) -> Option<EnvironmentId> {
        if node.frame.cells == 0 {
            return self.frame.environment;
        }
        let EnvironmentId(number) = self.frame.environment?;
        self.runtime.heap.frames.environments.get(number as usize)?.parent
    }

    /// Runs one round for each item that `next` assigns. Returns whether any round reached the end of the body. A round costs the variables
    /// that it loads, and one step if its statements cost nothing.
    #[inline(never)]
    fn run_rounds(&mut self, node: &'a For, at: u32, mut next: impl FnMut(&mut Self) -> Result<Flow>) -> Result<bool> {
        let mut reached = false;
        let mut round = 0_u64;
        let steps = node.scope.steps().saturating_add(u64::from(node.body.steps == 0));
        while next(self).map_err(|error| self.explain_iterated(error, node, round))? == Flow::Next {
            round = round.wrapping_add(1);
            if steps > 0 {
                self.runtime.meter.charge(steps)?;
            }
            self.load(&node.scope);
            let flow = match self.runtime.tape {
                None => self.body(&node.body),
                Some(_) => self.traced_round(node),
            };
            match flow.map_err(|error| self.in_round(error, node, at, round))? {
                Flow::Next => reached = true,
                Flow::Continue => {}
                Flow::Break => break,
            }
        }
        Ok(reached)
    }

    /// Runs a round in a render that is traced: a message among its items owns what it writes.
    #[cold]
    fn traced_round(&mut self, node: &'a For) -> Result<Flow> {
        let mut turn = self.runtime.begin_turn(self.out.len());
        let mut taken = Ok(());
        node.target.for_each_slot(&mut |symbol, slot| {
            // Other items are no messages, and messages are not read by them.
            let item = self
                .get(slot)
                .filter(|item| matches!(item, Value::Dict(_) | Value::List(_) | Value::Tuple(_) | Value::Int(_)));
            if let (Some(item), Ok(())) = (item.cloned(), &taken) {
                taken = self.runtime.take_turn(&mut turn, &item, symbol.0);
            }
        });
        let flow = taken.and_then(|()| self.body(&node.body));
        let ended = self.runtime.end_turn(turn);
        flow.and_then(|flow| ended.map(|()| flow))
    }

    /// Assigns the next item of a loop that has a variable `loop`, and then that variable: a condition that reads `loop` while the item is
    /// computed gets its earlier value.
    #[inline(always)]
    fn advance(&mut self, target: &'a Target, context: &'a Loop<'a>, slot: &Slot) -> Result<Flow> {
        let assigned = match context.advance_to_object() {
            Some(object) => self.assign_object(target, object),
            None => self.advance_other(target, context),
        };
        if matches!(assigned, Ok(Flow::Next)) {
            self.store(slot, Value::Loop(context));
        }
        assigned
    }

    #[inline(never)]
    fn advance_other(&mut self, target: &'a Target, context: &'a Loop<'a>) -> Result<Flow> {
        let item = context.advance(self.runtime)?;
        self.assign_item(target, item)
    }

    /// Assigns the next item of a loop without a variable `loop`.
    #[inline(always)]
    fn next_item(&mut self, target: &'a Target, iter: &mut Iter<'a>) -> Result<Flow> {
        match iter.next_object() {
            Some(object) => self.assign_object(target, object),
            None => self.next_other(target, iter),
        }
    }

    #[inline(never)]
    fn next_other(&mut self, target: &'a Target, iter: &mut Iter<'a>) -> Result<Flow> {
        if let (TargetKind::Tuple(targets), Iter::Items(entries)) = (&target.kind, &mut *iter) {
            if let [first, second] = targets.as_slice() {
                self.runtime.meter.charge(2)?;
                let Some((key, value)) = entries.next() else {
                    return Ok(Flow::Break);
                };
                let assigned = self.assign(first, key).and_then(|()| self.assign(second, value));
                return assigned.map(|()| Flow::Next).map_err(|error| error.at(target.span));
            }
        }
        let item = iter.next(self.runtime)?;
        self.assign_item(target, item)
    }

    /// Assigns an object of the input, such as a message. The most common target, a name, is assigned without another call.
    #[inline(always)]
    fn assign_object(&mut self, target: &'a Target, object: Dict<'a>) -> Result<Flow> {
        match &target.kind {
            TargetKind::Name {
                slot, exported: false, ..
            } => self.store(slot, Value::Dict(object)),
            _ => self.assign(target, Value::Dict(object))?,
        }
        Ok(Flow::Next)
    }

    /// Assigns an item, or ends the loop if there is none.
    #[inline(always)]
    fn assign_item(&mut self, target: &'a Target, item: Option<Value<'a>>) -> Result<Flow> {
        match item {
            Some(item) => self.assign(target, item).map(|()| Flow::Next),
            None => Ok(Flow::Break),
        }
    }

    #[cold]
    fn in_round(&mut self, error: Error, node: &'a For, at: u32, round: u64) -> Error {
        self.name_message(error, node).within(TraceFrame::Loop {
            line: self.render.source.line(at),
            round,
        })
    }
}

impl Callable for RecursiveLoop<'_> {
    fn call<'a>(&'a self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
        runtime.capture(|runtime, text| self.write(runtime, arguments, text))
    }

    fn write<'a>(&'a self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>, out: &mut String) -> Result<()> {
        self.run(runtime, arguments, out)
    }

    fn write_with_locals<'a>(&'a self, _runtime: &mut Runtime<'a>, _count: usize, _out: &mut String) -> Result<()> {
        Err(Error::internal("a loop takes no local variables"))
    }
}

impl<'a> RecursiveLoop<'a> {
    fn run(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>, out: &mut String) -> Result<()> {
        let Some(iterable) = arguments
            .take(0)
            .filter(|_| arguments.len() == 1 && arguments.keywords().is_empty())
        else {
            return Err(Error::type_error(
                "LoopContext.__call__() missing 1 required positional argument: 'iterable'",
            ));
        };
        runtime.meter.enter_call()?;
        let mut evaluator = Evaluator::new(runtime, self.render, std::mem::take(out));
        evaluator.enter_frame(self.node.frame, self.environment)?;
        let ran = evaluator.rounds(self.node, iterable, self.depth0, self.at);
        let result = ran.and_then(|_| {
            let joined = evaluator.join_pieces();
            joined.map_err(|error| self.render.add_line(error, self.node.frame.end_at))
        });
        evaluator.leave_frame();
        *out = std::mem::take(&mut evaluator.out);
        runtime.meter.leave_call();
        result.map_err(|error| self.render.add_line(error, self.at))
    }
}

impl<'a> Tested<'a> {
    fn next(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let iter = match &mut self.iter {
            Some(iter) => iter,
            none => none.insert(Iter::new(&self.source)?),
        };
        while let Some(item) = iter.next(runtime)? {
            let mut evaluator = Evaluator::new(runtime, self.render, String::new());
            evaluator.enter_frame(self.node.frame, self.environment)?;
            evaluator.enter_scope(&self.node.scope)?;
            evaluator.assign(&self.node.target, item)?;
            let charged = evaluator.runtime.meter.charge(u64::from(self.node.steps));
            let truth = charged.and_then(|()| evaluator.truth(&self.node.condition));
            let kept = truth.map_err(|error| error.at(self.node.condition.span))?;
            let kept = kept.then(|| evaluator.pack(&self.node.target)).transpose()?;
            evaluator.leave_frame();
            if kept.is_some() {
                return Ok(kept);
            }
        }
        Ok(None)
    }
}

impl fmt::Debug for RecursiveLoop<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RecursiveLoop(depth {})", self.depth0)
    }
}
