//! Which branch of the reference is taken by which case.

use std::collections::BTreeSet;

use crate::case::cases;

/// The branches by function of transformers 5.23.0, each with a case that takes it.
#[rustfmt::skip]
const BRANCHES: &[(&str, &str, &str)] = &[
    ("get_chat_template", "named, the argument names one", "apply/choose/named-argument"),
    ("get_chat_template", "named, the argument names none", "apply/choose/named-argument-is-a-source"),
    ("get_chat_template", "named, tools and a tool_use", "apply/choose/named-tool-use"),
    ("get_chat_template", "named, tools and no tool_use", "apply/choose/named-tools-without-tool-use"),
    ("get_chat_template", "named, default", "apply/choose/named-default"),
    ("get_chat_template", "named, none fits", "apply/choose/named-none-fits"),
    ("get_chat_template", "single, no argument", "apply/choose/single"),
    ("get_chat_template", "single, an argument", "apply/choose/single-argument-is-a-source"),
    ("get_chat_template", "none", "models/legacy-processor/generation-prompt"),
    ("apply_chat_template", "an empty conversation", "apply/messages/empty"),
    ("apply_chat_template", "a conversation that cannot be gone over", "apply/messages/null"),
    ("apply_chat_template", "a message without items", "apply/messages/member-string"),
    ("apply_chat_template", "keys that are None", "apply/messages/null-keys"),
    ("apply_chat_template", "continue and add_generation_prompt", "apply/continue/generation-prompt"),
    ("apply_chat_template", "continue and the mask", "apply/continue/mask"),
    ("apply_chat_template", "kwargs over special tokens", "apply/variables/own-over-special"),
    ("apply_chat_template", "a keyword that render_jinja_template has", "apply/variables/special-token-tools"),
    ("render_jinja_template", "the template does not compile", "apply/render/syntax"),
    ("render_jinja_template", "no tools", "apply/defined/absent"),
    ("render_jinja_template", "tools that cannot be gone over", "apply/tools/number"),
    ("render_jinja_template", "a tool that is a dict", "apply/tools/unchanged"),
    ("render_jinja_template", "a tool that is none", "apply/tools/member-string"),
    ("render_jinja_template", "documents that cannot be gone over", "apply/documents/number"),
    ("render_jinja_template", "a document that is a dict", "apply/documents/unchanged"),
    ("render_jinja_template", "a document that is none", "apply/documents/member"),
    ("render_jinja_template", "continue, the field is missing", "apply/continue/missing"),
    ("render_jinja_template", "continue, a reasoning field", "apply/continue/reasoning-read-by-another-name"),
    ("render_jinja_template", "continue, the source names no field", "apply/continue/source-names-no-field"),
    ("render_jinja_template", "continue, a list with a text", "apply/continue/blocks"),
    ("render_jinja_template", "continue, a list without", "apply/continue/blocks-none"),
    ("render_jinja_template", "continue, no list", "apply/continue/content"),
    ("render_jinja_template", "with the mask", "apply/spans/plain"),
    ("render_jinja_template", "continue, the text is not in the output", "apply/continue/changed"),
    ("render_jinja_template", "continue, the tag is not in the output", "apply/continue/cut-short"),
    ("render_jinja_template", "continue, a space follows the tag", "apply/continue/trailing-space"),
    ("render_jinja_template", "continue, none does", "apply/continue/trimmed"),
    ("_alias_reasoning_fields", "no reasoning", "apply/messages/order-of-keys"),
    ("_alias_reasoning_fields", "reasoning", "apply/reasoning/reasoning"),
    ("_alias_reasoning_fields", "null is no reasoning", "apply/reasoning/null-does-not-count"),
    ("_render_with_assistant_indices", "a keyword that it has", "apply/variables/messages-with-spans"),
    ("_compile_jinja_template", "raise_exception", "apply/render/raised"),
    ("_compile_jinja_template", "strftime_now", "apply/render/clock"),
    ("_compile_jinja_template", "tojson", "apply/render/tojson"),
    ("_compile_jinja_template", "a namespace's underscore", "apply/render/namespace-underscore"),
    ("_from_pretrained", "chat_template.jinja", "folders/template/jinja"),
    ("_from_pretrained", "additional_chat_templates", "folders/template/additional"),
    ("_from_pretrained", "a lone default", "folders/template/additional-default-alone"),
    ("_from_pretrained", "no file of templates", "folders/template/config-string"),
    ("_from_pretrained", "no tokenizer_config.json", "folders/template/jinja"),
    ("_from_pretrained", "additional_special_tokens", "folders/tokens/extra-list"),
    ("_from_pretrained", "other tokens that are strings", "folders/tokens/of-the-model"),
    ("_from_pretrained", "an object of extra tokens", "folders/tokens/extra-object"),
    ("_from_pretrained", "added_tokens_decoder", "folders/tokens/map-unread"),
    ("_from_pretrained", "the map", "folders/tokens/map"),
    ("_from_pretrained", "the map's object of extra tokens", "folders/tokens/map-extra-object"),
    ("PreTrainedTokenizerBase.__init__", "a list of templates", "folders/template/config-list"),
    ("PreTrainedTokenizerBase.__init__", "a token that is None", "folders/tokens/null"),
    ("PreTrainedTokenizerBase.__init__", "a token that is none", "folders/tokens/untyped"),
    ("PreTrainedTokenizerBase.__init__", "a token of the model's that is an object", "folders/tokens/of-the-model"),
    ("_set_model_specific_special_tokens", "no token", "folders/tokens/extra-null-member"),
    ("AutoTokenizer.from_pretrained", "the class is known", "folders/class/Qwen2Tokenizer"),
    ("AutoTokenizer.from_pretrained", "the class is not", "folders/class/NoSuchTokenizer"),
    ("AutoTokenizer.from_pretrained", "a Llama class with bytes", "folders/class/byte-level"),
    ("get_processor_dict", "chat_template.json", "folders/processor/legacy"),
    ("get_processor_dict", "chat_template.json and additional ones", "folders/processor/legacy-conflict"),
    ("get_processor_dict", "chat_template.jinja", "folders/processor/jinja"),
    ("get_processor_dict", "additional ones", "folders/processor/additional"),
    ("get_processor_dict", "a key in processor_config.json", "folders/processor/config"),
    ("get_processor_dict", "no template", "folders/processor/not-the-tokenizer"),
];

#[test]
fn each_branch_has_its_case() {
    let cases = ["apply", "folders", "models"].map(cases);
    let ids: BTreeSet<&str> = cases.iter().flatten().map(|case| case.id.as_str()).collect();
    for (function, branch, id) in BRANCHES {
        assert!(ids.contains(id), "{function}, {branch}: there is no case {id}");
    }
}
