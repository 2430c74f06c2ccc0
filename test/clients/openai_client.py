"""OpenAI's Python client, unmodified, against a server of two models: URL KEY.

They are the tiny one, and, as "calls", the same with a chat template that has tools.
"""

import sys
from typing import List, Literal

import openai
from pydantic import BaseModel, Field

url, key = sys.argv[1:]
client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
chat = dict(model="tiny", messages=[{"role": "user", "content": "Write a story."}], temperature=0)


def check(what, holds):
    if not holds:
        sys.exit(f"openai_client.py: not so: {what}")


def refused(what, kind, call):
    try:
        call()
    except kind as error:
        check(f"{what} has a code and a message: {error.body}", error.code and error.body["message"])
        return
    sys.exit(f"openai_client.py: {what} is not refused")


def chats():
    whole = client.chat.completions.create(**chat, max_completion_tokens=12, n=2, logprobs=True, top_logprobs=3, stop=["zebra"])
    first = whole.choices[0]
    check("two texts", len(whole.choices) == 2 and first.message.role == "assistant" and first.message.content)
    check("log-probabilities", len(first.logprobs.content) == 12 and len(first.logprobs.content[0].top_logprobs) == 3)
    check("usage", whole.usage.completion_tokens == 24 and first.finish_reason == "length")
    words, usage = ["", ""], None
    for chunk in client.chat.completions.create(**chat, max_tokens=12, n=2, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            words[choice.index] += choice.delta.content or ""
    check("streamed as whole", words == [c.message.content for c in whole.choices])
    check("usage of a stream", usage.total_tokens == whole.usage.total_tokens)


def completions():
    for prompt in "Once upon a time", ["One day", "Lily"], [1, 400, 300], [[1, 400], [500]]:
        ask = dict(model="tiny", prompt=prompt, max_tokens=8, temperature=0, extra_body={"return_token_ids": True})
        whole = client.completions.create(**ask, logprobs=2)
        words = [""] * len(whole.choices)
        for chunk in client.completions.create(**ask, stream=True):
            words[chunk.choices[0].index] += chunk.choices[0].text
        check(f"{prompt} streamed as whole", words == [c.text for c in whole.choices])
        for choice in whole.choices:
            check(f"ids of {prompt}", len(choice.token_ids) == len(choice.logprobs.token_logprobs) <= 8)


class Like(BaseModel):
    what: Literal["cats", "dogs", "birds"]
    much: bool


class Pet(BaseModel):
    """What the texts must be, as the client itself makes a schema of it and reads them."""

    name: str = Field(max_length=12)
    age: int = Field(ge=1, le=30)
    likes: List[Like] = Field(max_length=2)


class Weather(BaseModel):
    place: Literal["Rome", "Oslo"]
    days: int = Field(ge=1, le=9)


def formats():
    ask = dict(model="tiny", messages=[{"role": "user", "content": "A pet?"}], seed=3, max_completion_tokens=600)
    for choice in client.chat.completions.parse(**ask, n=3, response_format=Pet).choices:
        check(f"a pet: {choice.message.content}", choice.finish_reason == "stop" and isinstance(choice.message.parsed, Pet))
    with client.chat.completions.stream(**ask, response_format=Pet) as stream:
        for _ in stream:
            pass
        check("a pet streamed", isinstance(stream.get_final_completion().choices[0].message.parsed, Pet))
    for extra, words in ({"structured_outputs": {"regex": "[a-c]{4}"}}, None), ({"guided_choice": ["yes", "no"]}, ("yes", "no")):
        text = client.completions.create(model="tiny", prompt="Well: ", extra_body=extra).choices[0].text
        check(f"{extra}: {text}", text in words if words else len(text) == 4 and set(text) <= set("abc"))


def calls():
    tools = [openai.pydantic_function_tool(Weather)]
    ask = dict(model="calls", messages=[{"role": "user", "content": "Rain?"}], tools=tools, seed=3, max_completion_tokens=600)
    for choice in "required", {"type": "function", "function": {"name": "Weather"}}:
        first = client.chat.completions.parse(**ask, tool_choice=choice).choices[0]
        call = first.message.tool_calls[0]
        check(f"a call: {call}", first.finish_reason == "tool_calls" and isinstance(call.function.parsed_arguments, Weather))
        with client.chat.completions.stream(**ask, tool_choice=choice) as stream:
            kinds = {event.type for event in stream}
            last = stream.get_final_completion().choices[0].message.tool_calls[0]
        check("a call streamed", last.function.arguments == call.function.arguments and "tool_calls.function.arguments.done" in kinds)
    asked = {"role": "assistant", "content": None, "tool_calls": [{"id": call.id, "type": "function", "function": {"name": "Weather", "arguments": call.function.arguments}}]}
    more = {**ask, "messages": [*ask["messages"], asked, {"role": "tool", "tool_call_id": call.id, "content": "rain"}], "max_completion_tokens": 5}
    check("the conversation goes on", client.chat.completions.create(**more).choices[0].finish_reason)
    refused("tools that the template does not know", openai.BadRequestError, lambda: client.chat.completions.create(**{**ask, "model": "tiny"}))


def responses():
    ask = dict(model="tiny", input="Write a story.", instructions="Be kind.", temperature=0, max_output_tokens=12)
    whole = client.responses.create(**ask)
    check("a response that is cut", whole.status == "incomplete" and whole.output_text and whole.usage.output_tokens == 12)
    ask["max_output_tokens"] = 900
    whole = client.responses.create(**ask)
    with client.responses.stream(**ask) as stream:
        words = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        last = stream.get_final_response()
    check("a response streamed", words == whole.output_text == last.output_text)
    ask = dict(model="calls", input="A pet?", max_output_tokens=600)
    check("a pet in a response", isinstance(client.responses.parse(**ask, text_format=Pet).output_parsed, Pet))
    tool = openai.pydantic_function_tool(Weather)["function"]
    ask["tools"] = [{"type": "function", **tool}]
    call = client.responses.parse(**ask, tool_choice="required").output[0]
    check(f"a call in a response: {call}", call.type == "function_call" and Weather.model_validate_json(call.arguments))
    with client.responses.stream(**ask, tool_choice={"type": "function", "name": "Weather"}) as stream:
        kinds = {event.type for event in stream}
        call = stream.get_final_response().output[0]
    check("a call in a response streamed", Weather.model_validate_json(call.arguments) and "response.function_call_arguments.done" in kinds)
    more = [{"role": "user", "content": "Rain?"}, call.model_dump(include={"type", "call_id", "name", "arguments"}), {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]
    check("it goes on", client.responses.create(model="calls", input=more, max_output_tokens=5).output)


def errors():
    create = client.chat.completions.create
    other = openai.OpenAI(base_url=url + "/v1", api_key="other", max_retries=0)
    refused("another key", openai.AuthenticationError, lambda: other.models.list())
    refused("no such model", openai.NotFoundError, lambda: create(**{**chat, "model": "nobody"}))
    for stream in False, True:
        refused("a hot temperature", openai.BadRequestError, lambda: create(**{**chat, "temperature": 3}, stream=stream))
        refused("a long prompt", openai.BadRequestError, lambda: client.completions.create(model="tiny", prompt=[5] * 5000, stream=stream))


check("the models are listed", [m.id for m in client.models.list()] == ["tiny", "calls"])
check("the model is found", client.models.retrieve("tiny").id == "tiny")
chats()
completions()
formats()
calls()
responses()
errors()
print("openai_client.py: chats, completions, formats, calls, responses, models and errors as they should be, by openai", openai.__version__)
