//! Requests to inspect templates whose analysis takes much time or memory, although compiling and rendering them takes little.

use serde_json::{Map, Value, json};

use super::Case;

/// Writes a part of a template once for each number, with the number for each `#`.
fn repeat(count: usize, part: &str) -> String {
    (0..count).map(|number| part.replace('#', &number.to_string())).collect()
}

/// Writes a list with an item for each number.
fn list(count: usize, separator: &str, item: &str) -> String {
    let items: Vec<String> = (0..count).map(|number| item.replace('#', &number.to_string())).collect();
    items.join(separator)
}

/// A function that makes a template.
type Template = fn() -> String;

const TEMPLATES: &[(&str, Template)] = &[
    ("words of one string", || {
        "{% for m in messages %}{% for c in m.tool_calls or [] %}{% for i in range(7000) %}{{ c.function.name }}-\
         {% endfor %}{% endfor %}{% endfor %}"
            .to_owned()
    }),
    ("variables in branches", || {
        repeat(1500, "{% if a# %}{% set v# = # %}{% endif %}")
    }),
    ("variables and branches", || {
        repeat(1500, "{% set v# = # %}") + &repeat(2000, "{% if a# %}x{% endif %}")
    }),
    ("variables and conditions", || {
        repeat(1500, "{% set v# = # %}") + &repeat(2000, "{{ b and c# }}{{ 1 if a# else 2 }}")
    }),
    ("unpacked variables", || {
        format!(
            "{{% if q %}}{{% set {} = x %}}{{% endif %}}{}",
            list(20_000, ",", "v#"),
            repeat(500, "{% if a# %}x{% endif %}")
        )
    }),
    ("attributes and branches", || {
        format!(
            "{{% set n = namespace({}) %}}{}",
            list(3000, ",", "a#=1"),
            repeat(2000, "{% if a# %}x{% endif %}")
        )
    }),
    ("attributes in branches", || {
        "{% set n = namespace() %}".to_owned() + &repeat(1500, "{% if a# %}{% set n.a# = # %}{% endif %}")
    }),
    ("namespaces and branches", || {
        repeat(1500, "{% set n# = namespace() %}{% if a# %}x{% endif %}")
    }),
    ("facts", || {
        repeat(1500, "{% if a# %}{{ raise_exception('') }}{% endif %}") + &"{{ (b and c) or (d and e) }}".repeat(3000)
    }),
    ("unpacked names", || {
        format!("{{% set {} = {} %}}", list(3000, ",", "a#"), list(3000, "~", "b#"))
    }),
    ("names and constants", || {
        format!("{{{{ f[{}, {}] }}}}", list(3000, "~", "a#"), list(6000, ",", "'a#'"))
    }),
    ("aliases of many", || {
        let set = |number: usize| repeat(180, "{% set x# = a@ %}").replace('@', &number.to_string());
        (0..180).map(set).collect::<String>() + &repeat(180, "{{ a# }}")
    }),
    ("fields in branches", || {
        format!(
            "{{% set n = [{}]|first %}}{}",
            list(200, ",", "0"),
            repeat(6000, "{% if a# %}{% set n = n or messages[0].f# %}{% endif %}")
        )
    }),
    ("fields of fields", || {
        "{% set m = messages[0] %}{% if x %}".to_owned() + &"{% set m = m.a or m.b or m.c or m.d %}".repeat(20_000) + "{% endif %}"
    }),
    ("fields of a namespace", || {
        "{% set ns = namespace() %}".to_owned() + &repeat(9000, "{% set ns.x = messages[0].f# %}") + &"{{ ns.x }}".repeat(20_000)
    }),
    ("findings in a long line", || {
        let names = "{{ a.strip() }}{{ b.lower() }}{{ x[::2] }}{{ '%s' % x }}{{ '<|' + x }}{{ tools }}{{ tools is iterable }}";
        names.repeat(20) + &"{% set x = True %}{% if a %}\n{% endif %}".repeat(20) + &"x".repeat(900_000)
    }),
    ("long subjects", || {
        let name = "b".repeat(45_000);
        format!("{{% if {name} %}}{}{{% endif %}}", format!("{{% elif {name} %}}").repeat(20))
    }),
    ("long texts that grow", || {
        format!("{{% set s = '{}' %}}", "x".repeat(60_000)) + &repeat(1000, "{{ s ~ '#' }}")
    }),
    ("long texts of captures", || {
        format!("{{% set s %}}{}{{{{ x }}}}{{% endset %}}", "x".repeat(90_000)) + &repeat(600, "{% set s# %}{{ s }}#{% endset %}")
    }),
    ("loops that print outputs", || {
        format!("{{% set v = [{}] %}}", list(900, ",", "a#")) + &repeat(2000, "{% for x in l %}{{ v }}{{ b# }}{% endfor %}")
    }),
    ("list in branches", || {
        format!("{{% set s = [{}] %}}", list(3000, ",", "a#")) + &repeat(2000, "{% if b# in s %}{% endif %}")
    }),
    ("paths to a large branch", || {
        "{% if a %}{% for m in messages %}x{% endfor %}{% endif %}".repeat(20)
            + "{% if z %}"
            + &"{% if y %}{% endif %}".repeat(20_000)
            + "{% endif %}"
    }),
    ("arms that are not decided", || {
        format!(
            "{{% for m in messages %}}{{{{ m.content }}}}{{% if m.a %}}{}{{% endif %}}{{% endfor %}}",
            repeat(4000, "{% elif m.a# %}")
        )
    }),
    ("arms that are decided", || {
        format!("{{% if a %}}x{}{{% endif %}}", "{% elif a %}".repeat(64_000))
    }),
    ("long name of a field", || {
        format!(
            "{{% set x = {} %}}{{{{ x.{} }}}}",
            list(450, " or ", "messages[0].a#"),
            "n".repeat(600_000)
        )
    }),
    ("assignments in branches of branches", || {
        "{% if x %}".repeat(120) + &"{%set a=1%}".repeat(90_000) + &"{% endif %}".repeat(120)
    }),
    ("branches that set the last of many names", || {
        format!("{{{{ [{}] }}}}", list(80_000, ",", "a#")) + &"{%if a%}{%set z=1%}{%endif%}".repeat(17_000)
    }),
    ("items of items", || {
        "{% set x = messages[0] %}".to_owned() + &"{% set x = x[i] %}".repeat(25_000)
    }),
];

