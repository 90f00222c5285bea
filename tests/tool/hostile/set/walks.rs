//! Expressions that read a whole text, list or dict: once a large one, and many times a small one.

use serde_json::json;

use super::Case;

/// The document of all that a template can reach.
const REACHABLE: &str = include_str!("../../../../grammar/reachable.md");

/// Expressions that read the text `s`, besides the plain calls of the filters and methods of a string that they do not call.
const ON_TEXTS: &[&str] = &[
    "s.split('')",
    "s.split('a')|length",
    "s.split(s)",
    "s.replace('', '-')|length",
    "s.replace(s, 'x')",
    "s|wordwrap(1)|length",
    "s|wordwrap(1)|wordwrap(3)|length",
    "s|wordwrap(79)|length",
    "s|wordwrap(10, false)|length",
    "s|wordwrap(5, true, '', false)|length",
    "s|e|length",
    "s|safe|e|length",
    "s|list|length",
    "s|unique|list",
    "s|batch(7)|list|length",
    "s|slice(7)|list|length",
    "s|groupby('x')",
    "s.count('a')",
    "s.count('')",
    "s.find('zz')",
    "s.rfind('zz')",
    "s.index('<>', 100)",
    "s.count(s)",
    "s[1:] in s",
    "s.find(s[500000:] ~ 'q')",
    "s.rfind('q' ~ s[:500000])",
    "s.count(s[:1000] ~ 'q')",
    "s.split(s[:1000] ~ 'q')|length",
    "s.replace(s[:1000] ~ 'q', '')|length",
    "s.splitlines()|length",
    "s.splitlines(true)|length",
    "s.translate({97: 'bbb'})|length",
    "s.partition('z')|length",
    "s.rpartition('z')|length",
    "s.strip('ab <(&h')|length",
    "s|trim('<(&htp:/')|length",
    "s|rejectattr('x')|list",
    "s.center(2000000)|length",
    "s.ljust(2000000)|length",
    "s.rjust(2000000)|length",
    "s.rsplit('a')|length",
    "s.removesuffix(s[1:])",
    "s.rindex('<>', 100)",
    "s|d('')|length",
    "s.expandtabs(3)|length",
    "s|truncate(10)",
    "s|truncate(999999)|length",
    "s|center(1500000)|length",
    "s|indent|length",
    "s|indent(2, true, true)|length",
    "s|string|int",
    "s|int(base=36)",
    "s|format",
    "s|format(1)",
    "s % 1",
    "s % {}",
    "s.format()",
    "s.format(1)",
    "s.format(a=1)",
    "s.format_map({})",
    "s[::2]|length",
    "s[::-1]|length",
    "s|map('upper')|join|length",
    "s|select('eq', 'a')|list|length",
    "s|join('-')|length",
    "s.endswith((s, s, s))",
    "s.zfill(1000)|length",
    "s is in s",
    "s < s ~ 'a'",
    "s == s ~ ''",
    "s.join([s, s])|length",
    "s.join('abc')|length",
    "'é'.join(s)|length",
    "(s|safe ~ '<')|length",
    "s|safe|replace('a', '<')|length",
    "s is lower",
    "s is upper",
    "{s: 1}[s]",
    "[s, s ~ '']|unique|list|length",
    "dict(s)",
    "s|map(s)|list",
    "[1]|map(attribute=s)|list",
    "s|default('')|length",
    "s.removeprefix(s[:-1])",
    "namespace(**{s: 1})",
    "dict(**{s: 1})|length",
    "strftime_now(s)|length",
    "s|length * s",
    "raise_exception(s)",
    "s.nope.nope",
    "nope[s]",
    "s()",
    "[].append(s)",
    "s|nope",
];

