#!/usr/bin/env python3
"""Measures cbactor and its peers on the same workloads in turn, round after round. See README.md."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import engines
import machine
import record
import running

HERE = Path(__file__).resolve().parent
WORKLOADS = HERE.parent / "workloads.json"


def arguments(argv: list[str], flags: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--peers", default=str(record.cache() / "peers"), help="folder that setup.sh has filled")
    p.add_argument("--models", default=str(record.cache()), help="folder that make assets has filled")
    p.add_argument("--cbactor", default="bin/cbactor")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--engines", default=",".join(engines.default(flags)), help="some of " + ", ".join(engines.ENGINES))
    p.add_argument("--workloads", default="single,decode,mixed,shared")
    p.add_argument("--long", type=float, default=60, help="seconds; a workload that takes an engine longer is run in two rounds only")
    p.add_argument("--timeout", type=float, default=900, help="seconds of a command")
    p.add_argument("--out", type=Path, help="file for every measurement, as JSON")
    p.add_argument("--resume", action="store_true", help="go on with the measurements that are in --out, of the same cbactor on such a machine")
    o = p.parse_args(argv)
    o.engines, o.workloads = o.engines.split(","), o.workloads.split(",")
    unknown = [e for e in o.engines if e not in engines.ENGINES]
    if unknown:
        p.error(f"there is no engine {unknown[0]!r}: they are {', '.join(engines.ENGINES)}")
    if o.rounds < 1:
        p.error(f"--rounds is {o.rounds}, must be 1 or more")
    if o.resume and not o.out:
        p.error("--resume goes on with --out, which is not given")
    return o


def round_of(o: argparse.Namespace, number: int) -> list[str]:
    """The engines in the order of a round: each round begins with another one, so that none is always first."""
    at = (number - 1) % len(o.engines)
    return o.engines[at:] + o.engines[:at]


def due(o: argparse.Namespace, name: str, number: int, runs: list[dict]) -> list[str]:
    """The workloads that an engine is to run in a round. Twice is enough of those that took it long, and of engines that are kept from AMX, which are a second look."""
    mine = [r for r in runs if r["engine"] == name]

    def wanted(w: str) -> bool:
        ran = [r for r in mine if r["workload"] == w]
        if any(r["round"] == number for r in ran):
            return False
        return len(ran) < 2 if not engines.ENGINES[name].amx else sum(r.get("seconds", 0) > o.long for r in ran) < 2

    return [w for w in o.workloads if wanted(w)]


def earlier(o: argparse.Namespace, about: dict) -> list[dict]:
    """The measurements that are gone on with."""
    if not o.resume or not o.out.exists():
        return []
    file = json.loads(o.out.read_text())
    same = ["kind", "cbactor", "machine", "engines", "workloads"]
    different = [name for name in same if file.get(name) != about[name]]
    if different:
        sys.exit(f"compare: {o.out} has measurements with other {', '.join(different)}: they cannot be gone on with")
    about["date"] = file["date"]
    return file["runs"]


def measure(o: argparse.Namespace, name: str, number: int, work: dict, workloads: list[str]) -> list[dict]:
    """Workloads on one engine, once. A run that fails is a record, too."""
    e = engines.ENGINES[name]
    model = str(Path(o.models) / ("SmolLM2-135M-Instruct.Q4_1.gguf" if e.weights == engines.GGUF else "SmolLM2-135M-Instruct-bf16"))
    found: list[dict] = []
    why: dict[str, str] = {}  # by the workload that failed
    load = record.load()
    for names, command in e.commands(o.cbactor, o.peers, str(HERE), model, str(WORKLOADS), workloads):
        try:
            found += running.run(command, o.timeout)
        except running.Failed as failed:
            why |= dict.fromkeys(names, str(failed))
    runs = []
    for w in workloads:
        one = {"round": number, "engine": name, "workload": w, "load": load}
        try:
            if w in why:
                raise running.Failed(why[w])
            runs.append(one | running.checked(found, w, work[w]))
        except running.Failed as failed:
            runs.append(one | {"error": str(failed)})
        told = runs[-1].get("error") or f"{runs[-1]['per_s']:.1f} tokens/s"
        print(f"round {number}  {name:20} {w:7} {told}", flush=True)
    return runs


def table(o: argparse.Namespace, runs: list[dict]) -> str:
    """Medians, with the least and the most, and the first engine's ratio to each."""
    lines = []
    for w in o.workloads:
        lines.append(f"\n{w}: generated tokens/s, median (least to most); {o.engines[0]}'s ratio to it")
        base = values(runs, o.engines[0], w)
        for e in o.engines:
            v = values(runs, e, w)
            failed = sum(r["engine"] == e and r["workload"] == w and "error" in r for r in runs)
            told = f"{statistics.median(v):9.1f} ({min(v):.1f} to {max(v):.1f})" if v else "        -"
            ratio = f" {statistics.median(base) / statistics.median(v):6.2f}x" if v and base else ""
            lines.append(f"  {e:20} {told}{ratio}" + (f"  {failed} failed" if failed else ""))
    return "\n".join(lines)


def values(runs: list[dict], engine: str, workload: str) -> list[float]:
    return [r["per_s"] for r in runs if r["engine"] == engine and r["workload"] == workload and "per_s" in r]


def main(argv: list[str]) -> int:
    facts = machine.facts()
    o = arguments(argv, facts["flags"])
    work = json.loads(WORKLOADS.read_text())
    unknown = [w for w in o.workloads if w not in work]
    if unknown:
        print(f"compare: there is no workload {unknown[0]!r}: they are {', '.join(work)}", file=sys.stderr)
        return 2
    about = {
        "kind": "compare",
        **record.begin(facts, o.cbactor),
        "engines": {e: {"version": version(o, e), "weights": engines.ENGINES[e].weights, "how": engines.ENGINES[e].how} for e in o.engines},
        "workloads": {w: {"requests": len(work[w]), "prompt": sum(len(r["prompt"]) for r in work[w]), "generated": sum(r["max_new"] for r in work[w])}
                      for w in o.workloads},
    }
    runs = earlier(o, about)
    for number in range(1, o.rounds + 1):
        for name in round_of(o, number):
            workloads = due(o, name, number, runs)
            if workloads:
                runs += measure(o, name, number, work, workloads)
            if o.out:  # each time, so that what is there outlives an interruption
                record.write(o.out, about, runs)
    print(table(o, runs))
    return record.status(runs)


def version(o: argparse.Namespace, name: str) -> str:
    """What an engine's own package says that it is."""
    e = engines.ENGINES[name]
    return record.version(o.cbactor) if not e.venv else record.peer_version(o.peers, e.venv, e.peer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
