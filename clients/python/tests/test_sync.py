import importlib.util
import os
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from cbactor import APIError, Tensor, Unauthorized, WeightSync, manifest, read
from cbactor.spool import spool
from tests.rig import TINY, Served
from tests.test_weights import NORM, doubled, names, other_weights

NUMPY = importlib.util.find_spec("numpy") is not None


def changed(tensors: dict[str, Tensor], places: int) -> dict[str, Tensor]:
    """Weights with other first numbers in the last norm."""
    norm, raw = tensors[NORM], bytearray(tensors[NORM].data)
    raw[: 2 * places] = doubled(norm).data[: 2 * places]
    return {**tensors, NORM: Tensor(norm.dtype, norm.shape, bytes(raw))}


class Syncing(Served):
    """What the classes of tests share."""

    def setUp(self) -> None:
        self.api = self.client()
        self.old, self.new = dict(read(TINY)), other_weights()
        folder = tempfile.TemporaryDirectory()  # one that the server may not read
        self.addCleanup(folder.cleanup)
        self.elsewhere = Path(folder.name)

    def sync(self, root: Path | None, **options: float) -> WeightSync:
        return WeightSync(self.api, shared_root=root, shard_bytes=100_000, **options)  # type: ignore[arg-type]

    def checked(self, weights: dict[str, Tensor]) -> str:
        """The checksum of weights, that are sent one by one."""
        with self.api.update(next(names), manifest(weights.items())) as update:
            for name, tensor in weights.items():
                update.put(name, tensor)
        return self.api.checksum()