/// Texts of about a million characters, each of which is the worst case of some expression, with their names.
const TEXTS: &[(&str, &str)] = &[
    ("words", "'ab ' * 333333"),
    ("a", "'a' * 1000000"),
    ("angles", "'<' * 1000000"),
    ("brackets", "'(' * 1000000"),
    ("closing brackets", "'x' ~ ')' * 999999"),
    ("ampersands", "'&' * 1000000"),
    ("mail", "'a@b.c,' * 166666"),
    ("at signs", "'@' * 1000000"),
    ("dots", "'www.' * 250000"),
    ("quotes", "'\\'\"' * 500000"),
    ("line feeds", "'\\n' * 1000000"),
    ("blanks", "' ' * 1000000"),
    ("tabs", "'\\t' * 1000000"),
    ("percent", "'%s' * 500000"),
    ("percent percent", "'%' * 1000000"),
    ("percent names", "'%(a)s' * 200000"),
    ("percent bracket", "'%(' * 500000"),
    ("braces", "'{' * 1000000"),
    ("fields", "'{0}' * 333333"),
    ("nested fields", "'{:{}}' * 200000"),
    ("attributes", "'{0' ~ '.a' * 499999"),
    ("conversions", "'{!r}' * 250000"),
    ("digits", "'7' * 1000000"),
    ("exponent", "'1e' ~ '9' * 999998"),
    ("accents", "'é' * 500000"),
    ("wide", "'😀' * 250000"),
    ("combining", "'a\u{301}' * 333333"),
    ("hyphens", "'x-' * 500000"),
    ("zero", "'\\x00' * 1000000"),
    ("controls", "'\\x85' * 500000"),
];

/// Expressions that read the list of numbers `l`, the list of texts `t`, or the dict `d`.
const ON_CONTAINERS: &[&str] = &[
    "l|sort|length",
    "l|sort(reverse=true)|length",
    "l|map('string')|sort|length",
    "l|unique|list|length",
    "l|groupby('x')",
    "t|groupby(0)|length",
    "t|groupby('nope', default=1)|length",
    "l|batch(2)|list|length",
    "l|slice(3)|list|length",
    "l|join|length",
    "l|sum",
    "l|max",
    "t|max",
    "l|tojson|length",
    "l|tojson(indent=4)|length",
    "l|string|length",
    "l|reverse|list|length",
    "l|list|length",
    "l|last",
    "(l + l)|length",
    "l[::-1]|length",
    "l[1:]|length",
    "l|select|list|length",
    "l|map('abs')|list|length",
    "-1 in l",
    "'zz' in t",
    "l.index(-1)",
    "l.count(5)",
    "l == l[::-1][::-1]",
    "l < l[::-1]",
    "l|dictsort",
    "l|items",
    "dict(l)",
    "l|map('float')|sum",
    "l|sum(start=0.5)",
    "t|sum(start='')",
    "[l, l, l]|sum(start=[])|length",
    "([[1]] * 100000)|sum(start=[])",
    "([(1,)] * 100000)|sum(start=())",
    "l|batch(1)|sum(start=[])|length",
    "l|map('list')|list",
    "l|batch(1000)|map('sum')|list|length",
    "l|batch(1)|list|sort|length",
    "t|join('x' * 300)|length",
    "t|join(t)|length",
    "'%s' * 1000 % tuple(l)",
    "l.copy()|length",
    "l is eq l",
    "dict(l|batch(2))|length",
    "d|dictsort|length",
    "d|dictsort(by='value')|length",
    "d|items|list|length",
    "d.items()|list|length",
    "d|tojson|length",
    "d|tojson(sort_keys=true)|length",
    "d|string|length",
    "d == d.copy()",
    "d.items() <= d.items()",
    "d.values()|sum",
    "d|join|length",
    "d|max",
    "d|length",
    "d|list|length",
    "namespace(**d)",
    "dict(**d)",
    "'%(1)s' % d",
    "'{0[5]}'.format(d)",
    "dict(d, **d)|length",
    "l|map('batch', 2)|list",
    "[1, 'a']|sort",
    "([1, none] * 50000)|sort",
    "(l + ['a'])|sort",
    "([0.0 / 1, 1e400 - 1e400] * 50000)|sort|length",
    "([1e999 * 0] * 100000)|unique|list|length",
    "([1e999 * 0] * 100000)|groupby(0)",
    "l|map('round', 2)|list|length",
    "l|map('format', 1)|list",
    "l|map('tojson')|list|length",
    "l|map('string')|map('length')|sum",
    "t|map('upper')|map('lower')|list|length",
    "t|map('list')|map('join')|list|length",
    "t|selectattr('x')|list",
    "t|map(attribute='a.b.c.d')|list|length",
    "t|map(attribute=0)|list|length",
    "t|sort(attribute='0,1,2')|length",
    "t|sort(attribute=0)|length",
    "t|unique(attribute=0)|list",
    "t|map('replace', '', 'x' * 100)|list|length",
    "t|map('center', 10000)|list|length",
    "l|map('center', 10000)|list|length",
    "[l] * 100000 == [l] * 100000",
    "[l] * 1000 == [l[:]] * 1000",
    "[[l] * 300] * 300",
    "([[l] * 300] * 300)|string|length",
    "([[l] * 300] * 300)|tojson|length",
    "{(1, 2, 3): 1}[(1, 2, 3)]",
    "{tuple(l): 1}",
    "[l[:], l[:]]|unique|list",
];

