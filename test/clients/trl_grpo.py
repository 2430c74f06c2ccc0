"""TRL's AsyncGRPOTrainer, unmodified, for a few steps against a server: adapters|weights URL.

Run in a folder with the served model's checkpoint, tiny/. With "adapters" TRL trains a LoRA
adapter and sends each policy over its own HTTP routes; with "weights" it trains all weights,
which cbactor.trl.WeightTransfer sends. Every log-probability that TRL takes from the server is
compared with a forward in torch of the policy that it was drawn from.

Three things of a machine with a GPU are stood in for: package vllm, of which TRL's rollout
worker asks only whether it is installed; the GPU's name; and the step's flash attention.
"""

import functools
import json
import sys
import urllib.request
from types import SimpleNamespace
from unittest import mock

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
from transformers import AutoTokenizer
from trl.chat_template_utils import qwen2_5_chat_template
from trl.experimental.async_grpo import AsyncGRPOConfig, AsyncGRPOTrainer, async_rollout_worker, packing

import policy
from cbactor import Client
from cbactor.trl import WeightTransfer

STEPS, STALENESS = 4, 2


def reward(completion_ids, **_):
    """Texts of many different tokens."""
    return [len(set(ids)) / len(ids) for ids in completion_ids]


def attention(query, key, value, starts, key_starts, *_, softmax_scale, **__):
    """What flash_attn_varlen_func computes: each run of queries is at the end of its keys."""
    outs, groups = [], query.shape[1] // key.shape[1]
    for i in range(len(starts) - 1):
        q = query[starts[i] : starts[i + 1]]
        k, v = (x[key_starts[i] : key_starts[i + 1]].repeat_interleave(groups, 1) for x in (key, value))
        seen = torch.ones(len(q), len(k), dtype=torch.bool).tril(len(k) - len(q))
        q, k, v = (x.transpose(0, 1) for x in (q, k, v))
        outs.append(torch.nn.functional.scaled_dot_product_attention(q, k, v, seen, scale=softmax_scale).transpose(0, 1))
    return torch.cat(outs)


class Kept(WeightTransfer):
    """Keeps a copy of each policy that is sent, by its number."""

    policies = {}

    def send_weights(self, iterator):
        tensors = [(name, tensor.clone()) for name, tensor in iterator]
        self.policies[len(self.policies) + 1] = dict(tensors)
        super().send_weights(iter(tensors))


@functools.cache
def adapted(version):
    return PeftModel.from_pretrained(policy.load("tiny"), f"out/.vllm_lora/trl-policy-v{version}").eval()


@functools.cache
def sent(version):
    model = policy.load("tiny")
    model.load_state_dict(Kept.policies[version], strict=False)
    return model


class Compared:
    """The worker's queue. What is taken out of it is compared with the policies from that of
    its group on: a group's later texts, and the later tokens of a text, may be by newer ones."""

    def __init__(self, queue, newest, policy_of):
        self.queue, self.newest, self.policy_of = queue, newest, policy_of
        self.versions, self.tokens, self.mixed, self.worst, self.apart = set(), 0, 0, 0.0, 0.0

    def get(self, *args, **kwargs):
        sample = self.queue.get(*args, **kwargs)
        self.compare(sample)
        return sample

    def __getattr__(self, name):
        return getattr(self.queue, name)

    def compare(self, sample):
        mine = torch.tensor(sample.completion_mask[1:]) == 1
        got = torch.tensor(sample.old_log_probs[1:])[mine]
        errors = [
            (policy.log_probs(self.policy_of(version), sample.input_ids.tolist())[mine] - got).abs()
            for version in range(sample.model_version, self.newest() + 1)
        ]
        # Tokens [0, cut) by the one policy, and those from cut on by the next.
        splits = [(e.max().item(), i, len(got)) for i, e in enumerate(errors)]
        for i, (old, new) in enumerate(zip(errors, errors[1:])):
            splits += [(torch.cat([old[:cut], new[cut:]]).max().item(), i, cut) for cut in range(1, len(got))]
        error, first, cut = min(splits)
        self.worst = max(self.worst, error)
        self.apart = max([self.apart] + [e.max().item() for i, e in enumerate(errors) if i != first])
        self.versions.add(sample.model_version + first)
        self.mixed += cut < len(got)
        self.tokens += len(got)


def ask(path):
    with urllib.request.urlopen(url + path) as answer:
        return json.load(answer)


if __name__ == "__main__":  # the rollout worker's process imports this file
    kind, url = sys.argv[1:]
    tokenizer = AutoTokenizer.from_pretrained("tiny")
    tokenizer.chat_template = qwen2_5_chat_template  # of those that TRL knows how to read
    starts = ["Write a story about a kite.", "Tell me about a frog.", "Who is Lily?", "A day in the park."]
    options = dict(
        output_dir="out", vllm_server_base_url=url, max_steps=STEPS, num_generations=4,
        per_device_train_batch_size=4, gradient_accumulation_steps=1, max_completion_length=24,
        max_staleness=STALENESS, max_inflight_tasks=8, queue_maxsize=8, token_budget=384, learning_rate=2e-3, use_cpu=True, bf16=False,
        report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True, gradient_checkpointing=False,
    )
    how = {"peft_config": LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", init_lora_weights=False)}
    if kind == "weights":
        how = {"weight_transfer": Kept(Client(url), run="trl", kv_policy="recompute")}
    packing._flash_attn = lambda: SimpleNamespace(flash_attn_varlen_func=attention)
    with (
        mock.patch.object(async_rollout_worker, "is_vllm_available", lambda: True),
        mock.patch.object(torch.cuda, "get_device_name", lambda device: str(device)),
    ):
        trainer = AsyncGRPOTrainer(
            model="tiny", args=AsyncGRPOConfig(**options), reward_funcs=reward, processing_class=tokenizer,
            train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": start}]} for start in starts]), **how,
        )
    assert trainer._lora_sync == (kind == "adapters")
    compared = Compared(trainer.rollout_queue, lambda: trainer.model_version, adapted if kind == "adapters" else sent)
    trainer.rollout_queue = compared
    trainer.train()

    if kind == "adapters":
        served = sorted(a["name"] if isinstance(a, dict) else a for a in ask("/v1/weights")["adapters"])
        want = [f"trl-policy-v{v}" for v in range(STEPS + 1 - STALENESS, STEPS + 2)]
    else:
        served, want = ask("/v1/weights")["version"], f"trl-{STEPS + 1}"
    if served != want or trainer.model_version != STEPS + 1:
        sys.exit(f"trl_grpo.py: {served} is served after {STEPS} steps, and not {want}")
    if compared.worst > 1e-3 or len(compared.versions) < 2 or compared.apart < 1e-2:
        sys.exit(f"trl_grpo.py: log-probabilities: {vars(compared)}")
    print(
        f"{STEPS} steps of TRL's AsyncGRPOTrainer, {kind} synchronised: {served} served; {compared.tokens} tokens by policies "
        f"{sorted(compared.versions)} ({compared.mixed} texts by two of them) with log-probabilities as a forward in torch "
        f"has them, to {compared.worst:.1e}; by another policy they are up to {compared.apart:.2f} apart"
    )
