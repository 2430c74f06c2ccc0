"""Pauses of generation."""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from .leases import Lease
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Self

PauseMode = Literal["keep", "wait", "abort"]


class Pausing:
    """The part of a Client that pauses."""

    _http: Transport
    model: str | None

    def pause(self, mode: PauseMode = "keep", *, lease: float = 30.0, refuse: bool | None = None) -> Hold:
        """Pauses generation, and answers when no step computes any more.

        keep: what is open goes on afterwards; wait: it ends first; abort: it ends now, with
        what it has. New requests wait with keep, and are refused with the others, unless
        refuse says otherwise. What becomes of caches when weights change is the update's to say
        (kv_policy). The pause is held until the Hold is released, best by a with
        block, or dropped. If this process ends it ends after lease seconds, or if nobody can be
        reached.
        """
        query = {"model": self.model, "mode": mode, "lease": lease, "refuse": refuse, "clear_cache": False}
        told = self._http.call("POST", "/pause", query=query, admin=True)
        return Hold(self._http, self.model, str(told["hold"]), lease)

    def paused(self) -> bool:
        """Whether anybody holds a pause."""
        return bool(self._http.call("GET", "/is_paused", query={"model": self.model}, admin=True)["is_paused"])


class Hold:
    """A pause that is held, and renewed in the background, for as long as anything refers to
    this: one that is collected is released."""

    def __init__(self, http: Transport, model: str | None, ident: str, lease: float) -> None:
        self._query = {"model": model, "hold": ident}
        held = partial(http.call, "POST", query=self._query, admin=True, again=True)
        self._resume = partial(held, "/resume")
        self._lease = Lease("the pause", lease, self, renew=partial(held, "/pause"), give_up=self._resume)

    @property
    def lost(self) -> bool:
        """The server has ended it: generation goes on unless others hold a pause, too."""
        return self._lease.lost

    def check(self) -> None:
        """Raises HoldLost if it is lost."""
        self._lease.check()

    def release(self) -> None:
        """Ends it; generation goes on when nobody else holds one. Twice is no error."""
        self._lease.end()
        self._resume()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()
        if error is None:
            self.check()  # what was done under it may have met running requests
