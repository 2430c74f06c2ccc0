import gc
import itertools
import threading
import time
import unittest
from array import array
from pathlib import Path
from typing import Any

from cbactor import BadRequest, Conflict, ConnectionFailed, Entry, HoldLost, NotFound, PathNotAllowed, Tensor, manifest, read
from cbactor.safetensors import Shard
from tests.rig import TINY, Served

STORY = "Once upon a time"
NORM = "model.norm.weight"

names = (f"v{n}" for n in itertools.count(1))


def doubled(tensor: Tensor) -> Tensor:
    """A tensor of bfloat16 with twice its numbers: their exponents are one higher."""
    numbers = array("H", bytes(tensor.data))
    return Tensor(tensor.dtype, tensor.shape, array("H", [n + 0x80 for n in numbers]).tobytes())


def other_weights() -> dict[str, Tensor]:
    """Those of the tiny model, but for the last norm."""
    tensors = dict(read(TINY))
    return {**tensors, NORM: doubled(tensors[NORM])}


class WeightsTest(Served):
    flags = ("--weights-root", "{root}")

    def test_an_update_serves_as_a_whole_and_can_be_taken_back(self) -> None:
        client, name = self.client(), next(names)
        before, told = client.weights(), client.checksum()
        one = client.generate(STORY, max_tokens=10, temperature=0)
        tensors = other_weights()
        with client.stream(STORY, max_tokens=900, temperature=0, ignore_eos=True) as stream:
            next(iter(stream))
            with client.update(name, manifest(tensors.items()), kv_policy="keep") as update:
                self.assertEqual(name, client.weights().updating)
                for key, tensor in tensors.items():
                    update.put(key, tensor)
                self.assertEqual(0, update.missing())
                self.assertEqual(before.version, client.weights().version)
            running = stream.result()
        now = client.weights()
        self.assertEqual((name, before.version, False, ""), (now.version, now.kept, now.broken, now.updating))
        self.assertEqual([before.version, name], running.versions)
        self.assertEqual((0, len(running.token_ids)), (running.spans[0].start, running.spans[1].end))
        self.assertEqual(running.spans[0].end, running.spans[1].start)
        other = client.generate(STORY, max_tokens=10, temperature=0, min_weight_version=name)
        self.assertNotEqual((told, one.logprobs), (client.checksum(), other.logprobs))
        client.rollback()
        self.assertEqual(told, client.checksum())
        self.assertEqual(one.logprobs, client.generate(STORY, max_tokens=10, temperature=0).logprobs)

    def test_some_tensors_of_a_base(self) -> None:
        client, norm = self.client(), dict(read(TINY))[NORM]
        base, told = client.weights().version, client.checksum()
        with client.update(next(names), [Entry(NORM, norm.dtype, norm.shape)], partial=True, base=base) as update:
            update.put(NORM, doubled(norm))
        self.assertNotEqual(told, client.checksum())
        client.rollback()

    def test_what_is_incomplete_can_be_completed(self) -> None:
        client, name, tensors = self.client(), next(names), other_weights()
        update = client.update(name, manifest(tensors.items()))
        update.put_shard("most", Shard([(key, tensor) for key, tensor in tensors.items() if key != NORM]))
        self.assertEqual(len(tensors[NORM].data), update.missing())
        with self.assertRaises(Conflict):
            update.commit()
        update.put(NORM, tensors[NORM])
        update.commit()
        self.assertEqual(name, client.weights().version)
        update.abort()  # does nothing

    def test_an_error_leaves_the_weights_as_they_are(self) -> None:
        client, tensors = self.client(), other_weights()
        told = client.weights()
        with (
            self.assertRaisesRegex(RuntimeError, "mine"),
            client.update(next(names), manifest(tensors.items())) as update,
        ):
            update.put(NORM, tensors[NORM])
            raise RuntimeError("mine")
        with self.assertRaises(Conflict), client.update(next(names), manifest(tensors.items())) as update:
            update.put(NORM, tensors[NORM])  # and no more
        self.assertEqual(told, client.weights())

    def test_a_commit_whose_answer_is_lost_has_come_about(self) -> None:
        client, name, tensors = self.client(), next(names), other_weights()
        with client.update(name, manifest(tensors.items())) as update:
            for key, tensor in tensors.items():
                update.put(key, tensor)
            call = update._call

            def lossy(method: str, path: str, data: object = None) -> dict[str, Any]:
                told = call(method, path, data)
                if path == "/commit":
                    raise ConnectionFailed("lost")
                return told

            update._call = lossy  # type: ignore[method-assign]
        self.assertEqual(name, client.weights().version)
        client.rollback()

    def test_one_at_a_time(self) -> None:
        client, tensors = self.client(), other_weights()
        update = client.update(next(names), manifest(tensors.items()))
        with self.assertRaises(Conflict):
            client.update(next(names), manifest(tensors.items()))
        update.abort()

    def test_one_that_is_dropped_is_given_up(self) -> None:
        client = self.client()
        update = client.update(next(names), manifest(other_weights().items()), lease=600)
        self.assertEqual(update.version, client.weights().updating)
        del update
        gc.collect()
        deadline = time.monotonic() + 30
        while client.weights().updating:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_who_has_lost_it_is_told(self) -> None:
        client, tensors = self.client(), other_weights()
        update = client.update(next(names), manifest(tensors.items()), lease=0.4)
        client._http.call("DELETE", update._path, admin=True)
        while not update._lease.lost:
            threading.Event().wait(0.05)
        with self.assertRaises(HoldLost):
            update.put(NORM, tensors[NORM])
        with self.assertRaises(HoldLost), update:
            pass

    def test_tensors_that_are_not_the_models(self) -> None:
        client, tensors = self.client(), other_weights()
        norm = tensors[NORM]
        for odd in {"shape": Entry(NORM, "BF16", (3,)), "type": Entry(NORM, "I32", norm.shape)}.values():
            with (
                self.assertRaises(BadRequest),
                client.update(next(names), [odd], partial=True, base=client.weights().version),
            ):
                pass
        infinite = Tensor("BF16", norm.shape, b"\x80\x7f" * (len(norm.data) // 2))
        with (
            self.assertRaises(BadRequest) as refused,
            client.update(next(names), manifest([(NORM, norm)]), partial=True, base=client.weights().version) as update,
        ):
            update.put(NORM, infinite)
        self.assertEqual("not_finite", refused.exception.code)

    def test_waiting_for_a_version(self) -> None:
        client, name = self.client(), next(names)
        with self.assertRaisesRegex(TimeoutError, name):
            client.wait_for(name, 0.3)
        waiter = threading.Thread(target=client.wait_for, args=(name, 30))
        waiter.start()
        (self.root / "again.safetensors").write_bytes(TINY.read_bytes())
        client.load(self.root / "again.safetensors", name)
        waiter.join()
        self.assertEqual(name, client.weights().version)

    def test_files_lie_where_they_may(self) -> None:
        client = self.client()
        with self.assertRaises(PathNotAllowed) as refused:
            client.load(TINY, next(names))
        self.assertEqual("path_not_allowed", refused.exception.code)
        with self.assertRaises((BadRequest, NotFound)):
            client.load(self.root / Path("none"), next(names))


if __name__ == "__main__":
    unittest.main()
