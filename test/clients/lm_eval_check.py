"""The log-likelihoods that lm-eval has from the server against a forward in torch: MODEL OUT.

OUT is where lm-eval has left its samples. Log-likelihoods are sums over a few tokens each; they
are compared with 1e-3 for each token, and so is which continuation is the likeliest one.
"""

import json
import sys
from pathlib import Path

from transformers import AutoTokenizer

import policy

folder, out = sys.argv[1:]
model, tokenizer = policy.load(folder), AutoTokenizer.from_pretrained(folder)


def samples(task):
    (path,) = Path(out).rglob(f"samples_{task}_*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def ids(text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def compare(what, got, greedy, context, whole):
    """greedy is whether lm-eval was told that each token is the likeliest at its place."""
    rows = policy.forward(model, whole)[len(context) - 1 :]
    tail = whole[len(context) :]
    want = sum(row[token].item() for row, token in zip(rows, tail))
    assert len(rows) == len(tail) > 0
    if abs(got - want) > 1e-3 * len(tail):
        sys.exit(f"lm_eval_check.py: {what}: {got} over {len(tail)} tokens, and torch has {want}")
    if greedy is not None and greedy != all(row.argmax() == token for row, token in zip(rows, tail)):
        sys.exit(f"lm_eval_check.py: {what}: greedy is {greedy}, and torch does not say so")
    return abs(got - want) / len(tail)


def choices():
    for sample in samples("cbactor_choice"):
        for argument, answer in zip(sample["arguments"].values(), sample["filtered_resps"]):
            start, end = argument["arg_0"], argument["arg_1"]
            greedy = str(answer[1]) == "True"
            yield compare(start + end, float(answer[0]), greedy, ids(start), ids(start + end))


def texts():
    for sample in samples("cbactor_text"):
        text = sample["doc"]["text"]
        got = sample["filtered_resps"][0]
        got = float(got[0] if isinstance(got, list) else got)
        yield compare(text, got, None, [tokenizer.bos_token_id], [tokenizer.bos_token_id] + ids(text))


told = [f"{len(e)} {what} to {max(e):.1e} a token" for what, e in (("continuations", list(choices())), ("whole texts", list(texts())))]
print("log-likelihoods as a forward in torch has them:", ", ".join(told))
