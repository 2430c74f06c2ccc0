"""Prompts to text and token ids: calls, and streams."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .errors import ConnectionFailed
from .results import Generation, Piece, add_calls, spans_of, usage_of
from .sampling import Sampling, checked
from .transport import Transport, error_of

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

Prompt = str | Sequence[int]
Message = Mapping[str, Any]

_COMPLETIONS, _CHAT = "/v1/completions", "/v1/chat/completions"


class Generating:
    """The part of a Client that generates."""

    _http: Transport
    model: str | None

    def generate(self, prompt: Prompt, **sampling: Unpack[Sampling]) -> Generation:
        """Continues a text, or token ids."""
        return self._generate([prompt], 1, sampling)[0][0]

    def generate_many(
        self, prompts: Sequence[Prompt], n: int = 1, **sampling: Unpack[Sampling]
    ) -> list[list[Generation]]:
        """Continues each of several prompts n times, in one call: a list of n for each. All
        are texts, or all are token ids."""
        return self._generate(prompts, n, sampling)

    def chat(self, messages: Sequence[Message], **sampling: Unpack[Sampling]) -> Generation:
        """Answers a conversation, [{"role": "user", "content": "..."}]."""
        return _whole(self._http.call("POST", _CHAT, data=self._chat_body(messages, sampling)))[0]

    def stream(self, prompt: Prompt, **sampling: Unpack[Sampling]) -> Stream:
        """Continues a prompt piece by piece."""
        body = self._body(sampling, prompt=prompt if isinstance(prompt, str) else list(prompt))
        if sampling.get("logprobs", True):
            body["logprobs"] = 0
        return Stream(self._http, _COMPLETIONS, body)

    def stream_chat(self, messages: Sequence[Message], **sampling: Unpack[Sampling]) -> Stream:
        """Answers a conversation piece by piece."""
        return Stream(self._http, _CHAT, self._chat_body(messages, sampling))

    def _generate(self, prompts: Sequence[Prompt], n: int, sampling: Sampling) -> list[list[Generation]]:
        body = self._body(sampling, prompt=list(prompts), n=n)
        if sampling.get("logprobs", True):
            body["logprobs"] = 0
        all_of_them = _whole(self._http.call("POST", _COMPLETIONS, data=body))
        return [all_of_them[at : at + n] for at in range(0, len(all_of_them), n)]

    def _chat_body(self, messages: Sequence[Message], sampling: Sampling) -> dict[str, Any]:
        return self._body(sampling, messages=list(messages), logprobs=sampling.get("logprobs", True))

    def _body(self, sampling: Sampling, **more: Any) -> dict[str, Any]:
        """What all calls send."""
        body = {"model": self.model, **checked(sampling), **more, "return_token_ids": True}
        if sampling.get("logprobs", True):
            body["processed_logprobs"] = True
        if body["model"] is None:
            del body["model"]
        return body


class Stream:
    """A generation as it comes: iterate it for its pieces, or wait for its result. Closing it
    early, by leaving its with block or by close, ends the request."""

    def __init__(self, http: Transport, path: str, body: dict[str, Any]) -> None:
        self._whole = Generation()
        self._context = http.stream(path, {**body, "stream": True, "stream_options": {"include_usage": True}})
        self._pieces = self._read(self._context.__enter__())

    def __iter__(self) -> Iterator[Piece]:
        return self._pieces

    def result(self) -> Generation:
        """All of it, once it has ended."""
        for _ in self._pieces:
            pass
        if self._whole.finish_reason is None:
            raise ConnectionFailed("the stream was closed before its end")
        return self._whole

    def close(self) -> None:
        """Ends it. What has come stays."""
        self._pieces.close()
        self._context.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _read(self, events: Iterator[bytes]) -> Generator[Piece, None, None]:
        for data in events:
            if data == b"[DONE]":
                break
            told = json.loads(data)
            if "error" in told:
                raise error_of(told, 0)
            self._whole.usage = usage_of(told.get("usage")) or self._whole.usage
            self._whole.prompt_token_ids += told.get("prompt_token_ids") or []
            for choice in told["choices"]:
                yield _add(self._whole, choice)
        else:
            raise ConnectionFailed("the stream broke off before its end")


def _whole(told: dict[str, Any]) -> list[Generation]:
    """The generations of an answer that is not streamed."""
    usage = usage_of(told.get("usage"))
    every = []
    for choice in sorted(told["choices"], key=lambda choice: int(choice["index"])):
        one = Generation(usage=usage, prompt_token_ids=list(told.get("prompt_token_ids") or []))
        _add(one, choice)
        every.append(one)
    return every


def _add(whole: Generation, choice: dict[str, Any]) -> Piece:
    """Adds what a choice tells, which may be of a chat and of a stream or not."""
    said = choice.get("message") or choice.get("delta") or {}
    weights = choice.get("x_weights") or {}
    piece = Piece(
        text=choice.get("text") or said.get("content") or "",
        token_ids=choice.get("token_ids") or [],
        logprobs=_logprobs(choice.get("logprobs")),
        processed_logprobs=choice.get("x_logprobs") or [],
        spans=spans_of(weights.get("spans")),
        finish_reason=choice.get("finish_reason"),
    )
    whole.text += piece.text
    whole.token_ids += piece.token_ids
    whole.logprobs += piece.logprobs
    whole.processed_logprobs += piece.processed_logprobs
    whole.prompt_token_ids += choice.get("prompt_token_ids") or []
    add_calls(whole.tool_calls, said.get("tool_calls"))
    if piece.finish_reason is not None:  # the last one tells of all
        whole.spans, whole.kv_spans = piece.spans, spans_of(weights.get("kv"))
        whole.finish_reason, whole.stop_reason = piece.finish_reason, choice.get("stop_reason")
    return piece


def _logprobs(told: dict[str, Any] | None) -> list[float]:
    """Those of the tokens, as completions or as chats have them."""
    if not told:
        return []
    if "content" in told:
        return [token["logprob"] for token in told["content"] or []]
    return list(told["token_logprobs"])
