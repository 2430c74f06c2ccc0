#!/usr/bin/env python3
"""Measures how fast cbactor decodes over the batch and over the context, by what it computes and stores. See README.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import machine
import record
import running

BATCHES = [1, 2, 4, 8, 16, 32, 64]
CONTEXTS = [64, 128, 256, 512, 1024, 2048, 4096, 8192]
AT_CONTEXT, AT_BATCH = 256, 8  # what the other quantity is over each

# The series by name, with their flags. The cache's type is that of computing, where none is said.
SERIES = {
    "f32": ["--compute", "f32"],
    "bf16": ["--compute", "bf16"],
    "int8": ["--compute", "int8"],
    "int8, KV bf16": ["--compute", "int8", "--kv-dtype", "bf16"],
    "int8, KV f32": ["--compute", "int8", "--kv-dtype", "f32"],
}


def points(batches: list[int], contexts: list[int]) -> list[tuple[str, int, int]]:
    """Curve, batch and context of each point."""
    return [("batch", b, AT_CONTEXT) for b in batches] + [("context", AT_BATCH, c) for c in contexts]


def measure(cbactor: str, model: str, series: str, point: tuple[str, int, int], timeout: float) -> dict:
    """One point. A run that fails is a record, too."""
    curve, batch, context = point
    one = {"series": series, "curve": curve, "batch": batch, "context": context, "load": record.load()}
    # The longest contexts take all of the cache that requests of theirs can use: no margin of it stays free.
    command = [cbactor, "bench", "--model", model, "--batch", str(batch), "--context", str(context), "--safety-margin", "0", "--json", *SERIES[series]]
    try:
        found = running.run(command, timeout)
        if len(found) != 1:
            raise running.Failed(f"{len(found)} results instead of one")
        return one | {"per_s": round(found[0]["generated_per_s"], 1), "prefill_per_s": round(found[0]["prefill_per_s"], 1)}
    except running.Failed as failed:
        return one | {"error": str(failed)}


def numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n]


def main(argv: list[str]) -> int:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--cbactor", default="bin/cbactor")
    p.add_argument("--model", default="smollm2")
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--series", default=";".join(SERIES), help="some of " + ";".join(SERIES))
    p.add_argument("--batches", type=numbers, default=BATCHES)
    p.add_argument("--contexts", type=numbers, default=CONTEXTS)
    p.add_argument("--timeout", type=float, default=900, help="seconds of a point")
    p.add_argument("--out", type=Path, help="file for every measurement, as JSON")
    o = p.parse_args(argv)
    series = o.series.split(";")
    unknown = [s for s in series if s not in SERIES]
    if unknown:
        p.error(f"there is no series {unknown[0]!r}: they are {', '.join(SERIES)}")
    if o.rounds < 1:
        p.error(f"--rounds is {o.rounds}, must be 1 or more")
    if not o.batches and not o.contexts:
        p.error("--batches and --contexts are empty: there is nothing to measure")
    about = {"kind": "curves", **record.begin(machine.facts(), o.cbactor), "model": o.model,
             "series": {s: " ".join(SERIES[s]) for s in series}, "at_context": AT_CONTEXT, "at_batch": AT_BATCH}
    runs: list[dict] = []
    for number in range(1, o.rounds + 1):
        for point in points(o.batches, o.contexts):  # the series in turn at each point, so that what drifts hits all of them
            for s in series:
                runs.append({"round": number} | measure(o.cbactor, o.model, s, point, o.timeout))
                told = runs[-1].get("error") or f"{runs[-1]['per_s']:9.1f} tokens/s"
                print(f"round {number}  {s:13} batch {point[1]:3} context {point[2]:5} {told}", flush=True)
                if o.out:
                    record.write(o.out, about, runs)
    return record.status(runs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
