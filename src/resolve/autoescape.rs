//! `autoescape`, as far as it is known before the render (jinja2 3.1.6 `compiler.py`, `visit_ScopedEvalContextModifier`).
//!
//! ```text
//! {% autoescape true %}{{ '<' }}{{ x }}{% endautoescape %}   '<' is escaped here, x by the render
//! {% autoescape t %}{{ '<' }}{{ x }}{% endautoescape %}      '<' stays as it is, x is the render's to decide
//! ```
//!
//! A constant condition says what the body is compiled to; any other makes all of it depend on the render, and there nothing is folded.
//! A macro or a block is compiled as the place says where it stands, and may be rendered elsewhere: what the render knows is in
//! `Runtime::autoescape`.

use super::{Place, Resolver, fold};
use crate::ast::{Autoescape, AutoescapeBlock};
use crate::error::Result;

/// `nodes.EvalContext` while the reference compiles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EvalContext {
    /// What the nearest constant condition says.
    pub autoescape: bool,
    /// Whether some condition around is no constant; constants are escaped as the nearest constant condition says even then.
    pub volatile: bool,
}

impl EvalContext {
    /// What the tree needs to know.
    pub fn known(self) -> Autoescape {
        match self {
            Self { volatile: true, .. } => Autoescape::Volatile,
            Self { autoescape: true, .. } => Autoescape::On,
            _ => Autoescape::Off,
        }
    }
}

impl Resolver<'_> {
    pub(super) fn autoescape(&mut self, node: &mut AutoescapeBlock, place: &Place) -> Result<u32> {
        let AutoescapeBlock { condition, body, scope } = node;
        self.scopes.open();
        // The condition is read inside the scope of the body.
        self.scopes.read_expr(condition);
        self.scopes.read_body(body);
        *scope = self.scopes.enter();
        let inner = place.inner();
        let recorded = self.line.max(1);
        self.root(condition, &inner, 0)?;
        let outer = self.eval_context;
        if let Some(error) = fold::unhashable_key(&condition.kind, outer) {
            return Err(error.without_line().at(condition.span));
        }
        match fold::truth(condition, outer) {
            Some(truth) => self.eval_context.autoescape = truth,
            None => self.eval_context.volatile = true,
        }
        self.body(body, &inner)?;
        self.scopes.close(scope);
        self.eval_context = outer;
        Ok(recorded)
    }
}

#[cfg(test)]
mod tests {
    use crate::Template;

    #[test]
    fn constants_are_escaped_before_the_render() {
        let context = serde_json::json!({"x": "<", "t": true});
        let cases = [
            // A concatenation of constants is no Markup, whatever it is made of.
            ("{% autoescape true %}{{ '<' }}{{ ('<'|safe) ~ '>' }}", "&lt;&lt;&gt;"),
            // Filters are no constants where a condition is none.
            ("{% autoescape t %}{{ '<' }}{{ '<'|upper }}{{ '<' or x }}", "<&lt;<"),
            ("{% autoescape true %}{% autoescape t %}{{ '<' }}{% endautoescape %}", "&lt;"),
            (
                "{% autoescape t %}{% autoescape false %}{{ '<' }}{{ x }}{% endautoescape %}",
                "<<",
            ),
            ("{% autoescape 'a'|upper == 'A' %}{{ '<' }}", "&lt;"),
        ];
        for (source, output) in cases {
            let template = Template::compile(&format!("{source}{{% endautoescape %}}")).unwrap();
            assert_eq!(template.render(&context).unwrap(), output, "{source}");
        }
    }

    #[test]
    fn a_macro_is_compiled_where_it_stands() {
        let source = "{% set ns = namespace(m=1) %}{% autoescape true %}\
                      {% macro m() %}{{ '<' }}{{ x }}{{ ['<'|safe, '>']|join }}{{ ['<'|safe, x]|join }}{% endmacro %}\
                      {% set ns.m = m %}{% endautoescape %}{{ ns.m() }}";
        let rendered = Template::compile(source).unwrap().render(&serde_json::json!({"x": "<"}));
        assert_eq!(rendered.unwrap(), "&lt;&lt;<&gt;&lt;&lt;");
    }
}
