//! Templates that are expensive to compile, and errors that are expensive to explain: constants that grow, high expressions over large
//! operands, many names, long names, and trails of many calls and loops.

use serde_json::{Value, json};

use super::Case;

/// The length of a source: a little less than the default limit.
const LENGTH: usize = (1 << 20) - 1000;

/// Statements that fill a whole source. Each has a constant that is expensive to fold.
const CONSTANTS: &[&str] = &[
    "{% set a = ['a'*4096]*255 %}",
    "{% set a = [7**5000]*255 %}",
    "{% set d = {'a':'b'*4096,'c':'d'*4096} %}",
    "{{ 'a'*4096 }}",
    "{{ (7**4900)|string|length }}",
    "{{ (['a'*1000]*4000)|join|length }}",
    "{{ ('<'*30000)|escape|length }}",
    "{{ ('aB '*30000)|title|length }}",
    "{{ '%.1000f' % 1.1 }}",
    "{% if 'a'*4000 < 'a'*4000 < 'a' %}{% endif %}",
];

/// Operations that are applied to one large operand as often as an expression may be high.
const LINKS: &[&str] = &[
    " + 1", "|list", "[0]", ".a", "()", " or 1", " and 1", " == 1", " ~ 1", " is odd",
];

/// Returns the cases of this file.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, template: fn() -> String, context: fn() -> Value| {
        cases.push(Case::render(format!("compiling: {name}"), template, context));
    };
    let none = || json!({});
    add(
        "nested dicts of Markup",
        || format!("{{{{ 1 in {}['a'|safe]*255{} }}}}", "{1:".repeat(70), "}".repeat(70)),
        none,
    );
    add(
        "sums of long texts",
        || fill(&format!("{{% set x = x{} %}}", " + 'a'*4096".repeat(480))),
        none,
    );
    add(
        "a large list in `false and`",
        || {
            format!(
                "{{{{ {}{{[{}]:1}}{} }}}}",
                "0 and (".repeat(60),
                "1,".repeat(400_000),
                ")".repeat(60)
            )
        },
        none,
    );
    add(
        "macros that look for caller",
        || around("{% macro m() %}", &"{{a}}".repeat(180_000), "{% endmacro %}"),
        none,
    );
    add(
        "loops in a template that sets loop",
        || around("{% for a in b %}", &"{{a}}".repeat(180_000), "{% endfor %}") + "{% set loop = 1 %}",
        none,
    );
    add(
        "a macro that reads many variables",
        || {
            format!(
                "{}{{% macro m() %}}{}{{% endmacro %}}",
                names(|n| format!("{{%set a{n}=1%}}")),
                names(|n| format!("{{{{a{n}}}}}"))
            )
        },
        none,
    );
    add(
        "many parameters",
        || {
            format!(
                "{{% macro m({}b) %}}{{% endmacro %}}{{{{ m() }}}}",
                names(|n| format!("a{n},"))
            )
        },
        none,
    );
    add(
        "macros around a long list that look for caller",
        || {
            around(
                "{% macro m() %}",
                &format!("{{{{ [{}] }}}}", "1,".repeat(500_000)),
                "{% endmacro %}",
            ) + "{{ caller }}"
        },
        none,
    );
    add(
        "loops around assignments in a template that sets loop",
        || {
            let loops = around("{% for a in b %}", &"{%set a=1%}".repeat(90_000), "{% endfor %}");
            format!("{{% set loop = 1 %}}{loops}")
        },
        none,
    );
    add(
        "macros around reads of an outer variable",
        || {
            let list = format!("{{{{ [{}] }}}}", "a,".repeat(500_000));
            format!("{{% set a = 1 %}}{}", around("{% macro m() %}", &list, "{% endmacro %}"))
        },
        none,
    );
    add(
        "ifs around many names",
        || {
            let names: String = (0..140_000).map(|n| format!("a{n:x},")).collect();
            around("{%if x%}", &format!("{{% set {names}b = x %}}"), "{%endif%}")
        },
        none,
    );
    add(
        "a dense tree beside large values",
        || {
            let list = format!("{}x{},", "[".repeat(70), "]".repeat(70)).repeat(7300);
            let values = ["a", "b", "c"].map(|name| format!("{{% set {name} = '{name}' * 33554000 %}}"));
            format!(
                "{{% if x %}}{{{{ [{list}] }}}}{{% endif %}}{}{{{{ a }}}}{{{{ b }}}}",
                values.concat()
            )
        },
        none,
    );
    add(
        "keywords beside large values",
        || {
            let calls = "a(b=a),".repeat(149_000);
            let values = ["a", "b", "c"].map(|name| format!("{{% set {name} = '{name}' * 33554000 %}}"));
            format!(
                "{{% if x %}}{{{{ [{calls}] }}}}{{% endif %}}{}{{{{ a }}}}{{{{ b }}}}",
                values.concat()
            )
        },
        none,
    );
    let pad = || json!({"pad": (0..30_000).collect::<Vec<_>>(), "m": [1]});
    add(
        "a note of many operands",
        || format!("{{{{ 1{} }}}}", "<m".repeat(60_000)),
        pad,
    );
    let messages = || json!({"messages": vec![1; 2_000_000]});
    add(
        "a trail of many loops",
        || trail("f", "{% for a in [{'a':1}] %}", 15, "{% endfor %}", 40),
        messages,
    );
    add("a trail of a long name", || trail(&"f".repeat(250_000), "", 0, "", 150), none);
    add(
        "a note of a long path",
        || format!("{{{{ s{} + 1 }}}}", "[0]".repeat(480)),
        || json!({"pad": vec![[1]; 100_000], "s": "abc"}),
    );
    add(
        "an error of a long name",
        || format!("{{{{ {}.x }}}}", "a".repeat(900_000)),
        none,
    );
    for constant in CONSTANTS {
        cases.push(Case::render(format!("compiling: {constant}"), || fill(constant), none));
    }
    for link in LINKS {
        for last in ["x", "1"] {
            let template = move || format!("{{{{ [{}{last}]{} }}}}", "1,".repeat(250_000), link.repeat(480));
            cases.push(Case::render(format!("compiling: [{last}]{link}"), template, none));
        }
    }
    cases.push(Case::request("compiling: twenty named templates".to_owned(), || {
        let source = format!("{{{{ [{}] }}}}", "1,".repeat(515_000));
        let templates: serde_json::Map<String, Value> = (0..20).map(|n| (format!("t{n}"), json!(source))).collect();
        json!({"apply": {"template": templates, "template_name": "t1", "messages": [{"role": "user", "content": "a"}]}})
    }));
    cases.push(Case::request("compiling: named templates of constants".to_owned(), || {
        let loops =
            "{% for i in range(100000) %}{% for j in range(100) %}{% set z = (messages|length+6)**4900 %}{% endfor %}{% endfor %}";
        let constants = "{{ (7**4900)|string|length }}".repeat(900);
        let mut templates: serde_json::Map<String, Value> = (0..36).map(|n| (format!("t{n}"), json!(constants))).collect();
        templates.insert("default".to_owned(), json!(loops));
        json!({"apply": {"template": templates, "messages": [{"role": "user", "content": "a"}]}})
    }));
    cases.push(Case::request("compiling: the source in a request".to_owned(), || {
        let source = format!("{{{{ [{}] }}}}", "1+1,".repeat(250_000));
        json!({"apply": {"template": "x", "template_name": source, "messages": [{"role": "user", "content": "a"}]}})
    }));
    cases
}

/// Returns a source of repeated statements.
fn fill(statement: &str) -> String {
    statement.repeat(LENGTH / statement.len())
}

/// Returns a body inside 120 statements.
fn around(open: &str, body: &str, close: &str) -> String {
    format!("{}{body}{}", open.repeat(120), close.repeat(120))
}

fn names(write: impl Fn(usize) -> String) -> String {
    (0..30_000).map(write).collect()
}

/// Returns a macro that calls itself inside loops, and then fails.
fn trail(name: &str, open: &str, loops: usize, close: &str, calls: usize) -> String {
    let (open, close) = (open.repeat(loops), close.repeat(loops));
    format!(
        "{{% macro {name}(n, f) %}}{open}{{% if n %}}{{{{ f(n-1, f) }}}}{{% else %}}{{{{ 1/0 }}}}{{% endif %}}{close}{{% endmacro %}}{{% set f = {name} %}}{{{{ f({calls}, f) }}}}"
    )
}
