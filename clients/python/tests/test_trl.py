import unittest

from cbactor import Client, Conflict, Tensor
from cbactor.trl import WeightTransfer
from tests.rig import Served
from tests.test_weights import other_weights


class TRLTest(Served):
    flags = ("--weights-root", "{root}")

    def transfer(self, mode: str | None = "keep") -> WeightTransfer:
        client = Client(self.server.url, patience=30)
        return WeightTransfer(client, mode=mode, shared_root=self.root)  # type: ignore[arg-type]

    def test_the_calls_of_a_trainer(self) -> None:
        """As AsyncGRPOTrainer makes them: once at its begin, then for each policy."""
        watch, weights = self.client(), other_weights()
        transfer = self.transfer()
        transfer.init_weight_transfer()
        versions = []
        for _ in range(3):
            transfer.pause()
            self.assertTrue(watch.paused())
            transfer.send_weights(iter(weights.items()))
            transfer.resume()
            self.assertFalse(watch.paused())
            versions.append(watch.generate("One day", max_tokens=3).versions[0])
        self.assertEqual(3, len(set(versions)))
        self.assertTrue(all(v.endswith(f"-{n}") for n, v in enumerate(versions, 1)), versions)
        transfer.destroy()

    def test_a_policy_that_fails_ends_no_worse(self) -> None:
        watch, transfer = self.client(), self.transfer()
        before = watch.weights()
        transfer.pause()
        with self.assertRaises(Conflict):
            transfer.send_weights(iter([("model.norm.weight", Tensor("BF16", (128,), bytes(256)))]))
        transfer.destroy()  # as the trainer does at its end, however it comes
        self.assertFalse(watch.paused())
        self.assertEqual(before, watch.weights())

    def test_a_pause_is_not_needed(self) -> None:
        watch, transfer = self.client(), self.transfer(mode=None)
        transfer.pause()
        self.assertFalse(watch.paused())
        transfer.send_weights(iter(other_weights().items()))
        transfer.resume()
        self.assertIn("-1", watch.weights().version)
        transfer.destroy()


if __name__ == "__main__":
    unittest.main()
