"""A client of cbactor's engines: calls and streams of docs/protocol.md.

One thread has the connection, and makes another one when it ends; callers wait for it.
"""

import contextlib
import queue
import secrets
import threading
import time
from concurrent.futures import Future

import grpc

import connection
import remote_pb2 as pb

RETRY = 0.2  # seconds before another try to connect
WINDOW = 64  # tokens of a sequence that may be under way


class EngineError(Exception):
    """What the engine has answered: code is for programs, the words for people."""

    def __init__(self, error):
        super().__init__(error.message)
        self.code = error.code


class Stream:
    """A sequence. Iterating gives its text as it comes; ids, text and end are what has come."""

    def __init__(self, engine, sequence):
        self.engine, self.number, self.id = engine, sequence.stream, sequence.id
        self.ids, self.text, self.end = [], "", None
        self.size = 0  # bytes of text
        self.pieces = queue.SimpleQueue()

    def heard(self, news):
        assert news.offset == len(self.ids), "a gap or a repetition"
        self.ids += news.ids
        self.text += news.text
        self.size += len(news.text.encode())
        self.end = news.end if news.HasField("end") else None
        self.pieces.put((news.text, pb.Taken(stream=self.number, offset=len(self.ids), text=self.size, done=self.end is not None)))

    def __iter__(self):
        taken = None
        while not (taken and taken.done):
            piece, taken = self.pieces.get()
            if isinstance(piece, Exception):
                raise piece
            self.engine.took(taken)
            yield piece


class Engine:
    """An engine elsewhere. What is open outlasts connections, and patience seconds without."""

    def __init__(self, address, credentials=None, patience=30):
        self.address, self.credentials, self.patience = address, credentials, patience
        self.me = secrets.token_hex(12)
        self.name = ""  # of the engine's run
        self.lock = threading.RLock()
        self.send = None  # over a connection that was welcomed
        self.last = 0  # number of a call
        self.calls = {}  # by number: that were not answered
        self.streams = {}  # by number: that have not ended
        self.ends = []  # that were taken, each with the last call before
        self.over = None  # why nothing is called any more
        threading.Thread(target=self._live, daemon=True).start()

    def generate(self, **request):
        """Asks for tokens, by the fields of Request, and gives the Stream of each sequence."""
        request.setdefault("id", secrets.token_hex(8))  # sent twice, it is still one

        def accepted(reply):
            streams = [Stream(self, s) for s in reply.accepted.sequences]
            self.streams.update((s.number, s) for s in streams)
            return streams

        return self.call(accepted, generate=pb.Generate(request=pb.Request(**request), window=WINDOW, text=True))

    def cancel(self, stream):
        self.call(cancel=pb.Cancel(id=stream.id))

    def status(self):
        return self.call(status=pb.AskStatus(metrics=True)).status

    @contextlib.contextmanager
    def paused(self, lease):
        """Pauses the engine, for so many seconds at most: then leaving it is hold_lost."""
        hold = self.call(pause=pb.Pause(lease_ns=int(lease * 1e9))).held.hold
        try:
            yield hold
        finally:
            self.call(release=pb.Release(hold=hold))

    def close(self):
        """Says goodbye: what is open ends here, and at the engine."""
        self.call(lambda _: self._end(ConnectionError("closed")), goodbye=pb.Goodbye())

    def call(self, then=lambda reply: reply, **what):
        """Calls the engine, once whatever connections there are, and gives then(its answer)."""
        answer = Future()
        with self.lock:
            if self.over:
                raise self.over
            self.last += 1
            self.calls[self.last] = pb.Call(number=self.last, **what), then, answer
            if self.send:
                self._ask(self.last)
        return answer.result()

    def took(self, taken):
        """Tells the engine what was taken of a stream."""
        with self.lock:
            if taken.done:
                self.ends.append((taken, self.last))
            if self.send:
                self.send(pb.Ack(taken=[taken]))

    def _ask(self, number):
        message = self.calls[number][0]
        message.settled = min(self.calls)
        self.send(message)

    def _live(self):
        deadline = time.monotonic() + self.patience
        while not self.over:
            why = "it has ended the connection"
            try:
                with connection.connect(self.address, self.me, self.credentials) as (send, messages):
                    self._talk(send, messages)
            except grpc.RpcError as error:
                why = error.details()
            except Exception as error:  # what breaks the protocol
                return self._end(error)
            with self.lock:
                if self.send:
                    self.send, deadline = None, time.monotonic() + self.patience
                if time.monotonic() > deadline:
                    self._end(ConnectionError(f"{self.address}: {why}"))
            time.sleep(RETRY)

    def _talk(self, send, messages):
        with self.lock:
            self.last += 1
            hello, self.attaching = self.last, {}
            send(pb.Call(number=hello, settled=min(self.calls, default=hello), hello=pb.Hello(protocol=1, engine=self.name)))
        for message in messages:
            with self.lock:
                if isinstance(message, pb.News):
                    self._news(message)
                elif isinstance(message, pb.Reply) and message.number == hello:
                    self._welcomed(message, send)
                elif isinstance(message, pb.Reply):
                    self._answered(message)

    def _welcomed(self, reply, send):
        if reply.HasField("error"):
            return self._end(EngineError(reply.error))
        if self.name and (reply.welcome.engine != self.name or reply.welcome.forgotten):
            self._fail(ConnectionError("the engine has been restarted, or has given this client up"))
        self.name, self.send = reply.welcome.engine, send
        send(pb.Ack(taken=[taken for taken, _ in self.ends]))
        for number in sorted(self.calls):
            self._ask(number)
        for stream in self.streams.values():
            self.last += 1
            self.attaching[self.last] = stream
            attach = pb.Attach(id=stream.id, offset=len(stream.ids), window=WINDOW, text=True, text_offset=stream.size)
            send(pb.Call(number=self.last, settled=min(self.calls, default=self.last), attach=attach))

    def _answered(self, reply):
        self.ends = [(taken, last) for taken, last in self.ends if last >= reply.number]
        error = EngineError(reply.error) if reply.HasField("error") else None
        stream = self.attaching.pop(reply.number, None)
        if stream and error:
            stream.pieces.put((error, None))
        if reply.number in self.calls:
            _, then, answer = self.calls.pop(reply.number)
            answer.set_exception(error) if error else answer.set_result(then(reply))

    def _news(self, news):
        if stream := self.streams.get(news.stream):
            stream.heard(news)
            if stream.end:
                del self.streams[news.stream]

    def _end(self, error):
        self.over = error
        self._fail(error)

    def _fail(self, error):
        for _, _, answer in self.calls.values():
            answer.set_exception(error)
        for stream in self.streams.values():
            stream.pieces.put((error, None))
        self.calls, self.streams, self.ends = {}, {}, []
