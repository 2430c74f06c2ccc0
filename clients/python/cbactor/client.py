"""The client of a server."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from .adapters import Adapters
from .errors import ConnectionFailed, Unavailable
from .generating import Generating
from .pausing import Pausing
from .transport import Transport
from .weights import Weights

if TYPE_CHECKING:
    from typing_extensions import Self

_POLL = 0.2  # seconds


@dataclass(frozen=True)
class Status:
    """What a server does: ok, paused or stopped, and the same of each model's engine."""

    status: str
    models: dict[str, str]


class Client(Generating, Pausing, Weights, Adapters):
    """A server, as `cbactor serve --listen` runs it. Any number of threads may use one.

    api_key is the key of --api-key-file, admin_token that of --admin-token-file, which pauses
    and weights ask for; model is which of several models is meant. timeout bounds the seconds
    in which nothing comes of an answer, and patience those for which a call that is refused for
    now, or finds nobody, is tried again.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        admin_token: str | None = None,
        model: str | None = None,
        timeout: float = 600.0,
        patience: float = 30.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.model = model
        self._http = Transport(
            url, api_key=api_key, admin_token=admin_token, timeout=timeout, patience=patience, ssl_context=ssl_context
        )

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._http.url

    def status(self) -> Status:
        """What the server does."""
        told = self._http.call("GET", "/health")
        return Status(told["status"], told["models"])

    def wait_until_ready(self, timeout: float = 600.0) -> None:
        """Returns when calls are taken; raises TimeoutError after timeout seconds."""
        until = time.monotonic() + timeout
        while True:
            try:
                self._http.call("GET", "/ready")
                return
            except (ConnectionFailed, Unavailable) as error:
                if time.monotonic() > until:
                    raise TimeoutError(f"{self.url} takes no calls after {timeout:g} s") from error
            time.sleep(_POLL)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
