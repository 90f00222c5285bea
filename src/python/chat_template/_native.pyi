from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, Literal, final, overload

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

_Span = tuple[int, int]
_Limits = Mapping[str, int | None]
_Tools = Sequence[dict[str, Any] | Callable[..., Any]] | None
_Documents = Sequence[dict[str, Any]] | None

__version__: str

class TemplateError(ValueError):
    """A chat template has no prompt for the arguments. `str(error)` shows the place in the template."""

    kind: str
    """The exception of the reference, such as `type` or `undefined`."""
    message: str
    """The message of the reference."""
    line: int | None
    """The line of the template, from 1."""
    path: str | None
    """The JSON pointer of the value at fault."""

class RefusedError(TemplateError):
    """The template called `raise_exception`."""

class RequestError(TemplateError):
    """An argument breaks the contract of `apply_chat_template`."""

class MismatchError(TemplateError):
    """A value does not fit this template."""

class AnswerError(TemplateError):
    """The text of a model does not have the form that its description says."""

class LimitError(TemplateError):
    """A limit was reached, or the call was cancelled."""

class TemplateFaultError(TemplateError):
    """The template does not compile or fails on a value of its own, or the folder cannot be read."""

@final
class CancelFlag:
    """A flag that ends calls. It can be set from any thread."""

    def __new__(cls) -> CancelFlag: ...
    def cancel(self) -> None: ...
    @property
    def is_cancelled(self) -> bool: ...

@final
class Options:
    """What a render returns besides the text, and what it may use."""

    def __new__(
        cls,
        *,
        roles: str | Iterable[str] | None = None,
        reasoning: bool = True,
        last_turn_only: bool = False,
        end_token: bool = True,
        content_only: bool = False,
        trailing_space: bool = False,
        next_marker: bool = False,
        control_tokens: Literal["leave", "refuse", "split"] = "leave",
        control_roles: str | Iterable[str] | None = None,
        limits: _Limits | None = None,
        cancel: CancelFlag | None = None,
        now: datetime | None = None,
    ) -> Options: ...
    def __reduce__(self) -> Any: ...

@final
class Prompt:
    """The prompt of a conversation. All spans are `(start, end)` in code points of `text`."""

    @property
    def text(self) -> str: ...
    @property
    def segments(self) -> list[dict[str, Any]]: ...
    @property
    def turns(self) -> list[dict[str, Any]]: ...
    @property
    def assistant_spans(self) -> list[_Span]: ...
    @property
    def assistant_turns(self) -> list[tuple[int | None, list[_Span] | None]]: ...
    @property
    def unknown_turns(self) -> list[tuple[int | None, str]]: ...
    @property
    def reference_spans(self) -> list[_Span]: ...
    @property
    def control_tokens(self) -> list[dict[str, Any]]: ...
    @property
    def pieces(self) -> list[tuple[str, bool]]: ...
    @property
    def generation_prompt(self) -> tuple[int, int] | None: ...
    @property
    def steps(self) -> int: ...
    def assistant_mask(self, offsets: Iterable[_Span], *, reference: bool = False) -> list[int]: ...
    def labels(self, encoding: Any) -> list[int]: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> Any: ...
    @staticmethod
    def _restore(text: str, properties: dict[str, Any]) -> Prompt: ...

@final
class Prepared:
    """The body of a request as it is written for a template."""

    @property
    def messages(self) -> list[dict[str, Any]]: ...
    @property
    def tools(self) -> list[dict[str, Any]] | None: ...
    @property
    def variables(self) -> dict[str, Any] | None: ...
    @property
    def media(self) -> list[dict[str, Any]]: ...
    @property
    def changes(self) -> list[dict[str, Any]]: ...
    @property
    def add_generation_prompt(self) -> bool: ...
    def render(self) -> tuple[Prompt, list[dict[str, Any]]]: ...
    def count(self, count_tokens: Callable[[str], int]) -> int: ...
    def fit(self, limit: int, count_tokens: Callable[[str], int]) -> tuple[Prompt, list[dict[str, Any]]]: ...
    def grammar(self, format: Literal["gbnf", "lark", "structural_tag"] = "gbnf") -> dict[str, Any] | None: ...
    def __reduce__(self) -> Any: ...
    def after(self, seen: str, sampled: str | None = None) -> tuple[str, list[dict[str, Any]]]: ...

