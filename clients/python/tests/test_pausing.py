import gc
import threading
import time
import unittest

from cbactor import BadRequest, HoldLost, NotFound, Unavailable
from tests.rig import Served

STORY = "Once upon a time"


class PausingTest(Served):
    def test_a_stream_rests_and_goes_on(self) -> None:
        client = self.client()
        whole = client.generate(STORY, max_tokens=400, temperature=0, ignore_eos=True)
        with client.stream(STORY, max_tokens=400, temperature=0, ignore_eos=True) as stream:
            next(iter(stream))
            with client.pause() as hold:
                self.assertTrue(client.paused())
                self.assertEqual("paused", client.status().status)
                hold.check()
            self.assertFalse(client.paused())
            self.assertEqual(whole, stream.result())

    def test_new_requests_wait(self) -> None:
        client = self.client()
        done: list[str] = []
        asker = threading.Thread(target=lambda: done.append(client.generate(STORY, max_tokens=3).text))
        with client.pause("keep"):
            asker.start()
            time.sleep(0.3)
            self.assertEqual([], done)
        asker.join()
        self.assertEqual(1, len(done))

    def test_new_requests_are_refused_and_come_again(self) -> None:
        client, hasty = self.client(), self.client(patience=0.2)
        with client.pause("abort"):
            with self.assertRaises(Unavailable) as refused:
                hasty.generate(STORY)
            self.assertEqual("engine_paused", refused.exception.code)
            asker = threading.Thread(target=lambda: client.generate(STORY, max_tokens=3))
            asker.start()
        asker.join()

    def test_an_abort_keeps_what_there_was(self) -> None:
        client = self.client()
        with client.stream(STORY, max_tokens=900, ignore_eos=True) as stream:
            next(iter(stream))
            with client.pause("abort"):
                one = stream.result()
        self.assertEqual("abort", one.finish_reason)
        self.assertTrue(0 < len(one.token_ids) < 900)

    def test_it_is_renewed_for_as_long_as_it_is_held(self) -> None:
        client = self.client()
        with client.pause(lease=3) as hold:
            time.sleep(4)
            self.assertTrue(client.paused())
            hold.check()
        self.assertFalse(client.paused())

    def test_it_ends_with_its_lease_when_nobody_renews_it(self) -> None:
        client = self.client()
        hold = client.pause(lease=0.3)
        hold._lease.end()  # as if this process had died
        deadline = time.monotonic() + 30
        while client.paused():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        hold.release()  # is no error

    def test_one_that_is_dropped_is_released(self) -> None:
        client = self.client()
        hold = client.pause(lease=600)
        gc.collect()
        self.assertTrue(client.paused())
        del hold
        gc.collect()
        deadline = time.monotonic() + 30
        while client.paused():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_who_has_lost_it_is_told(self) -> None:
        client = self.client()
        with self.assertRaises(HoldLost) as lost, client.pause(lease=0.4) as hold:
            client._http.call("POST", "/resume", query=hold._query, admin=True)
            while not hold.lost:
                time.sleep(0.05)
        self.assertIsInstance(lost.exception.__cause__, NotFound)

    def test_it_is_released_by_an_error_too(self) -> None:
        client = self.client()
        with self.assertRaisesRegex(RuntimeError, "mine"), client.pause():
            raise RuntimeError("mine")
        self.assertFalse(client.paused())

    def test_several_hold_it(self) -> None:
        client = self.client()
        with client.pause():
            with client.pause():
                pass
            self.assertTrue(client.paused())
        self.assertFalse(client.paused())

    def test_what_is_no_pause_is_refused(self) -> None:
        with self.assertRaises(BadRequest):
            self.client().pause("stop")  # type: ignore[arg-type]
        with self.assertRaises(BadRequest):
            self.client().pause(lease=1e9)


if __name__ == "__main__":
    unittest.main()
