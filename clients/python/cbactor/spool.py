"""Shards in files, for weights whose manifest is not known before the last tensor has come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .safetensors import Shard
from .tensors import Entry, digest

_BLOCK = 1 << 20  # bytes that are read at a time


@dataclass(frozen=True)
class FileShard:
    """A shard that was written."""

    path: Path
    nbytes: int

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block

    def content_digest(self) -> str | None:
        """None: the manifest has the digests of its tensors."""
        return None


def spool(parts: Iterable[Shard], folder: Path) -> tuple[list[FileShard], list[Entry]]:
    """Writes shards into a folder: the files, and the manifest with digests."""
    files, entries = [], []
    for at, shard in enumerate(parts):
        path = folder / f"{at:05}.safetensors"
        shard.write(path)
        files.append(FileShard(path, shard.nbytes))
        entries += [Entry(name, one.dtype, one.shape, digest(one.data)) for name, one in shard.tensors]
    return files, entries
