"""What the server keeps for as long as somebody asks for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from .errors import APIError, CbactorError, HoldLost

_PARTS = 3.0  # a lease is renewed when this part of it is over


class Lease:
    """Renews something in the background, from a thread of its own, until it is ended or
    lost. The thread does not keep the process alive: with it the renewals end."""

    def __init__(self, what: str, seconds: float, renew: Callable[[], object]) -> None:
        if seconds <= 0:
            raise ValueError(f"a lease of {seconds} seconds: it must be longer than 0")
        self._what, self._seconds, self._renew = what, seconds, renew
        self._over = threading.Event()
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
        self._over.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._seconds / _PARTS):
            try:
                self._renew()
            except APIError as error:
                if error.status in (404, 409):
                    self._why = error
                    return
            except CbactorError:
                pass  # nobody answers: the next renewal may come in time
