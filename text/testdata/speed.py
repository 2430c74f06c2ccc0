#!/usr/bin/env python3
"""Prints how fast package text encodes a text of English on one thread, and how fast the Python package tokenizers does,
for each small tokenizer: the best of several tries each, which take turns, so that what disturbs one disturbs both.
usage: speed.py [--rounds N] [--least RATIO] [TEXT]     from the repository's root
TEXT: a file, else a page of the repository. Ends with status 1 where a ratio is below RATIO."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
import tokenizers  # after the settings that it reads

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--least", type=float, default=0)
parser.add_argument("text", nargs="?", default="docs/design.md")
args = parser.parse_args()

text = pathlib.Path(args.text).read_text(encoding="utf-8")
text *= 1 + (1 << 20) // len(text)
size = len(text.encode())
print(f"tokenizers {tokenizers.__version__}, {size} bytes of {args.text}, best of {args.rounds}")


class Ours:
    """The Go twin: a test that answers each name on its input with the nanoseconds of one try."""

    def __init__(self, folder):
        binary, self.file = pathlib.Path(folder, "text.test"), pathlib.Path(folder, "text")
        self.file.write_text(text, encoding="utf-8")
        subprocess.run(["go", "test", "-c", "-o", binary, "./text"], check=True)
        self.process = subprocess.Popen(
            [binary, "-test.run", "^TestEncodeOnDemand$"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="text",
            env={**os.environ, "CBACTOR_TEXT": str(self.file), "GOMAXPROCS": "1"})

    def seconds(self, name):
        print(name, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer.startswith("took "):
            self.process.stdin.close()  # else it waits for more
            sys.exit(f"{name}: {answer}{self.process.stdout.read()}")
        return int(answer.split()[1]) / 1e9

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def theirs(tokenizer):
    began = time.perf_counter()
    tokenizer.encode(text, add_special_tokens=False)
    return time.perf_counter() - began


slow = []
with tempfile.TemporaryDirectory() as folder:
    ours = Ours(folder)
    for path in sorted(pathlib.Path("text/testdata").glob("*.tokenizer.json")):
        name = path.name.removesuffix(".tokenizer.json")
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
        tries = [(ours.seconds(name), theirs(tokenizer)) for _ in range(args.rounds)]
        mine, other = (size / min(one) / 1e6 for one in zip(*tries))
        print(f"{name:28} {mine:7.2f} MB/s   Python {other:6.2f} MB/s   {mine / other:5.1f} times", flush=True)
        if mine < args.least * other:
            slow.append(name)
    ours.close()
if slow:
    sys.exit(f"less than {args.least:g} times as fast: {', '.join(slow)}")
