"""Runs one peer over workloads and prints a line of JSON for each: peer.py ENGINE MODEL WORKLOADS.json NAME[,NAME...] [--no-amx]"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from typing import Callable

THREADS = len(os.sched_getaffinity(0))
STEP = 512  # tokens that a step computes, as cbactor's default is
PAST_BF16 = "AVX512_CORE_BF16"  # oneDNN's name of what comes before AMX

Request = dict  # {"prompt": [ids], "max_new": n}
Run = Callable[[list[Request]], list]  # the generated ids of each


def warm_up(requests: list[Request]) -> list[Request]:
    """What is run before the clock: of the workload's shape, 8 requests, 32 and 16 tokens at most, of random ids. See WarmUp in bench/synthetic.go."""
    first, ids = requests[0], random.Random(1)
    above = 1 + max(max(r["prompt"]) for r in requests)
    return [
        {"prompt": [ids.randrange(above) for _ in range(min(32, len(first["prompt"])))], "max_new": min(16, first["max_new"])}
        for _ in range(min(8, len(requests)))
    ]


def measure(engine: str, work: dict, names: list[str], run: Run) -> None:
    for name in names:
        requests = work[name]
        run(warm_up(requests))
        start = time.perf_counter()
        outputs = run(requests)
        seconds = time.perf_counter() - start
        said = {"engine": engine, "workload": name, "seconds": seconds, "generated_tokens": sum(len(o) for o in outputs)}
        print("RESULT " + json.dumps(said), flush=True)


def openvino(model: str, amx: bool) -> Run:
    import numpy as np
    import openvino as ov
    import openvino_genai as genai

    s = genai.SchedulerConfig()
    s.cache_size, s.max_num_batched_tokens, s.max_num_seqs = 1, STEP, 64
    s.enable_prefix_caching, s.dynamic_split_fuse = True, True
    settings = {"INFERENCE_NUM_THREADS": THREADS} | ({} if amx else {"INFERENCE_PRECISION_HINT": "f32"})
    pipe = genai.ContinuousBatchingPipeline(model, s, "CPU", settings)

    def config(r: Request):
        c = genai.GenerationConfig()
        c.max_new_tokens, c.ignore_eos, c.do_sample = r["max_new"], True, False
        return c

    def run(requests: list[Request]) -> list:
        prompts = [ov.Tensor(np.array([r["prompt"]], dtype=np.int64)) for r in requests]
        return [o.m_generation_ids[0] for o in pipe.generate(prompts, [config(r) for r in requests])]

    return run


def vllm(model: str, amx: bool) -> Run:
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "2", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "OMP_NUM_THREADS": str(THREADS)}
    if not amx:
        import torch

        torch.cpu._is_amx_tile_supported = lambda: False  # what it chooses its attention by; its processes are forked from this one
    from vllm import LLM, SamplingParams

    llm = LLM(model, dtype="bfloat16", max_model_len=2048, max_num_seqs=64, max_num_batched_tokens=STEP, enable_prefix_caching=True)

    def run(requests: list[Request]) -> list:
        params = [SamplingParams(temperature=0, max_tokens=r["max_new"], ignore_eos=True) for r in requests]
        return [o.outputs[0].token_ids for o in llm.generate([{"prompt_token_ids": r["prompt"]} for r in requests], params, use_tqdm=False)]

    return run


def transformers(model: str, amx: bool) -> Run:
    sys.path.insert(0, os.path.join(sys.prefix, "..", "transformers"))  # newer than the one that vLLM takes
    import torch
    from transformers import AutoModelForCausalLM, GenerationConfig
    from transformers.generation import ContinuousBatchingConfig

    torch.set_num_threads(THREADS)
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.bfloat16, attn_implementation="sdpa").eval()
    generation = GenerationConfig(do_sample=False, max_new_tokens=128, eos_token_id=-1, pad_token_id=2)
    batching = ContinuousBatchingConfig(num_blocks=256, max_batch_tokens=STEP, use_cuda_graph=False)

    def run(requests: list[Request]) -> list:
        m = loaded.init_continuous_batching(generation_config=generation, continuous_batching_config=batching)
        m.start()
        for i, r in enumerate(requests):
            m.add_request(r["prompt"], request_id=f"r{i}", max_new_tokens=r["max_new"])
        outputs = {}
        while len(outputs) < len(requests):
            o = m.get_result(timeout=5)
            if o is not None:
                outputs[o.request_id] = o.generated_tokens
            elif not m.is_running():
                raise SystemExit("transformers: its loop has ended with requests open")
        m.stop(block=True)
        return list(outputs.values())

    return run


def llama_cpp(model: str, amx: bool) -> Run:
    import concurrent.futures
    import urllib.request

    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path, p.n_ctx, p.n_parallel, p.n_batch, p.n_ubatch, p.port = model, 32768, 32, STEP, STEP, 0
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = THREADS
    server = xllamacpp.Server(p)

    def one(r: Request) -> list:
        asked = {"prompt": r["prompt"], "n_predict": r["max_new"], "ignore_eos": True, "temperature": 0, "cache_prompt": True, "return_tokens": True}
        call = urllib.request.Request(server.listening_address + "/completion", json.dumps(asked).encode(), {"Content-Type": "application/json"})
        answer = json.load(urllib.request.urlopen(call, timeout=900))
        return answer.get("tokens") or [0] * answer["tokens_predicted"]

    def run(requests: list[Request]) -> list:
        with concurrent.futures.ThreadPoolExecutor(64) as threads:
            return list(threads.map(one, requests))

    return run


ENGINES = {"openvino": openvino, "vllm": vllm, "transformers": transformers, "llama.cpp": llama_cpp}


def main(engine: str, model: str, workloads: str, names: str, *flags: str) -> None:
    amx = "--no-amx" not in flags
    if not amx and engine != "openvino":
        os.environ["ONEDNN_MAX_CPU_ISA"] = PAST_BF16
    with open(workloads) as f:
        work = json.load(f)
    measure(engine, work, names.split(","), ENGINES[engine](model, amx))
    sys.stdout.flush()
    if engine == "llama.cpp":
        os._exit(0)  # its server's thread does not end


if __name__ == "__main__":
    main(*sys.argv[1:])
