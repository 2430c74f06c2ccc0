"""What is compared: how each engine is run, on which weights, and how it is set."""

from __future__ import annotations

from dataclasses import dataclass

GGUF = "the GGUF, Q4_1"
BF16 = "bf16, made from the GGUF"


@dataclass(frozen=True)
class Engine:
    """One engine with its settings."""

    weights: str
    how: str
    venv: str = ""  # its Python under the peers' folder; "": it is cbactor
    peer: str = ""  # its function in peer.py
    amx: bool = True  # False: it is kept from AMX's matrix instructions

    def commands(self, cbactor: str, peers: str, here: str, model: str, workloads: str, names: list[str]) -> list[tuple[list[str], list[str]]]:
        """The commands that measure the workloads of the names, each behind those that it is for."""
        if not self.venv:
            return [([n], [cbactor, "bench", "--model", model, "--workload", workloads, "--name", n, "--json"]) for n in names]
        amx = [] if self.amx else ["--no-amx"]
        return [(names, [f"{peers}/{self.venv}/bin/python", f"{here}/peer.py", self.peer, model, workloads, ",".join(names), *amx])]


ENGINES = {
    "cbactor": Engine(GGUF, "cbactor bench with its defaults; a process for each workload"),
    "cbactor-bf16": Engine(BF16, "the same"),
    "openvino": Engine(GGUF, "OpenVINO GenAI's ContinuousBatchingPipeline, prefix caching, steps of 512 tokens", "ov", "openvino"),
    "openvino-no-amx": Engine(
        GGUF, "the same, inference precision f32: its bf16 without AMX is slower on each workload", "ov", "openvino", amx=False
    ),
    "llama.cpp": Engine(
        GGUF, "xllamacpp: llama.cpp's server inside the process, asked over HTTP by as many threads as there are requests, 32 slots", "xl", "llama.cpp"
    ),
    "vllm": Engine(BF16, "LLM.generate, prefix caching, steps of 512 tokens", "torch", "vllm"),
    "vllm-no-amx": Engine(BF16, "the same, oneDNN and attention kept from AMX", "torch", "vllm", amx=False),
    "transformers": Engine(BF16, "the manager of continuous batching, steps of 512 tokens, sdpa", "torch", "transformers"),
    "transformers-no-amx": Engine(BF16, "the same, oneDNN kept from AMX", "torch", "transformers", amx=False),
}


def default(flags: list[str]) -> list[str]:
    """The engines that are compared on a CPU with these flags."""
    return [name for name, e in ENGINES.items() if e.amx or "amx_tile" in flags]
