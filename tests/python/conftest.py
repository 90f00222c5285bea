"""What the tests share: the reference's tokenizers, trained here, and conversations."""

import json
import pathlib

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests/models"
FAMILIES = ROOT / "benches/templates"
CORPUS = ROOT.parent / "shared/corpus"

SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
WORDS = ["Hello, how are you?", "The weather in Paris is 21 °C.", "naïve café", "日本語のテキスト", "def f(x):\n    return x + 1", "🙂 fine"]


def train_byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(WORDS * 20, trainer)
    return wrap(tokenizer)


def train_byte_fallback():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    bytes_of_fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=SPECIAL + bytes_of_fallback, show_progress=False)
    tokenizer.train_from_iterator([word for word in WORDS if word.isascii()] * 20, trainer)
    # The bytes are in the vocabulary, and are not tokens that a text can name.
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] in SPECIAL]
    return wrap(Tokenizer.from_str(json.dumps(state)))


def wrap(tokenizer):
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


@pytest.fixture(scope="session")
def tokenizers():
    return [train_byte_level(), train_byte_fallback()]


@pytest.fixture(scope="session")
def tokenizer(tokenizers):
    return tokenizers[0]


def make_rows(count):
    """Returns conversations of one to six turns, with characters of one to four bytes."""
    rows = []
    for index in range(count):
        messages = [{"role": "system", "content": WORDS[index % 6]}] if index % 3 == 0 else []
        for turn in range(1 + index % 5):
            messages.append({"role": "user", "content": f"{WORDS[(index + turn) % 6]} {index}"})
            messages.append({"role": "assistant", "content": WORDS[(index * 7 + turn) % 6] * (1 + turn % 3)})
        rows.append(messages)
    return rows


GENERATION = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>\n"
    "{% endgeneration %}{% else %}{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PLAIN = GENERATION.replace("{% generation %}", "").replace("\n{% endgeneration %}", "\n")


def pytest_addoption(parser):
    parser.addoption("--random-calls", type=int, default=10_000, help="the number of calls with odd types")


@pytest.fixture
def random_calls(request):
    return request.config.getoption("--random-calls")
