//! `autoescape` (jinja2 3.1.6 `compiler.py`, `visit_ScopedEvalContextModifier`; `runtime.py`, `markup_join`).
//!
//! ```text
//! {% autoescape true %}{{ x }}{{ x ~ ('<b>'|safe) }}{% endautoescape %}   x as &lt;, x as &lt; before <b>
//! ```
//!
//! What is known before the render stands in the tree ([`Autoescape`]); what is not, in `Runtime::autoescape`, which macros, `set` blocks
//! and some filters ask wherever they stand.

use super::{Evaluator, Flow};
use crate::ast::{Autoescape, AutoescapeBlock, Expr};
use crate::error::Result;
use crate::value::{Value, markup};

impl<'a> Evaluator<'a, '_> {
    /// `{% autoescape %}`. A body that is left by `break` leaves the setting behind, as in the reference.
    #[inline(never)]
    pub(super) fn autoescape(&mut self, node: &'a AutoescapeBlock) -> Result<Flow> {
        self.enter_scope(&node.scope)?;
        let outer = self.runtime.autoescape;
        self.runtime.autoescape = self.truth(&node.condition)?.is_yes();
        let flow = self.body(&node.body)?;
        if flow == Flow::Next {
            self.runtime.autoescape = outer;
            self.leave_scope(&node.scope)?;
        }
        Ok(flow)
    }

    /// Whether something is escaped now.
    pub(super) fn escapes(&self, autoescape: Autoescape) -> bool {
        autoescape.is_on(self.runtime.autoescape)
    }

    /// Writes `escape(expr)`, or `str(expr)` where nothing is escaped now. The reference asks before it evaluates.
    #[inline(never)]
    pub(super) fn write_escaped(&mut self, expr: &'a Expr, autoescape: Autoescape) -> Result<()> {
        if !self.escapes(autoescape) {
            return self.write_expr(expr);
        }
        let value = self.expr(expr)?;
        self.write_escape(&value).map_err(|error| error.at(expr.span))
    }

    fn write_escape(&mut self, value: &Value<'a>) -> Result<()> {
        let text = markup::escape(self.runtime, value)?;
        self.write_value(&Value::Str(text))
    }

    /// `markup_join`: if one operand is a Markup, all others are escaped.
    #[inline(never)]
    pub(super) fn markup_concat(&mut self, items: &'a [Expr]) -> Result<Value<'a>> {
        let values = self.all(items)?;
        let is_markup = values.iter().any(Value::is_markup);
        let ((), text) = self.capture(|evaluator| {
            values.into_iter().try_for_each(|value| match is_markup {
                true => evaluator.write_escape(&value),
                false => evaluator.write_value(&value),
            })
        })?;
        markup::markup_if(self.runtime, is_markup, text)
    }
}

#[cfg(test)]
mod tests {
    use crate::Template;

    fn rendered(source: &str) -> String {
        let context = serde_json::json!({"x": "<", "t": true});
        Template::compile(source).unwrap().render(&context).unwrap()
    }

    #[test]
    fn what_a_body_gives_is_a_markup() {
        let cases = [
            ("{{ x }}{{ x ~ ('b'|safe) }}{{ x ~ '&' }}", "&lt;&lt;b&lt;&amp;"),
            ("{% macro m() %}<{% endmacro %}{{ m() }}{{ m() is escaped }}", "<True"),
            (
                "{% set a %}<{% endset %}{{ a }}{% filter replace('<', x) %}<{% endfilter %}",
                "<&lt;",
            ),
            (
                "{% for i in [[1, []]] recursive %}{{ x }}{{ loop(i[1]) is escaped }}{% endfor %}",
                "&lt;True",
            ),
            (
                "{% block b %}{{ x }}{{ [x, 'a'|safe]|join }}{% endblock %}{{ self.b() }}",
                "<&lt;a<&lt;a",
            ),
            ("{{ [x, 'b'|safe]|join(x) }}{{ x|replace('<', '&') }}", "&lt;&lt;b&amp;"),
        ];
        for (body, output) in cases {
            for condition in ["true", "t"] {
                let source = format!("{{% autoescape {condition} %}}{body}{{% endautoescape %}}");
                assert_eq!(rendered(&source), output, "{source}");
            }
        }
    }

    #[test]
    fn what_the_render_decides_is_concatenated_as_plain_text() {
        let body = "{{ ('<'|safe) ~ x }}{% endautoescape %}";
        assert_eq!(rendered(&format!("{{% autoescape true %}}{body}")), "<&lt;");
        assert_eq!(rendered(&format!("{{% autoescape t %}}{body}")), "&lt;&lt;");
    }

    #[test]
    fn a_break_leaves_the_setting_behind() {
        let source = "{% for i in [1, 2] %}{% autoescape true %}{% break %}{% endautoescape %}{% endfor %}\
                      {% set a %}<{% endset %}{{ a is escaped }}";
        assert_eq!(rendered(source), "True");
    }
}
