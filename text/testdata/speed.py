#!/usr/bin/env python3
"""Prints how fast the Python package tokenizers encodes a text of English, on one thread, and how fast package text does,
in turns, for each small tokenizer.
usage: speed.py [TEXT]     from the repository's root; TEXT: a file, else a page of the repository"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
import tokenizers  # after the settings that it reads

path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "docs/design.md").resolve()
text = path.read_text(encoding="utf-8")
text *= 1 + (1 << 20) // len(text)
print(f"tokenizers {tokenizers.__version__}, {len(text.encode())} bytes")
go = {}
for _ in range(3):
    out = subprocess.run(["go", "test", "./text", "-run", "^$", "-bench", "EncodeFile", "-benchtime", "2x"], check=True, text=True,
                         capture_output=True, env={**os.environ, "CBACTOR_TEXT": str(path), "GOMAXPROCS": "1"}).stdout
    for name, speed in re.findall(r"BenchmarkEncodeFile/(\S+).*?([\d.]+) MB/s", out):
        go.setdefault(name, []).append(float(speed))
for name in sorted(go):
    tokenizer = tokenizers.Tokenizer.from_file(f"text/testdata/{name}.tokenizer.json")
    speeds = []
    for _ in range(3):
        began = time.perf_counter()
        tokenizer.encode(text, add_special_tokens=False)
        speeds.append(len(text.encode()) / (time.perf_counter() - began) / 1e6)
    ours, theirs = statistics.median(go[name]), statistics.median(speeds)
    print(f"{name:28} {ours:7.2f} MB/s   Python {theirs:6.2f} MB/s   {ours / theirs:5.1f} times")
