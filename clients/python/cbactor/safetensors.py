"""Shards: tensors in the form of safetensors, which is eight bytes with the length of a JSON
header, the header, and the numbers."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .tensors import Array, Tensor, tensor

Named = tuple[str, Tensor]

_ALIGNED = 8  # the numbers begin at a multiple of this


@dataclass(frozen=True)
class Shard:
    """Some tensors, to be sent or written as one."""

    tensors: list[Named]

    def __iter__(self) -> Iterator[bytes | memoryview]:
        """Its bytes, in pieces."""
        yield self.head()
        for _, one in self.tensors:
            yield one.data

    def head(self) -> bytes:
        """What comes before the numbers."""
        told, at = {}, 0
        for name, one in self.tensors:
            told[name] = {"dtype": one.dtype, "shape": list(one.shape), "data_offsets": [at, at + len(one.data)]}
            at += len(one.data)
        text = json.dumps(told, separators=(",", ":")).encode()
        text += b" " * (-len(text) % _ALIGNED)
        return len(text).to_bytes(8, "little") + text

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return len(self.head()) + sum(len(one.data) for _, one in self.tensors)

    def write(self, path: Path) -> None:
        """Writes a file that is there as a whole or not at all."""
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            for piece in self:
                file.write(piece)
        part.rename(path)

    def content_digest(self) -> str:
        """Its digest as RFC 9530 has it in the header Content-Digest."""
        whole = hashlib.sha256()
        for piece in self:
            whole.update(piece)
        return f"sha-256=:{base64.b64encode(whole.digest()).decode()}:"


def shards(tensors: Iterable[tuple[str, Tensor | Array]], limit: int) -> Iterator[Shard]:
    """Tensors as shards of at most limit bytes each, or of one tensor. No more than one of
    them is held here at a time, and no tensor is asked for before it goes in."""
    ready: list[Named] = []
    taken = 0
    for name, value in tensors:
        one = tensor(name, value)
        if ready and taken + len(one.data) > limit:
            yield Shard(ready)
            ready, taken = [], 0
        ready.append((name, one))
        taken += len(one.data)
    if ready:
        yield Shard(ready)


def read(path: str | Path) -> Iterator[Named]:
    """The tensors of a file, one at a time."""
    with Path(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        for name, told in sorted(header.items(), key=lambda named: int(named[1]["data_offsets"][0])):
            begin, end = told["data_offsets"]
            file.seek(8 + length + begin)
            yield name, Tensor(told["dtype"], tuple(told["shape"]), file.read(end - begin))
