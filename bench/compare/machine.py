"""Facts of the machine that a figure depends on, none of which names it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

# The flags of a CPU that kernels choose by.
MATTER = "avx2 fma avx512f avx512bw avx512vl avx512dq avx512_vnni avx512_bf16 avx512_fp16 avx_vnni amx_tile amx_int8 amx_bf16".split()


def facts(root: Path = Path("/")) -> dict:
    """CPU, caches, memory, kernel. What the system does not tell is left out."""
    cpu = _fields(root / "proc/cpuinfo")
    memory = _fields(root / "proc/meminfo").get("MemTotal", "0 kB").split()[0]
    have = set(cpu.get("flags", "").split())
    return {
        "cpu": cpu.get("model name", platform.machine()),
        "cores": len(os.sched_getaffinity(0)),
        "flags": [f for f in MATTER if f in have],
        "caches": _caches(root / "sys/devices/system/cpu/cpu0/cache"),
        "memory_gib": round(int(memory) / 2**20, 1),
        "kernel": platform.release(),
    }


def _fields(path: Path) -> dict[str, str]:
    """The first value of each "key : value" of a file."""
    found: dict[str, str] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    return found


def _caches(folder: Path) -> dict[str, str]:
    """Sizes by level, instructions left out; how many CPUs share one is with it."""
    found = {}
    for index in sorted(folder.glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            shared = (index / "shared_cpu_list").read_text().strip()
            found[f"L{level}"] = f"{size}, of CPU {shared}"
    return found
