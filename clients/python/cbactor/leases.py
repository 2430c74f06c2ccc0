"""What the server keeps for as long as somebody asks for it."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress

from .errors import APIError, CbactorError, HoldLost

_PARTS = 3.0  # a lease is renewed when this part of it is over


class Lease:
    """Renews something in the background, from a thread of its own, until it is ended or
    lost. The thread does not keep the process alive: with it the renewals end.

    If owner is collected before that, give_up is called once, in the thread: what nobody can
    end any more is not renewed for ever. Neither renew nor give_up may refer to owner.
    """

    def __init__(
        self,
        what: str,
        seconds: float,
        owner: object,
        renew: Callable[[], object],
        give_up: Callable[[], object],
    ) -> None:
        if seconds <= 0:
            raise ValueError(f"a lease of {seconds} seconds: it must be longer than 0")
        self._what, self._seconds, self._renew, self._give_up = what, seconds, renew, give_up
        # That it is over, and whether since owner was collected: which may be in the middle of
        # anything, so that no lock may be taken for it, as an Event would.
        self._over = queue.SimpleQueue[bool]()
        self._collected = weakref.finalize(owner, self._over.put, True)
        self._collected.atexit = False  # the lease ends it
        self._why: CbactorError | None = None
        self._thread = threading.Thread(target=self._run, name=f"cbactor lease of {what}", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> bool:
        """The server has ended it."""
        return self._why is not None

    def check(self) -> None:
        """Raises HoldLost if it is lost."""
        if self._why is not None:
            raise HoldLost(f"{self._what} was ended by the server: {self._why}") from self._why

    def end(self) -> None:
        """Renews no more."""
        self._collected.detach()
        self._over.put(False)
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while self._why is None:
            try:
                collected = self._over.get(timeout=self._seconds / _PARTS)
            except queue.Empty:
                self._once()
                continue
            if collected:
                with suppress(CbactorError):  # nobody is there to be told; the lease ends it
                    self._give_up()
            return

    def _once(self) -> None:
        try:
            self._renew()
        except APIError as error:
            if error.status in (404, 409):
                self._why = error
        except CbactorError:
            pass  # nobody answers: the next renewal may come in time