/// Makes the templates of a model: the default one, which prints the messages, and one for each number.
fn named(count: usize, template: impl Fn(usize) -> String) -> Value {
    let default = (
        "default".to_owned(),
        json!("{% for m in messages %}{{ m.content }}{% endfor %}"),
    );
    let others = (0..count).map(|number| (format!("t{number}"), json!(template(number))));
    std::iter::once(default).chain(others).collect::<Map<String, Value>>().into()
}

/// A function that makes a model's templates.
type Templates = fn() -> Value;

const MODELS: &[(&str, Templates)] = &[
    (
        "long name of a template",
        || json!({"default": "x", "n".repeat(25_000): repeat(20_000, "{{ a# }}")}),
    ),
    ("constants of many templates", || {
        named(999, |number| {
            let list: Vec<String> = (0..24).map(|index| format!("'{:05}'", 24 * number + index)).collect();
            format!("{{{{ [v, w, x, y] == [{}] }}}}", list.join(","))
        })
    }),
    ("variables of many templates", || {
        let name = "n".repeat(90);
        named(999, |number| {
            (0..8)
                .map(|index| format!("{{{{{name}{number}x{index}=={}=={}}}}}", 2 * index, 2 * index + 1))
                .collect()
        })
    }),
    ("findings in many templates", || {
        let faults = [
            "{{a.lower()}}",
            "{{True}}",
            "{{tools}}",
            "{{a[::2]}}",
            "{{'%'%a}}",
            "{{a|tojson(z=1)}}",
            "{{tools is iterable}}",
            "{% generation %}{% endgeneration %}",
            "{%if a%}  {{a}}{%endif%}",
            "<s>{{a}}",
            "<|{{a}}",
            "{%if a%}{%elif a%}{%endif%}",
        ];
        let source = format!(
            "{{%if 0%}}{}{}{{%endif%}}",
            faults.map(|fault| fault.repeat(20)).concat(),
            repeat(20, "{{q#}}")
        );
        named(1_020_000 / (source.len() + 12), |_| source.clone())
    }),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = TEMPLATES
        .iter()
        .map(|(name, template)| {
            Case::request(
                format!("inspect-{name}"),
                move || json!({"inspect": {"template": template()}}),
            )
        })
        .collect();
    cases.extend(MODELS.iter().map(|(name, templates)| {
        Case::request(
            format!("inspect-{name}"),
            move || json!({"inspect": {"template": templates(), "special_tokens": {"bos_token": "<s>"}}}),
        )
    }));
    cases.push(Case::request("inspect-special tokens".to_owned(), || {
        let tokens: Map<String, Value> = (0..20_000).map(|number| (format!("t{number}"), json!("x"))).collect();
        json!({"inspect": {"template": repeat(30_000, "{{ v# }}"), "special_tokens": tokens}})
    }));
    cases
}
