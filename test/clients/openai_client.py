"""OpenAI's Python client, unmodified, against a server of the tiny model: URL KEY."""

import sys

import openai

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


def errors():
    create = client.chat.completions.create
    other = openai.OpenAI(base_url=url + "/v1", api_key="other", max_retries=0)
    refused("another key", openai.AuthenticationError, lambda: other.models.list())
    refused("no such model", openai.NotFoundError, lambda: create(**{**chat, "model": "nobody"}))
    for stream in False, True:
        refused("a hot temperature", openai.BadRequestError, lambda: create(**{**chat, "temperature": 3}, stream=stream))
        refused("a long prompt", openai.BadRequestError, lambda: client.completions.create(model="tiny", prompt=[5] * 5000, stream=stream))


check("the model is listed", [m.id for m in client.models.list()] == ["tiny"])
check("the model is found", client.models.retrieve("tiny").id == "tiny")
chats()
completions()
errors()
print("openai_client.py: chats, completions, models and errors as they should be, by openai", openai.__version__)
