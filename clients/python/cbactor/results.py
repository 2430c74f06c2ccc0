"""What was generated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Span:
    """Weights of a version made the tokens from start on and before end."""

    version: str
    start: int
    end: int


@dataclass(frozen=True)
class Usage:
    """Tokens of a whole call; those of a prompt count once for all that was made of it."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass
class ToolCall:
    """A call of a function that the model asks for. arguments are JSON, if it has written such."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Generation:
    """What a prompt was continued with.

    For each token of token_ids, logprobs has the natural logarithm of its probability by the
    model's logits alone, processed_logprobs that in the distribution that it was drawn from,
    behind temperature, penalties and filters; -9999 stands for minus infinity. Both are empty
    without logprobs. spans tell which weights sampled, by places in token_ids; kv_spans which
    ones computed the cache behind the last token, by places in prompt and output.
    finish_reason is stop, length, tool_calls, deadline, stale or abort.
    """

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    processed_logprobs: list[float] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    kv_spans: list[Span] = field(default_factory=list)
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    prompt_token_ids: list[int] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None

    @property
    def versions(self) -> list[str]:
        """The weights that sampled, in the order in which they did."""
        return [span.version for span in self.spans]


@dataclass(frozen=True)
class Piece:
    """What came of a stream at once. spans, if any, are of these tokens, by places in the
    whole output; without any, the weights are as before. The last piece has a finish_reason."""

    text: str
    token_ids: list[int]
    logprobs: list[float]
    processed_logprobs: list[float]
    spans: list[Span]
    finish_reason: str | None


def spans_of(told: Any) -> list[Span]:
    """Spans as an answer has them."""
    return [Span(str(s["version"]), int(s["start"]), int(s["end"])) for s in told or []]


def add_calls(calls: list[ToolCall], told: list[dict[str, Any]] | None) -> None:
    """Adds what an answer, or a chunk of one, has of calls."""
    for at, part in enumerate(told or []):
        at = part.get("index", at)
        while len(calls) <= at:
            calls.append(ToolCall())
        function = part.get("function") or {}
        calls[at].id += part.get("id") or ""
        calls[at].name += function.get("name") or ""
        calls[at].arguments += function.get("arguments") or ""


def usage_of(told: dict[str, Any] | None) -> Usage | None:
    """The usage of an answer; None: it does not tell."""
    if not told:
        return None
    cached = (told.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return Usage(told["prompt_tokens"], told["completion_tokens"], cached)