class SyncTest(Syncing):
    flags = ("--weights-root", "{root}")

    def test_both_ways_lead_to_the_same_weights(self) -> None:
        old, new = self.checked(self.old), self.checked(self.new)
        self.assertNotEqual(old, new)
        for root, shared in (self.root, True), (None, False), (self.elsewhere, False):
            with self.subTest(root=root):
                sync = self.sync(root)
                for weights, want in (self.old, old), (self.new, new):
                    for given in weights, list(weights.items()), iter(weights.items()):
                        sent = sync.send(next(names), given)
                        self.assertEqual((shared, False, want), (sent.shared, sent.delta, self.api.checksum()))
                        self.assertEqual(sent.version, self.api.weights().version)
                        self.assertGreater(sent.nbytes, sum(len(tensor.data) for tensor in weights.values()))
                self.assertEqual([], [*os.scandir(self.root), *os.scandir(self.elsewhere)])

    def test_only_the_first_iterator_is_written_to_files(self) -> None:
        sync = self.sync(None)
        with mock.patch("cbactor.sync.spool", wraps=spool) as spooled:
            for _ in range(3):
                sync.send(next(names), iter(self.new.items()))
            self.assertEqual(1, spooled.call_count)
            sync.send(next(names), self.new)
            self.assertEqual(1, spooled.call_count)

    def test_another_manifest_is_learned_behind_a_failure(self) -> None:
        sync, wide = self.sync(None), {name: widened(tensor) for name, tensor in self.new.items()}
        sync.send(next(names), iter(self.old.items()))
        with self.assertRaises(APIError):
            sync.send(next(names), iter(wide.items()))
        sent = sync.send(next(names), iter(wide.items()))
        self.assertEqual(sent.version, self.api.weights().version)

    def failing(self) -> Iterator[tuple[str, Tensor]]:
        yield NORM, self.new[NORM]
        raise RuntimeError("mine")

    def test_an_iterator_that_fails_changes_nothing(self) -> None:
        for sync in self.sync(self.root), self.sync(None):
            sync.send(next(names), self.old)
            before = self.api.weights().version
            for _ in range(2):
                with self.assertRaisesRegex(RuntimeError, "mine"):
                    sync.send(next(names), self.failing())
            self.assertEqual((before, ""), (self.api.weights().version, self.api.weights().updating))
        self.assertEqual([], [*os.scandir(self.root)])

    def test_what_is_no_tensor_is_named(self) -> None:
        for given in ({"w": [1, 2]}, {"w": None}, {"w": 1.5}):
            with self.assertRaisesRegex(TypeError, "^w is of type "):
                self.sync(None).send(next(names), given)  # type: ignore[arg-type]
            with self.assertRaisesRegex(TypeError, "^w is of type "):
                self.sync(None).send(next(names), iter(given.items()))  # type: ignore[arg-type]

    def test_changes_need_numpy_from_the_start(self) -> None:
        with mock.patch.dict(sys.modules, {"numpy": None}):
            with self.assertRaisesRegex(ImportError, "numpy"):
                self.sync(None, delta=0.2)
            self.sync(None)

    def test_a_wrong_key_is_no_reason_for_another_way(self) -> None:
        refused = Unauthorized("no", status=403, code="forbidden")
        with (
            mock.patch("cbactor.updates.Update.files", side_effect=refused),
            mock.patch("cbactor.updates.Update.put_shard") as put,
            self.assertRaises(Unauthorized),
        ):
            self.sync(self.root).send(next(names), self.old)
        put.assert_not_called()

    @unittest.skipUnless(NUMPY, "numpy is not installed")
    def test_changes_are_sent_as_such(self) -> None:
        for root in self.root, None:
            sync, now = self.sync(root, delta=0.2), self.old
            self.assertFalse(sync.send(next(names), now).delta)
            for places in 3, 5, 128, 128:
                now = changed(now, places)
                sent = sync.send(next(names), iter(now.items()))
                self.assertTrue(sent.delta)
                self.assertLess(sent.nbytes, 1000)
                told = self.api.checksum()
                sync.send(next(names), now)  # nothing has changed
                self.assertEqual(told, self.api.checksum())
            self.assertEqual(self.checked(now), told)

    @unittest.skipUnless(NUMPY, "numpy is not installed")
    def test_changes_are_against_what_has_arrived(self) -> None:
        sync, want = self.sync(None, delta=0.2), self.checked(self.new)
        sync.send(next(names), self.old)
        with self.assertRaisesRegex(RuntimeError, "mine"):
            sync.send(next(names), self.failing())
        self.assertFalse(sync.send(next(names), self.new).delta)
        self.assertEqual(want, self.api.checksum())

    @unittest.skipUnless(NUMPY, "numpy is not installed")
    def test_where_others_serve_all_is_sent(self) -> None:
        sync = self.sync(None, delta=0.2)
        sync.send(next(names), self.old)
        self.checked(self.new)
        now = changed(self.old, 3)
        self.assertFalse(sync.send(next(names), now).delta)
        self.assertTrue(sync.send(next(names), changed(now, 3)).delta)


class StoredTest(Syncing):
    flags = ("--update-dtype", "bf16")

    @unittest.skipUnless(NUMPY, "numpy is not installed")
    def test_what_is_stored_in_another_type_is_sent_whole(self) -> None:
        wide = {name: widened(tensor) for name, tensor in self.old.items()}
        sync = self.sync(None, delta=0.2)
        sync.send(next(names), wide)
        norm = wide[NORM]
        wide[NORM] = Tensor(norm.dtype, norm.shape, b"\0\0\x80\x3f" + bytes(norm.data)[4:])
        self.assertFalse(sync.send(next(names), wide).delta)
        one = dict(self.old)
        one[NORM] = Tensor("BF16", norm.shape, b"\x80\x3f" + bytes(one[NORM].data)[2:])
        told = self.api.checksum()
        self.assertEqual(self.checked(one), told)


def widened(tensor: Tensor) -> Tensor:
    """A tensor of bfloat16 as float32: two bytes more, which are zero."""
    raw = bytearray(2 * len(tensor.data))
    raw[2::4], raw[3::4] = bytes(tensor.data)[0::2], bytes(tensor.data)[1::2]
    return Tensor("F32", tensor.shape, bytes(raw))


if __name__ == "__main__":
    unittest.main()
