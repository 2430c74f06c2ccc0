import importlib.util
import json
import struct
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cbactor import Entry, Tensor, manifest
from cbactor.safetensors import Shard, shards
from cbactor.spool import spool
from cbactor.tensors import tensor

numpy: Any = importlib.import_module("numpy") if importlib.util.find_spec("numpy") else None
torch: Any = importlib.import_module("torch") if importlib.util.find_spec("torch") else None

ONES = Tensor("BF16", (2, 3), bytes(range(12)))


class ShardTest(unittest.TestCase):
    def test_it_has_the_form_of_safetensors(self) -> None:
        whole = b"".join(Shard([("a.weight", ONES), ("b", Tensor("F32", (1,), b"abcd"))]))
        length = int.from_bytes(whole[:8], "little")
        header = json.loads(whole[8 : 8 + length])
        self.assertEqual({"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, header["a.weight"])
        self.assertEqual({"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}, header["b"])
        self.assertEqual(bytes(range(12)) + b"abcd", whole[8 + length :])

    def test_its_numbers_begin_at_a_multiple_of_eight(self) -> None:
        for n in range(1, 9):
            self.assertEqual(0, len(Shard([("a" * n, ONES)]).head()) % 8)

    def test_its_size_is_told_before_it_is_made(self) -> None:
        shard = Shard([("a", ONES)])
        self.assertEqual(len(b"".join(shard)), shard.nbytes)

    def test_shards_are_cut_by_size_and_made_when_asked_for(self) -> None:
        asked: list[str] = []

        def tensors() -> Iterator[tuple[str, Tensor]]:
            for name in "abcde":
                asked.append(name)
                yield name, ONES

        parts = shards(tensors(), 24)
        first = next(parts)
        self.assertEqual((["a", "b"], ["a", "b", "c"]), ([name for name, _ in first.tensors], asked))
        self.assertEqual([["c", "d"], ["e"]], [[name for name, _ in part.tensors] for part in parts])
        self.assertEqual([1, 1], [len(part.tensors) for part in shards([("a", ONES), ("b", ONES)], 1)])

    def test_files_are_what_is_sent(self) -> None:
        parts = [Shard([("a", ONES)]), Shard([("b", ONES), ("c", ONES)])]
        with tempfile.TemporaryDirectory() as folder:
            files, entries = spool(parts, Path(folder))
            for file, part in zip(files, parts, strict=True):
                self.assertEqual((b"".join(part), part.nbytes), (file.path.read_bytes(), file.nbytes))
                self.assertEqual(file.path.read_bytes(), b"".join(file))
            self.assertEqual([file.path for file in files], sorted(Path(folder).iterdir()))
        self.assertEqual(["a", "b", "c"], [entry.name for entry in entries])
        self.assertRegex(entries[0].digest, "^sha256:[0-9a-f]{64}$")


class TensorTest(unittest.TestCase):
    def test_bytes_that_are_not_of_its_shape(self) -> None:
        for wrong in Tensor("F32", (2, 3), b"abcd"), Tensor("BF16", (2, 3), bytes(11)), Tensor("F8", (2,), bytes(2)):
            with self.assertRaisesRegex(ValueError, "^w has "):
                tensor("w", wrong)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_arrays(self) -> None:
        square = numpy.arange(6, dtype="<f4").reshape(2, 3)
        for value, want in (
            (square, square.tobytes()),
            (square.T, square.T.tobytes()),
            (square[:, ::2], square[:, ::2].tobytes()),
            (square[1, 2], square[1, 2].tobytes()),
            (numpy.zeros((0, 3), "f2"), b""),
        ):
            self.assertEqual(want, bytes(tensor("w", value).data))
        self.assertEqual([Entry("w", "F16", (2, 3))], manifest([("w", square.astype("f2"))]))
        with self.assertRaisesRegex(TypeError, "float64"):
            tensor("w", square.astype("f8"))

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_tensors_of_torch(self) -> None:
        square = torch.arange(6, dtype=torch.float32).reshape(2, 3).requires_grad_()
        for value in square, square.T, square[:, ::2], square.bfloat16(), square.half()[1, 2], square[:0]:
            got = tensor("w", value)
            raw = value.detach().contiguous().reshape(-1).view(torch.uint8).tolist()
            self.assertEqual((raw, tuple(value.shape)), (list(got.data), got.shape))
        kept = [tensor("w", torch.full((1000,), float(n))) for n in range(20)]  # of tensors that are gone
        self.assertEqual([[float(n)] for n in range(20)], [list({*struct.unpack("<1000f", k.data)}) for k in kept])
        self.assertEqual([Entry("w", "BF16", (3, 2))], manifest([("w", square.T.bfloat16())]))
        with self.assertRaisesRegex(TypeError, "int64"):
            tensor("w", square.long())


if __name__ == "__main__":
    unittest.main()