/// Returns expressions that read the text `s`: those of [`ON_TEXTS`], and calls of each filter and method of a string that they do not
/// call, without arguments, with one and with two.
fn walks_on_texts() -> Vec<String> {
    let names = |row: &'static str| row.split('`').skip(1).step_by(2);
    let (_, filters) = REACHABLE.split_once("## Filters").expect("the section is there");
    let filters = filters.lines().find(|line| line.starts_with('`')).expect("it has a row");
    let mut rows = REACHABLE.lines().filter_map(|line| line.strip_prefix("- a string, `'a'`: "));
    let methods = rows.next().expect("the document has strings");
    let filters = names(filters).map(|name| format!("|{name}"));
    let calls = filters.chain(names(methods).map(|name| format!(".{name}")));
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let is_called = |call: &String| {
        let mut rests = ON_TEXTS.iter().flat_map(|walk| walk.split(call.as_str()).skip(1));
        rests.any(|rest| !rest.starts_with(is_word))
    };
    let calls = calls.filter(|call| !is_called(call));
    let plain = calls.flat_map(|call| ["", "s", "s, s"].map(|arguments| format!("s{call}({arguments})|list|length")));
    plain.chain(ON_TEXTS.iter().map(|walk| (*walk).to_owned())).collect()
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let walks = walks_on_texts();
    for (name, text) in TEXTS {
        for walk in &walks {
            let template = format!("{{% set s = {text} %}}{{{{ {walk} }}}}");
            cases.push(render(format!("walk {name}: {walk}"), template));
        }
    }
    for walk in &walks {
        let template = format!("{{% set s = 'ab <' * 50 %}}{{% for i in range(100000) %}}{{{{ {walk} }}}}{{% endfor %}}");
        cases.push(render(format!("walk in a loop: {walk}"), template));
    }
    for walk in ON_CONTAINERS {
        let values = "{% set l = range(100000)|list %}{% set t = l|map('string')|list %}{% set d = dict(l|batch(2)) %}";
        cases.push(render(format!("list: {walk}"), format!("{values}{{{{ {walk} }}}}")));
        cases.push(render(
            format!("list in a loop: {walk}"),
            format!(
                "{}{{% for i in range(100000) %}}{{% set x = {walk} %}}{{% endfor %}}",
                values.replace("100000", "100")
            ),
        ));
    }
    cases
}

fn render(name: String, template: String) -> Case {
    Case::render(name, move || template.clone(), || json!({}))
}
