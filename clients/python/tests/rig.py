"""A server of the tiny model for the tests: the program that CBACTOR names, or bin/cbactor."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from cbactor import Client

PROGRAM = Path(os.environ.get("CBACTOR") or Path(__file__).parents[3] / "bin" / "cbactor").resolve()
TOP = PROGRAM.parents[1]  # of the repository
TINY = TOP / "checkpoint" / "tiny" / "model.safetensors"
STARTING = 180.0  # seconds


class Server:
    """A process that serves, until it is stopped."""

    def __init__(self, *flags: str) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", *flags], stderr=subprocess.PIPE, text=True
        )
        self.said: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = ""
        if not self._ready.wait(STARTING) or not self.url:
            self.stop()
            raise RuntimeError(f"{PROGRAM} does not serve: {''.join(self.said)}")

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.said.append(line)
            if found := re.match(r"cbactor: serving \S+ at (http://\S+)", line):
                self.url = found[1]
                self._ready.set()
        self._ready.set()

    def stop(self) -> None:
        """Has it end, with what is open."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()


class Served(unittest.TestCase):
    """Tests with a server that all of a class share. flags are what it is started with beside
    the address; {root} in them is a folder of the class."""

    flags: tuple[str, ...] = ()
    root: Path
    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        folder = tempfile.TemporaryDirectory(prefix="cbactor-test-", dir=shared)
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name)
        cls.prepare()
        cls.server = Server(*(flag.format(root=cls.root) for flag in cls.flags))
        cls.addClassCleanup(cls.server.stop)

    @classmethod
    def prepare(cls) -> None:
        """What has to be there before the server starts."""

    def client(self, **options: object) -> Client:
        """A client of the server, closed at the end of the test."""
        client = Client(self.server.url, **{"patience": 30.0, **options})  # type: ignore[arg-type]
        self.addCleanup(client.close)
        return client
