//! Runs macros, call blocks and generation blocks (jinja2 3.1.6 `runtime.py`, `Macro.__call__`).

use std::fmt;

use super::{Evaluator, Render};
use crate::ast::{CallBlock, Macro as Node, Slot};
use crate::builtins::call;
use crate::error::{Error, Result};
use crate::value::{Arguments, Callable, Entries, EnvironmentId, Key, Macro, Runtime, Seq, Undefined, Value};

/// The code of a macro, and the environment in which it was defined.
struct Code<'a> {
    render: Render<'a>,
    node: &'a Node,
    environment: Option<EnvironmentId>,
}

impl<'a> Evaluator<'a, '_> {
    #[inline(never)]
    pub(super) fn define_macro(&mut self, node: &'a Node) -> Result<()> {
        let value = self.macro_value(node)?;
        if let Some(name) = node.name.filter(|_| node.exported) {
            self.export(name, &value);
        }
        self.store(&node.slot, value);
        Ok(())
    }

    #[inline(never)]
    pub(super) fn call_block(&mut self, node: &'a CallBlock) -> Result<()> {
        let caller = self.macro_value(&node.body)?;
        let returned = self
            .call(&node.callee, &node.args, Some(caller))
            .map_err(|error| error.at(node.span))?;
        self.write_piece(&returned)
    }

    /// Runs a `generation` block. In the reference it is a call block whose function calls `caller` and records the span of its text.
    #[inline(never)]
    pub(super) fn generation(&mut self, node: &'a Node) -> Result<()> {
        self.pieces += 1;
        let from = self.out.len();
        let code = self.code(node);
        code.run(self.runtime, &mut self.out, |evaluator| {
            evaluator.bind_and_run(node, &mut Arguments::new())
        })?;
        if let Some(tracked) = &mut self.runtime.heap.frames.tracked {
            if let Some(error) = &tracked.refused {
                return Err(error.clone());
            }
            let start = tracked.root_length;
            let text = self.out.get(from..).unwrap_or_default();
            self.runtime.meter.charge_bytes(text.len())?;
            let length = text.chars().count();
            tracked.spans.push(start..start + length);
            self.runtime.record_block(from..self.out.len())?;
        }
        Ok(())
    }

    /// Calls a value and writes the result. A macro writes to the output itself.
    pub(super) fn write_call(&mut self, function: &Value<'a>, arguments: &mut Arguments<'a>) -> Result<()> {
        match function {
            Value::Macro(code) => {
                call::check_keywords(arguments, function)?;
                code.code.write(self.runtime, arguments, &mut self.out)
            }
            _ => {
                let value = call::call(self.runtime, function, arguments)?;
                self.write_value(&value)
            }
        }
    }

    fn code(&self, node: &'a Node) -> Code<'a> {
        Code {
            render: self.render,
            node,
            environment: self.frame.environment,
        }
    }

    fn macro_value(&mut self, node: &'a Node) -> Result<Value<'a>> {
        self.runtime.meter.charge_items(node.parameters.len() >> 3)?;
        let symbols = &self.render.template.symbols;
        let [_, kwargs, varargs] = node.specials;
        self.runtime.meter.hold(size_of::<Macro<'_, Code<'_>>>())?;
        Ok(Value::Macro(self.runtime.arena.store(Macro {
            name: node.name.map(|name| symbols.name(name)),
            parameters: &node.parameters,
            symbols,
            catches_keywords: kwargs.is_some(),
            catches_positional: varargs.is_some(),
            uses_caller: node.uses_caller,
            explicit_caller: node.explicit_caller,
            takes_locals: takes_locals(node),
            code: self.code(node),
        })))
    }

    /// Assigns the arguments of a call to the parameters of a macro.
    #[inline(never)]
    fn bind(&mut self, node: &'a Node, arguments: &mut Arguments<'a>) -> Result<()> {
        if arguments.keywords().iter().any(|(keyword, _)| keyword.as_str() == "self") {
            return Err(Error::type_error("Macro.__call__() got multiple values for argument 'self'"));
        }
        let symbols = &self.render.template.symbols;
        let expected = node.parameters.len();
        // Each parameter is compared with the keywords.
        self.runtime.meter.charge_items(expected / 8)?;
        for (name, _) in arguments.keywords() {
            self.runtime.meter.charge_names(name.as_str(), expected)?;
        }
        let mut found_caller = arguments.len() >= expected && node.explicit_caller;
        let rest = arguments.take_from(expected);
        for (index, parameter) in node.parameters.iter().enumerate() {
            let name = symbols.name(parameter.symbol);
            let value = match arguments.take(index) {
                Some(value) => Some(value),
                None => {
                    self.runtime.meter.charge_names(name, arguments.keywords().len())?;
                    found_caller |= name == "caller";
                    arguments.take_keyword(name)
                }
            };
            if let Some(value) = value.filter(|value| !value.is_missing()) {
                self.store(&parameter.slot, value);
            }
        }
        let [caller, kwargs, varargs] = node.specials;
        let lacks_caller = node.uses_caller && !found_caller;
        if lacks_caller {
            let value = arguments.take_keyword("caller").filter(|value| !matches!(value, Value::None));
            let value = value.unwrap_or(Value::Undefined(Undefined::Hint("No caller defined")));
            self.store(&caller.unwrap_or(Slot::Unresolved), value);
        }
        match kwargs {
            Some(slot) => {
                let (mut entries, mut claim) = (Entries::default(), None);
                for (name, value) in arguments.take_keywords() {
                    let meter = &mut self.runtime.meter;
                    // A keyword is hashed and inserted.
                    meter.charge_scan(name.as_str().len() + 32)?;
                    meter.claim_growth::<(Key<'_>, Value<'_>)>(&mut claim, entries.len(), entries.capacity())?;
                    entries.insert(Key::from(name), value);
                }
                drop(claim);
                let keywords = Value::Dict(self.runtime.dict(entries)?);
                self.store(&slot, keywords);
            }
            None => self.refuse_keywords(node, arguments)?,
        }
        match varargs {
            Some(slot) => {
                let rest = if rest.is_empty() {
                    Value::Tuple(Seq::empty())
                } else {
                    self.runtime.tuple(&rest)?
                };
                self.store(&slot, rest);
            }
            None if !rest.is_empty() => {
                let name = self.quote_name(node);
                let message = format!("macro {name} takes not more than {expected} argument(s)");
                return Err(Error::type_error(message));
            }
            None => {}
        }
        if lacks_caller && node.explicit_caller {
            // The parameter has a positional argument, to which the body of the call block is added.
            let taken = expected + usize::from(kwargs.is_some()) + usize::from(varargs.is_some());
            let message = format!("macro() takes {taken} positional arguments but {} were given", taken + 1);
            return Err(Error::type_error(message));
        }
        Ok(())
    }

    #[inline(never)]
    fn refuse_keywords(&self, node: &'a Node, arguments: &Arguments<'a>) -> Result<()> {
        let Some((first, _)) = arguments.keywords().first() else {
            return Ok(());
        };
        let name = self.quote_name(node);
        if arguments.keywords().iter().any(|(keyword, _)| keyword.as_str() == "caller") {
            return Err(Error::type_error(format!(
                "macro {name} was invoked with two values for the special caller argument. This is most likely a bug."
            )));
        }
        let keyword = crate::text::quote::repr(first.as_str());
        Err(Error::type_error(format!("macro {name} takes no keyword argument {keyword}")))
    }

    fn quote_name(&self, node: &'a Node) -> String {
        match node.name {
            Some(name) => crate::text::quote::repr(self.render.template.symbols.name(name)),
            None => "None".to_owned(),
        }
    }

    /// Runs a macro with arguments that are not bound to its parameters yet.
    fn bind_and_run(&mut self, node: &'a Node, arguments: &mut Arguments<'a>) -> Result<()> {
        self.enter_frame(node.frame, self.frame.environment)?;
        self.bind(node, arguments)?;
        self.run_macro(node, 0)
    }

    /// Runs a macro whose arguments are the last of the local variables.
    fn run_with_locals(&mut self, node: &'a Node, count: usize) -> Result<()> {
        self.enter_frame_with_locals(node.frame, self.frame.environment, count)?;
        let mut given = count;
        for parameter in node.parameters.iter().take(count) {
            if self.get(&parameter.slot).is_some_and(Value::is_missing) {
                self.clear(&parameter.slot);
                given = 0;
            }
        }
        self.run_macro(node, given)
    }

    /// Runs the code of a macro: its scope, its defaults and its body. The first `given` parameters have a value.
    fn run_macro(&mut self, node: &'a Node, given: usize) -> Result<()> {
        self.enter_scope(&node.scope)?;
        self.fill(node, given)?;
        self.body(&node.body)?;
        let joined = self.join_pieces();
        joined.map_err(|error| self.render.add_line(error, node.frame.end_at))?;
        self.leave_frame();
        Ok(())
    }

    /// Assigns their defaults to the parameters without a value. The first `given` parameters have a value.
    #[inline(never)]
    fn fill(&mut self, node: &'a Node, given: usize) -> Result<()> {
        self.runtime.meter.charge(u64::from(node.steps))?;
        for parameter in node.parameters.iter().skip(given) {
            if self.get(&parameter.slot).is_some() {
                continue;
            }
            let value = match &parameter.default {
                Some(default) => self.expr(default).map_err(|error| self.render.add_line(error, node.at))?,
                None => Value::Undefined(Undefined::Parameter(self.render.template.symbols.name(parameter.symbol))),
            };
            self.store(&parameter.slot, value);
        }
        Ok(())
    }
}

/// Returns whether a call can store its arguments directly in the macro's first local variables: these are the parameters, and the macro
/// does not mention `caller`, `kwargs` or `varargs`.
fn takes_locals(node: &Node) -> bool {
    let slots = node.parameters.iter().map(|parameter| parameter.slot);
    node.specials == [None; 3] && !node.uses_caller && slots.zip(0..).all(|(slot, index)| slot == Slot::Local(index))
}

impl Callable for Code<'_> {
    fn call<'a>(&'a self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
        runtime.capture(|runtime, text| self.write(runtime, arguments, text))
    }

    fn write<'a>(&'a self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>, out: &mut String) -> Result<()> {
        self.run(runtime, out, |evaluator| evaluator.bind_and_run(self.node, arguments))
    }

    fn write_with_locals<'a>(&'a self, runtime: &mut Runtime<'a>, count: usize, out: &mut String) -> Result<()> {
        self.run(runtime, out, |evaluator| evaluator.run_with_locals(self.node, count))
    }
}

impl<'a> Code<'a> {
    /// Calls `run` with an evaluator for the macro, which writes to `out`.
    #[inline]
    fn run(
        &self,
        runtime: &mut Runtime<'a>,
        out: &mut String,
        run: impl FnOnce(&mut Evaluator<'a, '_>) -> Result<()>,
    ) -> Result<()> {
        runtime.meter.enter_call()?;
        let mut evaluator = Evaluator::new(runtime, self.render, std::mem::take(out));
        evaluator.frame.environment = self.environment;
        let result = run(&mut evaluator);
        *out = std::mem::take(&mut evaluator.out);
        runtime.meter.leave_call();
        result.map_err(|error| self.add_macro_name(error))
    }

    /// Adds the name of the macro to an error.
    #[cold]
    fn add_macro_name(&self, error: Error) -> Error {
        match self.node.name {
            Some(name) => error.within_macro(self.render.template.symbols.name(name)),
            None => error,
        }
    }
}

impl fmt::Debug for Code<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Code({:?})", self.node.name)
    }
}
