"""Answers as no server of ours gives them on demand: from one that plays a list of them."""

import http.server
import json
import threading
import time
import unittest
from typing import Any

from cbactor import APIError, Client, Conflict, ConnectionFailed, ServerError, ToolCall, Unauthorized, Unavailable
from tests.rig import Served

Answer = tuple[int, dict[str, str], bytes]

GOOD: Answer = (200, {}, b'{"status": "ok", "models": {}}')
BUSY: Answer = (503, {"Retry-After": "0"}, b'{"error": {"message": "later", "code": "engine_paused"}}')
CUT: Answer = (0, {}, b"")  # closes the connection without an answer


class TransportTest(unittest.TestCase):
    def play(self, *answers: Answer, patience: float = 5.0) -> Client:
        """A client of a server that gives these answers, one after the other."""
        self.asked: list[str] = []
        left, asked = list(answers), self.asked

        class Player(http.server.BaseHTTPRequestHandler):
            def reply(self) -> None:
                asked.append(f"{self.command} {self.path}")
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, headers, body = left.pop(0)
                if status == 0:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                if "Unfinished" in headers:
                    asked.append("more" if self.rfile.read(1) else "closed")

            do_GET = do_POST = do_PUT = do_DELETE = reply

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Player)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        client = Client(f"http://127.0.0.1:{server.server_port}", patience=patience)
        for end in thread.join, server.server_close, server.shutdown, client.close:
            self.addCleanup(end)
        return client

    def test_what_is_refused_for_now_is_asked_again(self) -> None:
        client = self.play(BUSY, (429, {"Retry-After": "0"}, b"{}"), GOOD)
        self.assertEqual("ok", client.status().status)
        self.assertEqual(3, len(self.asked))

    def test_patience_ends(self) -> None:
        client = self.play(*[BUSY] * 50, patience=1)
        with self.assertRaises(Unavailable) as refused:
            client.generate("a")
        self.assertTrue(1 < len(self.asked) < 50)
        self.assertEqual(("engine_paused", 0.0), (refused.exception.code, refused.exception.retry_after))

    def test_a_longer_wait_than_patience_is_not_begun(self) -> None:
        client = self.play((429, {"Retry-After": "60"}, b"{}"), patience=2)
        with self.assertRaises(Unavailable) as refused:
            client.generate("a")
        self.assertEqual((60.0, 1), (refused.exception.retry_after, len(self.asked)))

    def test_unavailable_without_a_time_is_final(self) -> None:
        client = self.play((503, {}, b"{}"))
        with self.assertRaises(Unavailable):
            client.status()

    def test_what_does_not_pass_by_waiting_is_not_asked_again(self) -> None:
        client = self.play((409, {}, b'{"error": {"message": "no room", "code": "adapters_full"}}'), GOOD)
        with self.assertRaises(Conflict) as refused:
            client.load_adapter("a", "/a")
        self.assertEqual(("adapters_full", 1), (refused.exception.code, len(self.asked)))

    def test_what_may_have_been_done_is_not_asked_twice(self) -> None:
        client = self.play(CUT)
        with self.assertRaises(ConnectionFailed):
            client.generate("a")
        self.assertEqual(["POST /v1/completions"], self.asked)

    def test_what_changes_nothing_is_asked_again_without_an_answer(self) -> None:
        client = self.play(CUT, CUT, GOOD)
        self.assertEqual("ok", client.status().status)

    def test_a_commit_is_asked_for_again_without_an_answer(self) -> None:
        begun: Answer = (201, {}, b'{"id": "u1", "version": "v2", "lease": 60}')
        client = self.play(begun, CUT, GOOD)
        client.update("v2", []).commit()
        self.assertEqual(["POST /v1/weights/updates/u1/commit"] * 2, self.asked[1:])

    def test_nobody_there(self) -> None:
        client = Client("http://127.0.0.1:9", patience=0.3)
        with self.assertRaises(ConnectionFailed):
            client.generate("a")

    def test_answers_that_are_none(self) -> None:
        for body in b"<html>", b"[1]", b"\xff":
            with self.subTest(body=body), self.assertRaises(ConnectionFailed):
                self.play((200, {}, body)).status()

    def test_errors_that_are_none_of_ours(self) -> None:
        client = self.play((502, {}, b"<html>"), (500, {}, b'{"error": "x"}'))
        for status in 502, 500:
            with self.assertRaises(ServerError) as failed:
                client.status()
            self.assertEqual((status, None), (failed.exception.status, failed.exception.code))
            self.assertIn(str(status), str(failed.exception))

    def test_a_stream_that_breaks_off(self) -> None:
        kind = {"Content-Type": "text/event-stream"}
        event = b'data: {"choices": [{"index": 0, "text": "a", "finish_reason": null}]}\n\n'
        client = self.play(
            (200, {**kind, "Content-Length": "9999"}, event),
            (200, kind, event),
            (200, kind, event + b'data: {"error": {"message": "m", "code": "engine_crashed"}}\n\ndata: [DONE]\n\n'),
        )
        for _ in range(2):
            with self.assertRaisesRegex(ConnectionFailed, "broke off"), client.stream("a") as stream:
                stream.result()
        with self.assertRaises(APIError) as failed, client.stream("a") as stream:
            stream.result()
        self.assertEqual(("engine_crashed", 0), (failed.exception.code, failed.exception.status))

    def test_a_stream_that_is_left_closes_its_connection(self) -> None:
        event = b'data: {"choices": [{"index": 0, "text": "a", "finish_reason": null}]}\n\n'
        client = self.play((200, {"Content-Length": "9999", "Unfinished": "yes"}, event))
        with client.stream("a") as stream:
            self.assertEqual("a", next(iter(stream)).text)
        until = time.monotonic() + 30
        while self.asked[-1] != "closed" and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual("closed", self.asked[-1])

    def test_calls_of_functions_come_in_parts(self) -> None:
        def chunk(*calls: object, reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": {"tool_calls": calls}, "finish_reason": reason}
            return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"

        body = chunk({"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{"}})
        body += chunk({"index": 0, "function": {"arguments": "}"}}, {"index": 1, "id": "c2", "function": {"name": "g"}})
        body += chunk(reason="tool_calls") + b"data: [DONE]\n\n"
        with self.play((200, {"Content-Type": "text/event-stream"}, body)).stream_chat([]) as stream:
            one = stream.result()
        self.assertEqual([ToolCall("c1", "f", "{}"), ToolCall("c2", "g")], one.tool_calls)
        self.assertEqual("tool_calls", one.finish_reason)

    def test_a_bad_address(self) -> None:
        with self.assertRaisesRegex(ValueError, "http://127.0.0.1:8000"):
            Client("localhost:8000")


class KeyTest(Served):
    flags = ("--api-key-file", "{root}/key", "--admin-token-file", "{root}/token")

    @classmethod
    def prepare(cls) -> None:
        (cls.root / "key").write_text("secret\n")
        (cls.root / "token").write_text("master\n")

    def test_keys_open_what_they_are_for(self) -> None:
        with self.assertRaises(Unauthorized):
            self.client().generate("a")
        user = self.client(api_key="secret")
        self.assertEqual(1, len(user.generate("a", max_tokens=1).token_ids))
        with self.assertRaises(Unauthorized):
            user.paused()
        self.assertFalse(self.client(api_key="secret", admin_token="master").paused())
