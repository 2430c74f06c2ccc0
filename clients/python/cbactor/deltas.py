"""What has changed since weights were sent."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .safetensors import Named
from .tensors import SIZES, Array, Tensor, tensor

if TYPE_CHECKING:
    import numpy

_INDEX_BYTES = 4


class Deltas:
    """The weights that were sent last, a copy in memory, and what others are against them.

    A tensor of which a smaller share than share has changed is two: its name with ".indices"
    behind it, the ascending places in it as a flat list, and with ".values", the numbers there.
    Otherwise it is sent whole, and not at all if it is the same, bit for bit.
    """

    def __init__(self, share: float) -> None:
        if not 0 < share <= 1:
            raise ValueError(f"a share of {share}: it must be above 0 and at most 1")
        if importlib.util.find_spec("numpy") is None:
            raise ImportError("deltas need numpy: install cbactor[delta], or leave delta out", name="numpy")
        self._share = share
        self.sent: dict[str, Tensor] = {}

    def remember(self, tensors: Iterable[tuple[str, Tensor | Array]]) -> Iterator[Named]:
        """Tensors as they are, which are copied on their way."""
        self.sent = {}
        for name, value in tensors:
            yield name, self._keep(name, tensor(name, value))

    def changes(self, tensors: Iterable[tuple[str, Tensor | Array]]) -> Iterator[Named]:
        """What has changed, which is copied on its way. Where nothing has, the first tensor: an
        update must have one."""
        last, first, same = self.sent, None, True
        self.sent = {}
        for name, value in tensors:
            one = tensor(name, value)
            old, new = last.pop(name, None), self._keep(name, one)
            first = first or (name, new)
            for part in self._parts(name, old, new):
                same = False
                yield part
        if same and first is not None:
            yield first

    def _keep(self, name: str, one: Tensor) -> Tensor:
        self.sent[name] = Tensor(one.dtype, one.shape, bytes(one.data))
        return self.sent[name]

    def _parts(self, name: str, old: Tensor | None, new: Tensor) -> list[Named]:
        """A tensor in the form that it is sent in."""
        import numpy

        if old is None or (old.dtype, old.shape) != (new.dtype, new.shape):
            return [(name, new)]
        before, after = _bits(old), _bits(new)
        places = numpy.flatnonzero(before != after)
        if len(places) == 0:
            return []
        nbytes = len(places) * (_INDEX_BYTES + SIZES[new.dtype])
        if len(places) >= self._share * len(after) or nbytes >= len(new.data):
            return [(name, new)]
        indices = _flat("I32", places.astype("<i4"))
        return [(name + ".indices", indices), (name + ".values", _flat(new.dtype, after[places]))]


def _bits(one: Tensor) -> numpy.ndarray[tuple[int], numpy.dtype[numpy.unsignedinteger]]:
    """Numbers as whole ones, so that all that differ in a bit do."""
    import numpy

    return numpy.frombuffer(one.data, dtype=f"<u{SIZES[one.dtype]}")


def _flat(dtype: str, numbers: numpy.ndarray[tuple[int], numpy.dtype[numpy.integer]]) -> Tensor:
    return Tensor(dtype, (len(numbers),), numbers.tobytes())
