"""How to generate: the fields that calls have beside their prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class Sampling(TypedDict, total=False):
    """Fields of /v1/completions and /v1/chat/completions, under their names there. What is
    left out is as the model's authors recommend."""

    max_tokens: int
    min_tokens: int
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    presence_penalty: float
    frequency_penalty: float
    repetition_penalty: float
    logit_bias: Mapping[str, float]
    bad_words: Sequence[str]
    allowed_token_ids: Sequence[int]
    stop: str | Sequence[str]
    stop_token_ids: Sequence[int]
    include_stop_str_in_output: bool
    ignore_eos: bool
    seed: int
    priority: int
    user: str
    cache_salt: str
    timeout: float  # seconds until it ends with finish_reason deadline
    first_token_timeout: float
    min_weight_version: str  # no older weights may compute it
    max_staleness: int  # updates that it may live through
    kv_policy: str  # keep, recompute or abort, when weights change
    response_format: Mapping[str, Any]
    structured_outputs: Mapping[str, Any]
    tools: Sequence[Mapping[str, Any]]
    tool_choice: str | Mapping[str, Any]
    parallel_tool_calls: bool
    chat_template_kwargs: Mapping[str, Any]  # of chats: variables of the template, {"enable_thinking": False}
    continue_final_message: bool  # of chats: the model goes on with the last message
    add_generation_prompt: bool  # of chats: False leaves out what opens the answer
    logprobs: bool  # True if it is left out
    model: str  # another model, or an adapter


_KNOWN = frozenset(Sampling.__annotations__)


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they are sent, but for logprobs. The server ignores fields that it does
    not know, as OpenAI's does: a misspelt one would go unnoticed."""
    odd = sorted(set(given) - _KNOWN)
    if odd == ["n"]:
        raise TypeError("there is no parameter 'n' here, as one text comes of this: see Client.generate_many")
    if odd:
        raise TypeError(f"there is no parameter {odd[0]!r}: see cbactor.Sampling")
    return {name: value for name, value in given.items() if name != "logprobs"}
