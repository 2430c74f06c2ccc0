"""AReaL's client of SGLang, unmodified, with weights on disk: URL. Run in a folder with tiny/.

It does what AReaL's trainers do with RemoteSGLangEngine: texts are generated, cut short by a
pause, and go on with the weights that are read meanwhile. AReaL's own record of the version of
each token and its log-probabilities are compared with a forward in torch of that policy.
"""

import asyncio
import json
import sys
import threading
import time
import urllib.request
from pathlib import Path

import torch
from transformers import AutoTokenizer

import policy
from areal.api.cli_args import GenerationHyperparameters, InferenceEngineConfig, NameResolveConfig
from areal.api.io_struct import ModelRequest, WeightUpdateMeta
from areal.engine.sglang_remote import RemoteSGLangEngine
from areal.utils import name_resolve, names

UPDATES, TOKENS = 3, 500
url = sys.argv[1]
tokenizer = AutoTokenizer.from_pretrained("tiny")
prompts = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("Once upon a time", "Lily saw", "One day, Tom", "The cat")]
name_resolve.reconfigure(NameResolveConfig(type="nfs", nfs_record_root=str(Path("names").absolute())))
config = InferenceEngineConfig(
    backend="sglang:d1", experiment_name="cbactor", trial_name="tiny", setup_timeout=60, request_timeout=120, max_concurrent_rollouts=16
)
engine = RemoteSGLangEngine(config)
engine.initialize(engine_id="0", addr=url.removeprefix("http://"))


def served():
    with urllib.request.urlopen(url + "/get_weight_version") as answer:
        return json.load(answer)["weight_version"]


def generate():
    """One text for each prompt, as AReaL's workflows ask for them."""
    ask = GenerationHyperparameters(max_new_tokens=TOKENS, temperature=1.0, top_k=2048, ignore_eos=True)

    async def all_of_them():
        return await asyncio.gather(*(engine.agenerate(ModelRequest(input_ids=list(ids), gconfig=ask.new())) for ids in prompts))

    return asyncio.run(all_of_them())


def next_policy(model, version):
    torch.manual_seed(version)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * parameter.std() * 0.05)


def update(model, version):
    """The steps of AReaL's training engines for weights on disk."""
    engine.pause()
    engine.pause_generation()
    meta = WeightUpdateMeta(type="disk", path=str(Path(f"out/weight_update_v{version}").absolute()), clear_checkpoint_after_load=False)
    done = engine.update_weights_from_disk(meta)
    model.save_pretrained(meta.path)
    name = names.update_weights_from_disk("cbactor", "tiny", engine.get_version())
    name_resolve.add(name, str(time.time()), keepalive_ttl=120)
    done.result()
    engine.continue_generation()
    engine.set_version(version)
    engine.resume()


trained, policies = policy.load("tiny"), {0: policy.load("tiny")}
texts, names_served = [], [served()]
for version in range(1, UPDATES + 1):
    next_policy(trained, version)
    policies[version] = policy.load("tiny")
    policies[version].load_state_dict(trained.state_dict())
    open_ones = threading.Thread(target=lambda: texts.extend(generate()))
    open_ones.start()
    time.sleep(0.1)  # some tokens of the old policy
    update(trained, version)
    open_ones.join()
    names_served.append(served())
texts.extend(generate())
engine.destroy()

worst, apart, seen, mixed, tokens = 0.0, 0.0, set(), 0, 0
for text in texts:
    ids, versions = text.input_tokens + text.output_tokens, text.output_versions
    want = {v: policy.log_probs(policies[v], ids)[-len(versions) :].tolist() for v in set(versions) | {0}}
    worst = max([worst] + [abs(want[v][i] - got) for i, (v, got) in enumerate(zip(versions, text.output_logprobs))])
    apart = max([apart] + [abs(want[0][i] - want[v][i]) for i, v in enumerate(versions)])
    seen, mixed, tokens = seen | set(versions), mixed + (len(set(versions)) > 1), tokens + len(versions)
if len(set(names_served)) != UPDATES + 1 or names_served[1:] != [f"weight_update_v{v}" for v in range(1, UPDATES + 1)]:
    sys.exit(f"areal_sglang.py: these versions were served: {names_served}")
if worst > 1e-3 or apart < 1e-2 or not mixed or tokens != TOKENS * len(prompts) * (UPDATES + 1):
    sys.exit(f"areal_sglang.py: {tokens} tokens by {seen}, {mixed} texts by two: {worst} off, the first policy {apart}")
print(
    f"{UPDATES} updates from disk by AReaL's RemoteSGLangEngine: {', '.join(names_served)} served; {tokens} tokens by policies "
    f"{sorted(seen)} ({mixed} of {len(texts)} texts by two of them) with log-probabilities as a forward in torch has them, "
    f"to {worst:.1e}; by the first policy they are up to {apart:.2f} apart"
)
