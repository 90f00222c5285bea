"""Renders the chat templates of language models exactly as transformers does.

    template = ChatTemplate.from_pretrained("Qwen3-8B")
    text = template.apply_chat_template([{"role": "user", "content": "Hi"}], add_generation_prompt=True)

`chat_template.sft` makes tokens and labels for training.
"""

from ._native import (
    AnswerError,
    CancelFlag,
    ChatTemplate,
    LimitError,
    MismatchError,
    Options,
    Prepared,
    Prompt,
    RefusedError,
    RequestError,
    TemplateError,
    TemplateFaultError,
    __version__,
)

__all__ = [
    "AnswerError",
    "CancelFlag",
    "ChatTemplate",
    "LimitError",
    "MismatchError",
    "Options",
    "Prepared",
    "Prompt",
    "RefusedError",
    "RequestError",
    "TemplateError",
    "TemplateFaultError",
    "__version__",
]
