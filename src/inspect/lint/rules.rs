//! The table of rules. Each has a name and the sentences that a finding shows.

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// The name, by which a rule is denied.
    pub name: &'static str,
    /// The group of the report.
    pub group: &'static str,
    /// What is wrong. A `{}` is the text that the finding is about.
    pub what: &'static str,
    /// The harm that it does.
    pub why: &'static str,
    /// How to write it instead.
    pub instead: &'static str,
}

const PORTABLE: &str = "portable";
const WHITE_SPACE: &str = "white space";
const TOKENS: &str = "tokens";
const READING: &str = "reading";

macro_rules! rules {
    ($($id:ident: $name:literal, $group:ident, $what:literal, $why:literal, $instead:literal;)*) => {
        $(pub const $id: Rule = Rule { name: $name, group: $group, what: $what, why: $why, instead: $instead };)*

        /// All rules.
        pub const RULES: &[Rule] = &[$($id),*];
    };
}

rules! {
    PYTHON_METHOD: "python-method", PORTABLE, "`.{}()` is a method of Python",
        "Jinja in other languages has filters and tests, and no methods of Python's types.",
        "use a filter or a test";
    PYTHON_LITERAL: "python-literal", PORTABLE, "`{}` is Python's spelling",
        "Not every Jinja accepts the capital letter.",
        "write it in lower case";
    PRINTED_CONTAINER: "printed-container", PORTABLE, "`{}` is printed as it is",
        "A list or an object is printed in Python's notation, which other languages do not have and models rarely saw.",
        "add `|tojson`";
    SLICE_STEP: "slice-step", PORTABLE, "the slice `{}` has a step",
        "Not every Jinja supports a step in a slice.",
        "use `|reverse`, or a loop with a test of `loop.index0`";
    PERCENT_FORMAT: "percent-format", PORTABLE, "`%` formats a text",
        "In other languages `%` is only the remainder of a division.",
        "join the texts with `~`";
    TOJSON_ARGUMENT: "tojson-argument", PORTABLE, "`tojson` has the argument `{}`",
        "Only transformers' `tojson` knows arguments besides `indent`.",
        "leave the argument out";
    ITERABLE_TEST: "iterable-test", PORTABLE, "`{}` is tested with `is iterable`",
        "In other Jinja engines `none` is iterable, and its length is an error.",
        "test the truth of the value: `{% if tools %}`";
    GENERATION_BLOCK: "generation-block", PORTABLE, "`{% generation %}` is a statement of transformers alone",
        "Another Jinja refuses the whole template.",
        "keep a copy of the template without it for inference";
    STRAY_NEWLINE: "stray-newline", WHITE_SPACE, "an empty line between two tags is printed",
        "The tag removes one line break after it; the second one reaches the prompt.",
        "remove the empty line, or begin the next tag with `{%-`";
    PRINTED_INDENTATION: "printed-indentation", WHITE_SPACE, "the indentation before `{{` is printed",
        "Only the indentation before `{%` is removed.",
        "write `{{-`, or remove the indentation";
    DOUBLE_BOS: "double-bos", TOKENS, "the prompt begins with two BOS tokens",
        "The model has never seen two.",
        "write `bos_token` once";
    SPELLED_BOS: "spelled-bos", TOKENS, "the text of the BOS token is written in the template",
        "Some servers remove the BOS of the tokenizer only if the template reads `bos_token`. Here the prompt gets two.",
        "write `{{ bos_token }}`";
    SPLIT_TOKEN: "split-token", TOKENS, "a control token is put together from pieces, beginning with `{}`",
        "A tool that searches the template for control tokens does not find it, and a value in the middle can make any token.",
        "write each token as one text, chosen by a test";
    UNTRAINED_STOP: "untrained-stop", TOKENS, "the token that ends an answer is written with the next message",
        "A model that is trained on its answers alone does not learn where to stop.",
        "write the token with the message of the assistant, or train the token that begins the next message (`next_marker`)";
    UNSET_NAME: "unset-name", READING, "`{}` is never set",
        "It is undefined unless a caller happens to pass it, and prints nothing or fails.",
        "test `is defined` first, or give it a default";
    UNDEFINED_CALL: "undefined-call", READING, "`{}` is called, and is neither a macro nor a function",
        "A render that reaches the call fails.",
        "call a macro of the template, or a function that Jinja has";
    UNKNOWN_FILTER: "unknown-filter", READING, "transformers has no filter or test `{}`",
        "A render that reaches it fails.",
        "use one that Jinja has";
    NO_GENERATION_PROMPT: "no-generation-prompt", READING, "`add_generation_prompt` is never read",
        "A prompt for an answer does not differ from one for training.",
        "end the template with `{% if add_generation_prompt %}`";
    UNTRIMMED_CONTENT: "untrimmed-content", READING, "the content of the role `{}` is not trimmed, and that of others is",
        "White space at the edges of a text reaches the prompt for one role only.",
        "add `|trim` to all contents or to none";
    REPEATED_TEST: "repeated-test", READING, "an earlier branch has the test `{}`",
        "The branch is never reached.",
        "remove the branch, or correct the test";
    DROPPED_ROLE: "dropped-role", READING, "the content of the role `{}` is dropped without an error",
        "The model does not see what was said, and nobody notices.",
        "write the message, or call `raise_exception`";
}

/// The methods that have a filter, a test or an operator in their place.
pub const METHODS: [(&str, &str); 21] = [
    ("capitalize", "use `|capitalize`"),
    ("endswith", "compare a slice: `text[-3:] == 'end'`"),
    ("find", "use the operator `in`"),
    ("format", "join the texts with `~`"),
    ("get", "write `object.key`, with `|default(…)`"),
    ("index", "use the operator `in`"),
    ("items", "use `|items`"),
    ("join", "use `|join`"),
    ("keys", "loop over the object itself"),
    ("lower", "use `|lower`"),
    ("lstrip", "use `|trim`"),
    ("replace", "use `|replace`"),
    ("rfind", "use the operator `in`"),
    ("rsplit", "take the parts as fields of the message"),
    ("rstrip", "use `|trim`"),
    (
        "split",
        "take the parts as fields of the message, such as `reasoning_content`",
    ),
    ("startswith", "compare a slice: `text[:5] == 'start'`"),
    ("strip", "use `|trim`"),
    ("title", "use `|title`"),
    ("upper", "use `|upper`"),
    ("values", "loop over the object, and look each key up"),
];
