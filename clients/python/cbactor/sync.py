"""A trainer's weights to a server, by the shortest way there is."""

from __future__ import annotations

import ipaddress
import os
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .client import Client
from .deltas import Deltas
from .errors import APIError, NotFound, PathNotAllowed
from .safetensors import Shard, shards
from .spool import FileShard, spool
from .tensors import Array, Entry, Tensor, manifest
from .updates import KVPolicy, Update

Pairs = Iterable[tuple[str, Tensor | Array]]
Weights = Mapping[str, Tensor | Array] | Pairs

SHARED_ROOT = "/dev/shm/cbactor"


@dataclass(frozen=True)
class Sent:
    """What a send has done."""

    version: str
    nbytes: int  # of shards
    seconds: float
    shared: bool  # through memory that both sides have
    delta: bool  # against the version sent before


class WeightSync:
    """Sends weights to a server, all of a version or nothing of it.

    On one machine they go through files in shared_root, which is memory, if the server may read
    there (`serve --weights-root /dev/shm/cbactor`); otherwise as bodies over HTTP. Which of both
    it is is found by trying. No more than parallel shards of shard_bytes, and the one that is
    being made, are under way at a time.

    With delta, a share between 0 and 1, a copy of what was sent is kept in memory, and tensors
    of which a smaller share has changed are sent as their changes; needs numpy.
    """

    def __init__(
        self,
        client: Client,
        *,
        shared_root: str | Path | None = SHARED_ROOT,
        shard_bytes: int = 256 << 20,
        parallel: int = 4,
        delta: float | None = None,
    ) -> None:
        self.client = client
        self._shard_bytes, self._parallel = shard_bytes, parallel
        self._here = _loopback(client.url)
        root = Path(shared_root) if shared_root and self._here else None
        self._root = root if root is not None and root.is_dir() and os.access(root, os.W_OK) else None
        self._deltas = None if delta is None else Deltas(delta)
        self._last = ""  # the version that deltas are against
        self._manifest: list[Entry] | None = None  # of what was sent last

    def send(self, version: str, tensors: Weights, *, kv_policy: KVPolicy | None = None) -> Sent:
        """Has the server serve tensors, by their names in a Hugging Face checkpoint, as a
        version. They must stay as they are until it returns.

        An update begins with its manifest. A mapping or a list tells it, and is sent as it is
        read. Of an iterator, the first one is written to files as a whole, in shared_root or the
        folder of temporary files; later ones must have the same names, types and shapes.
        """
        began = time.monotonic()
        if self._deltas is None:
            nbytes, delta = self._whole(version, tensors, kv_policy), False
        else:
            nbytes, delta = self._changes(self._deltas, version, tensors, kv_policy)
        return Sent(version, nbytes, time.monotonic() - began, self._root is not None, delta)

    def send_adapter(self, name: str, source: str | Path | tuple[Mapping[str, Any], Pairs]) -> None:
        """Loads a LoRA adapter: a folder as PEFT writes it, or its configuration and tensors."""
        if isinstance(source, tuple):
            self.client.send_adapter(name, *source)
            return
        if self._here:
            try:
                self.client.load_adapter(name, Path(source).resolve())
                return
            except (PathNotAllowed, NotFound):
                pass  # the server may not read there, or sees nothing there
        self.client.upload_adapter(name, source)

    def _changes(self, deltas: Deltas, version: str, tensors: Weights, kv: KVPolicy | None) -> tuple[int, bool]:
        """Sends what has changed, if anything was sent before. Answers how much, and whether
        that were changes."""
        base, self._last = self._last, ""
        if not base:
            nbytes = self._whole(version, deltas.remember(_pairs(tensors)), kv, _entries(tensors))
        else:
            try:
                nbytes = self._spooled(version, deltas.changes(_pairs(tensors)), kv, base)
            except APIError as error:
                if error.code not in ("wrong_version", "tensor_type"):
                    raise
                base = ""  # others serve, or numbers are stored in another type: they go whole
                nbytes = self._whole(version, deltas.sent, kv)
        self._last = version
        return nbytes, base != ""

    def _whole(self, version: str, tensors: Weights, kv: KVPolicy | None, entries: list[Entry] | None = None) -> int:
        """Sends all tensors. entries is their manifest, if the caller knows it."""
        entries = entries or _entries(tensors) or self._manifest
        self._manifest = None  # not known to be right
        if entries is None:
            return self._spooled(version, _pairs(tensors), kv)
        with self.client.update(version, entries, kv_policy=kv) as update:
            nbytes = self._deliver(update, shards(_pairs(tensors), self._shard_bytes))
        self._manifest = entries
        return nbytes

    def _spooled(self, version: str, pairs: Pairs, kv: KVPolicy | None, base: str = "") -> int:
        """Sends tensors by way of files, with base as changes of it."""
        with tempfile.TemporaryDirectory(prefix="cbactor-", dir=self._root) as folder:
            files, entries = spool(shards(pairs, self._shard_bytes), Path(folder))
            with self.client.update(version, entries, partial=base != "", base=base, kv_policy=kv) as update:
                nbytes = self._deliver(update, files)
        if not base:
            self._manifest = [Entry(entry.name, entry.dtype, entry.shape) for entry in entries]
        return nbytes

    def _deliver(self, update: Update, parts: Iterable[Shard | FileShard]) -> int:
        """Sends shards, some at a time, and answers how many bytes they have."""
        nbytes, open_ = 0, set[Future[None]]()
        with ThreadPoolExecutor(self._parallel) as pool:
            for at, part in enumerate(parts):
                nbytes += part.nbytes
                open_.add(pool.submit(self._one, update, f"{at:05}.safetensors", part))
                if len(open_) >= self._parallel:
                    done, open_ = wait(open_, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
            for future in open_:
                future.result()
        return nbytes

    def _one(self, update: Update, name: str, part: Shard | FileShard) -> None:
        root = self._root
        if root is not None:
            try:
                _read_there(update, root, name, part)
                return
            except (PathNotAllowed, NotFound):
                pass  # the server may not read there, or sees nothing there
        update.put_shard(name, part)
        self._root = None


def _read_there(update: Update, root: Path, name: str, part: Shard | FileShard) -> None:
    """Has the server read a shard."""
    if isinstance(part, FileShard):
        update.files([part.path])
        part.path.unlink()
        return
    path = root / f"cbactor-{secrets.token_hex(8)}-{name}"
    try:
        part.write(path)
        update.files([path])
    finally:
        path.unlink(missing_ok=True)


def _pairs(tensors: Weights) -> Iterator[tuple[str, Tensor | Array]]:
    return iter(tensors.items() if isinstance(tensors, Mapping) else tensors)


def _entries(tensors: Weights) -> list[Entry] | None:
    """The manifest of what can be read more than once."""
    return manifest(_pairs(tensors)) if isinstance(tensors, (Mapping, Sequence)) else None


def _loopback(url: str) -> bool:
    """Whether a URL leads to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
