import importlib.util
import struct
import unittest

from cbactor import Tensor
from cbactor.deltas import Deltas


def floats(*values: float) -> Tensor:
    return Tensor("F32", (2, len(values) // 2), struct.pack(f"<{len(values)}f", *values))


@unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
class DeltaTest(unittest.TestCase):
    def setUp(self) -> None:
        self.old = {"a": floats(*range(8)), "b": floats(1, 2), "c": floats(0.0, 3)}
        self.deltas = Deltas(0.5)
        self.assertEqual(list(self.old.items()), list(self.deltas.remember(self.old.items())))

    def test_some_numbers(self) -> None:
        new = {**self.old, "a": floats(0, 1, 9, 3, 4, 5, 6, 8)}
        sent = dict(self.deltas.changes(new.items()))
        want = {
            "a.indices": Tensor("I32", (2,), struct.pack("<2i", 2, 7)),
            "a.values": Tensor("F32", (2,), struct.pack("<2f", 9, 8)),
        }
        self.assertEqual(want, sent)
        self.assertEqual(new, self.deltas.sent)

    def test_many_numbers_go_as_the_whole_tensor(self) -> None:
        new = {**self.old, "a": floats(9, 9, 9, 9, 4, 5, 6, 7), "b": floats(2, 2)}
        self.assertEqual({"a": new["a"], "b": new["b"]}, dict(self.deltas.changes(new.items())))

    def test_a_bit_is_a_change(self) -> None:
        new = {**self.old, "c": floats(-0.0, 3)}
        self.assertEqual({"c": new["c"]}, dict(self.deltas.changes(new.items())))

    def test_another_shape_goes_whole(self) -> None:
        new = {**self.old, "b": Tensor("F32", (2,), self.old["b"].data)}
        self.assertEqual({"b": new["b"]}, dict(self.deltas.changes(new.items())))

    def test_nothing_is_the_first_tensor(self) -> None:
        self.assertEqual({"a": self.old["a"]}, dict(self.deltas.changes(self.old.items())))

    def test_what_is_kept_is_a_copy(self) -> None:
        raw = bytearray(8)
        list(self.deltas.remember([("a", Tensor("F32", (2,), memoryview(raw)))]))
        raw[0] = 1
        self.assertEqual(bytes(8), self.deltas.sent["a"].data)


if __name__ == "__main__":
    unittest.main()