@final
class ChatTemplate:
    """The compiled chat templates of a model with its special tokens. It can be used from any thread, pickled and copied."""

    @staticmethod
    def from_pretrained(
        folder: str | PathLike[str],
        *,
        processor: bool = False,
        ignore_remote_code: bool = False,
        follow_links: bool = False,
        limits: _Limits | None = None,
        cancel: CancelFlag | None = None,
    ) -> ChatTemplate: ...
    @staticmethod
    def from_source(
        source: str, *, limits: _Limits | None = None, cancel: CancelFlag | None = None, **special_tokens: str
    ) -> ChatTemplate: ...
    @staticmethod
    def from_named(
        templates: dict[str, str], *, limits: _Limits | None = None, cancel: CancelFlag | None = None, **special_tokens: str
    ) -> ChatTemplate: ...
    @staticmethod
    def from_gguf(file: str | PathLike[str], *, limits: _Limits | None = None, cancel: CancelFlag | None = None) -> ChatTemplate: ...
    @staticmethod
    def from_config(config: dict[str, Any], *, limits: _Limits | None = None, cancel: CancelFlag | None = None) -> ChatTemplate: ...
    @staticmethod
    def from_tokenizer(tokenizer: Any, *, limits: _Limits | None = None, cancel: CancelFlag | None = None) -> ChatTemplate: ...
    @overload
    def apply_chat_template(
        self,
        conversation: Sequence[Mapping[str, Any]],
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool | None = None,
        continue_final_message: bool | str | None = None,
        *,
        tokenize: Literal[False],
        options: Options | None = None,
        **kwargs: Any,
    ) -> str: ...
    @overload
    def apply_chat_template(
        self,
        conversation: Sequence[Sequence[Mapping[str, Any]]],
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool | None = None,
        continue_final_message: bool | str | None = None,
        *,
        tokenize: Literal[False],
        options: Options | None = None,
        **kwargs: Any,
    ) -> list[str]: ...
    @overload
    def apply_chat_template(
        self,
        conversation: Any,
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool | None = None,
        continue_final_message: bool | str | None = None,
        tokenize: bool | None = None,
        *,
        options: Options | None = None,
        padding: bool | str = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
        return_dict: bool = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Returns what `tokenizer.apply_chat_template` does: the prompt of a conversation, or a list of prompts for a list of conversations,
        and with `tokenize` their tokens. This is the default of a template that was made from a tokenizer."""

    def render(
        self,
        conversation: Any,
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool | None = None,
        continue_final_message: bool | str | None = None,
        *,
        options: Options | None = None,
        **kwargs: Any,
    ) -> Prompt: ...
    def render_batch(
        self,
        conversations: Iterable[Any],
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool | None = None,
        continue_final_message: bool | str | None = None,
        *,
        options: Options | None = None,
        **kwargs: Any,
    ) -> list[Prompt]: ...
    def append(
        self,
        messages: Any,
        seen: str,
        sampled: str | None = None,
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool | None = None,
        *,
        options: Options | None = None,
        **kwargs: Any,
    ) -> str: ...
    def prepare(
        self,
        body: Mapping[str, Any],
        *,
        format: Literal["chat_completions", "responses", "messages"] | None = None,
        policy: Literal["exact", "fit", "strict"] = "fit",
        chat_template: str | None = None,
        later_system: Literal["in_place", "as_user", "merged"] = "in_place",
        media_placeholder: str | None = None,
        keeps_tools: bool = False,
        tools_as_text: bool = False,
        after: Prepared | None = None,
        options: Options | None = None,
    ) -> Prepared: ...
    def inspect(self, limits: _Limits | None = None, *, cancel: CancelFlag | None = None) -> dict[str, Any]: ...
    def parse_response(
        self,
        text: str,
        prefix: str | None = None,
        tools: Sequence[dict[str, Any]] | None = None,
        response_template: dict[str, Any] | None = None,
        *,
        lenient: bool = False,
        limits: _Limits | None = None,
        cancel: CancelFlag | None = None,
    ) -> dict[str, Any]: ...
    def check(self) -> None: ...
    def __copy__(self) -> ChatTemplate: ...
    def __deepcopy__(self, _memo: Any, /) -> ChatTemplate: ...
    @property
    def source(self) -> str | None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def special_tokens(self) -> dict[str, str]: ...
    @property
    def control_tokens(self) -> list[str]: ...
    @property
    def variables(self) -> list[str]: ...
    @property
    def has_generation(self) -> bool: ...
    def __reduce__(self) -> Any: ...
    @staticmethod
    def _rebuild(config: dict[str, Any], tokens: dict[str, str], tokenizer: Any) -> ChatTemplate: ...
    @staticmethod
    def _from_folder(folder: str | PathLike[str], options: tuple[bool, bool, bool]) -> ChatTemplate: ...
    def _render_rows(
        self,
        rows: Iterable[Any],
        options: Options,
        *,
        format: str | None = None,
        remove_null: bool = True,
        json_arguments: bool = False,
    ) -> list[list[tuple[Any, ...]] | Exception]: ...
