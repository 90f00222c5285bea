"""The package and transformers make the same prompts, fail together and mark the same tokens."""

import json

import pytest
from conftest import CORPUS, FAMILIES, GENERATION, MODELS, make_rows

from chat_template import ChatTemplate, Options, TemplateError


def ask(call):
    try:
        return call()
    except Exception:  # noqa: BLE001 the reference raises many types
        return Exception


def arguments_of(context):
    context = {key: value for key, value in context.items() if not key.endswith("_token")}
    return context.pop("messages", []), context


def assert_equal(tokenizer, source, contexts):
    tokenizer.chat_template = source
    try:
        template = ChatTemplate.from_tokenizer(tokenizer)
    except TemplateError:
        template = None
    for context in contexts:
        messages, variables = arguments_of(context)
        expected = ask(lambda: tokenizer.apply_chat_template(messages, tokenize=False, **variables))
        found = Exception if template is None else ask(lambda: template.apply_chat_template(messages, tokenize=False, **variables))
        assert found == expected


def conversations():
    if (CORPUS / "conversations.json").exists():
        return [entry["context"] for entry in json.loads((CORPUS / "conversations.json").read_text(encoding="utf-8"))]
    return [{"messages": messages, "add_generation_prompt": index % 2 == 0} for index, messages in enumerate(make_rows(30))]


@pytest.mark.parametrize("path", sorted(FAMILIES.rglob("*.jinja")), ids=lambda path: path.stem)
def test_families(tokenizer, path):
    assert_equal(tokenizer, path.read_bytes().decode(), conversations()[:30])


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside the project")
def test_100_templates_of_the_corpus(tokenizer):
    paths = sorted((CORPUS / "templates").glob("*.jinja"))
    chosen = paths[:: len(paths) // 100][:100]
    assert len(chosen) == 100
    for path in chosen:
        assert_equal(tokenizer, path.read_bytes().decode(), conversations()[:30])


@pytest.mark.parametrize("model", ["jinja", "string", "named", "additional"])
def test_models(tokenizer, model):
    template = ChatTemplate.from_pretrained(MODELS / model)
    tokenizer.chat_template = template.source
    messages = json.loads((MODELS / "conversation.json").read_text(encoding="utf-8"))
    messages = messages.get("messages", messages) if isinstance(messages, dict) else messages
    expected = ask(lambda: tokenizer.apply_chat_template(messages, tokenize=False, **template.special_tokens))
    assert ask(lambda: template.apply_chat_template(messages)) == expected


@pytest.mark.parametrize("truncation", [None, "left", "right"])
@pytest.mark.parametrize("kind", [0, 1], ids=["byte-level", "byte-fallback"])
def test_masks_of_2000_rows(tokenizers, kind, truncation):
    tokenizer = tokenizers[kind]
    tokenizer.chat_template = GENERATION
    template = ChatTemplate.from_tokenizer(tokenizer)
    rows = make_rows(2000)
    how = {}
    if truncation is not None:
        tokenizer.truncation_side = truncation
        how = {"truncation": True, "max_length": 40}
    expected = tokenizer.apply_chat_template(rows, return_assistant_tokens_mask=True, **how)
    prompts = template.render_batch(rows)
    encodings = tokenizer([prompt.text for prompt in prompts], add_special_tokens=False, **how)
    for index, prompt in enumerate(prompts):
        encoding = encodings.encodings[index]
        mask = expected["assistant_masks"][index]
        assert prompt.assistant_mask(encoding.offsets, reference=True) == mask
        assert prompt.assistant_mask(encoding.offsets) == mask
        labels = [token if marked else -100 for token, marked in zip(encoding.ids, mask)]
        assert prompt.labels(encoding) == labels
    assert sum(map(sum, expected["assistant_masks"])) > 2000


def test_options_choose_the_spans():
    template = ChatTemplate.from_source(GENERATION.replace("{% generation %}", "").replace("{% endgeneration %}", ""))
    messages = [{"role": "user", "content": "Hï"}, {"role": "assistant", "content": "A"}, {"role": "assistant", "content": "Bé"}]

    def texts(**options):
        prompt = template.render(messages, options=Options(**options))
        return [prompt.text[start:end] for start, end in prompt.assistant_spans]

    assert texts() == ["A<|im_end|>", "Bé<|im_end|>"]
    assert texts(end_token=False) == ["A", "Bé"]
    assert texts(last_turn_only=True) == ["Bé<|im_end|>"]
    assert texts(roles=["user"]) == ["Hï<|im_end|>"]
