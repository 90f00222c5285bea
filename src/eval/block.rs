//! Blocks as they behave without inheritance, and the variable `self`.

use std::fmt;
use std::rc::Rc;

use super::{Evaluator, Render};
use crate::ast::Block;
use crate::error::{Error, Result};
use crate::value::{Arguments, Blocks, Callable, MeteredRc, Reference, Runtime, Undefined, Value, markup};

/// The blocks of a template, as the variable `self` sees them.
struct Own<'a> {
    render: Render<'a>,
    context: usize,
}

/// `self.name`
struct BlockCode<'a> {
    render: Render<'a>,
    context: usize,
    number: usize,
}

impl<'a> Evaluator<'a, '_> {
    /// `{% block %}`
    #[inline(never)]
    pub(super) fn block(&mut self, node: &'a Block) -> Result<()> {
        if node.required {
            let name = crate::text::quote::repr(self.render.template.symbols.name(node.name));
            return Err(Error::runtime(format!("Required block {name} not found")));
        }
        let context = match node.scoped {
            true => self.derive_context(&node.visible)?,
            false => self.context,
        };
        let number = node.number;
        self.runtime.meter.enter_call()?;
        let result = self.nested(context, self.is_counted, |evaluator| evaluator.block_body(number));
        self.runtime.meter.leave_call();
        result
    }

    /// The variable `self`.
    pub(super) fn self_reference(&self) -> Value<'a> {
        Value::Reference(MeteredRc::new(Reference::Template(Rc::new(Own {
            render: self.render,
            context: self.context,
        }))))
    }

    fn block_body(&mut self, number: usize) -> Result<()> {
        let template = self.render.template;
        let Some(block) = template.blocks.get(number) else {
            return Err(Error::internal("a block has no body"));
        };
        self.enter_frame(block.frame, None)?;
        let [own, parent] = block.specials;
        if let Some(slot) = own {
            let own = self.self_reference();
            self.store(&slot, own);
        }
        if let Some(slot) = parent {
            let name = crate::text::quote::repr(template.symbols.name(block.name));
            let message = format!("there is no parent block called {name}.");
            self.store(&slot, Value::Undefined(Undefined::message(message)));
        }
        self.enter_scope(&block.scope)?;
        self.body(&block.body)?;
        self.leave_frame();
        Ok(())
    }
}

impl<'a> Blocks<'a> for Own<'a> {
    fn block(&self, name: &str) -> Option<(&'a str, Rc<dyn Callable<'a> + 'a>)> {
        let template = self.render.template;
        let number = template
            .blocks
            .iter()
            .position(|block| template.symbols.name(block.name) == name)?;
        let block = template.blocks.get(number)?;
        let code = BlockCode {
            render: self.render,
            context: self.context,
            number,
        };
        Some((template.symbols.name(block.name), Rc::new(code)))
    }
}

impl<'a> Callable<'a> for BlockCode<'a> {
    fn call(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
        let text = runtime.captured(|runtime, text| self.write(runtime, arguments, text))?;
        markup::markup_if(runtime, runtime.autoescape, text)
    }

    fn write(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>, out: &mut String) -> Result<()> {
        if !arguments.is_empty() || !arguments.keywords().is_empty() {
            let given = arguments.len().saturating_add(1);
            let message = format!("BlockReference.__call__() takes 1 positional argument but {given} were given");
            return Err(Error::type_error(message));
        }
        runtime.meter.enter_call()?;
        let mut evaluator = Evaluator::new(runtime, self.render, self.context, std::mem::take(out));
        let result = evaluator.block_body(self.number).and_then(|()| evaluator.joined.check());
        *out = std::mem::take(&mut evaluator.out);
        runtime.meter.leave_call();
        result
    }
}

impl fmt::Debug for Own<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Own")
    }
}

impl fmt::Debug for BlockCode<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "BlockCode({})", self.number)
    }
}
