"""Tensors of torch, arrays of numpy, and bytes, all as the bytes that are sent."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

DType = Literal["F32", "F16", "BF16", "I32"]
DigestKind = Literal["sha256"]

_NAMES: dict[str, DType] = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "int32": "I32"}
SIZES: dict[str, int] = {"F32": 4, "F16": 2, "BF16": 2, "I32": 4}


class Array(Protocol):
    """What torch.Tensor and numpy.ndarray have in common."""

    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> Any: ...


@dataclass(frozen=True)
class Tensor:
    """A tensor as it is sent: row-major, little-endian. dtype is as safetensors spells it."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview


@dataclass(frozen=True)
class Entry:
    """What a manifest has for a tensor. digest, if any, is "sha256:" with hexadecimal digits."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    digest: str = ""

    @property
    def nbytes(self) -> int:
        """How many bytes its tensor has."""
        return size(self.shape) * SIZES[self.dtype]

    def told(self) -> dict[str, object]:
        """As it is sent."""
        entry: dict[str, object] = {"name": self.name, "dtype": self.dtype, "shape": list(self.shape)}
        return {**entry, "digest": self.digest} if self.digest else entry


def entry(name: str, tensor: Tensor | Array) -> Entry:
    """The entry of a tensor, whose numbers are not looked at."""
    if isinstance(tensor, Tensor):
        return Entry(name, tensor.dtype, tensor.shape)
    if not hasattr(tensor, "dtype") or not hasattr(tensor, "shape"):
        kind = type(tensor).__name__
        raise TypeError(f"{name} is of type {kind}: give a tensor of torch, an array of numpy, or a cbactor.Tensor")
    return Entry(name, _dtype(name, tensor), tuple(int(n) for n in tensor.shape))


def manifest(tensors: Iterable[tuple[str, Tensor | Array]]) -> list[Entry]:
    """The entries of tensors."""
    return [entry(name, tensor) for name, tensor in tensors]


def tensor(name: str, value: Tensor | Array) -> Tensor:
    """A tensor's bytes: where they lie, if it lies in one piece in this machine's memory,
    else a copy. name is for errors."""
    if isinstance(value, Tensor):
        found = value
    else:
        about = entry(name, value)
        found = Tensor(about.dtype, about.shape, _torch(value) if _is_torch(value) else _numpy(value))
    want, have = size(found.shape) * SIZES.get(found.dtype, 0), len(found.data)
    if want != have:
        raise ValueError(f"{name} has {have} bytes, but {want} by its shape {list(found.shape)} and type {found.dtype}")
    return found


def digest(data: bytes | memoryview) -> str:
    """The digest of a tensor's bytes, as a manifest has it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def size(shape: tuple[int, ...]) -> int:
    """How many numbers a shape has."""
    n = 1
    for length in shape:
        n *= length
    return n


def _dtype(name: str, value: Array) -> DType:
    spelled = str(value.dtype).removeprefix("torch.")
    if spelled not in _NAMES:
        raise TypeError(f"{name} has numbers of type {spelled}: cast them to one of {', '.join(_NAMES)}")
    return _NAMES[spelled]


def _is_torch(value: Array) -> bool:
    return str(value.dtype).startswith("torch.")


def _torch(value: Any) -> memoryview:
    """The memory of a tensor of torch, which has no buffer for each of its types."""
    value = value.detach().cpu().contiguous()
    held = (ctypes.c_ubyte * (value.numel() * value.element_size())).from_address(value.data_ptr())
    held.owner = value  # lives as long as the view
    return memoryview(held).cast("B")


def _numpy(value: Any) -> memoryview:
    """The memory of an array of numpy, read as bytes, since a buffer cannot tell of bfloat16."""
    flat = value.reshape(-1)
    if not flat.flags.c_contiguous:
        flat = flat.copy()
    return memoryview(flat.view("u1"))
