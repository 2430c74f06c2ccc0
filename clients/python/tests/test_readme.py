import contextlib
import io
import os
import re
import unittest
from pathlib import Path

from tests.rig import TOP, Served

README = Path(__file__).parents[1] / "README.md"


class ReadmeTest(Served):
    flags = ("--weights-root", "{root}")

    def test_examples(self) -> None:
        examples = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
        self.assertGreater(len(examples), 3)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(TOP)
        said = io.StringIO()
        for example in examples:
            with self.subTest(example=example), contextlib.redirect_stdout(said):
                exec(compile(example.replace("http://127.0.0.1:8000", self.server.url), str(README), "exec"), {})
        self.assertIn("by the weights default", said.getvalue())
        self.assertIn("mine-1", self.client().weights().version)


if __name__ == "__main__":
    unittest.main()
