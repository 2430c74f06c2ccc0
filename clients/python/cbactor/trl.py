"""Weights from TRL's AsyncGRPOTrainer (TRL 1.16), without NCCL: its weight_transfer=WeightTransfer(client)."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

from .client import Client
from .pausing import Hold, PauseMode
from .sync import WeightSync
from .tensors import Array
from .updates import KVPolicy


class WeightTransfer:
    """What TRL calls a weight_transfer: sends each policy as a version of its own, RUN-1, RUN-2
    and so on. Weights need no pause here: with mode None requests go on while they are sent, and
    kv_policy says what becomes of those that have begun. Further options are WeightSync's.
    """

    def __init__(
        self,
        client: Client,
        *,
        run: str = "",
        mode: PauseMode | None = "keep",
        kv_policy: KVPolicy | None = None,
        lease: float = 60.0,
        **sync: Any,
    ) -> None:
        self._client, self._sync = client, WeightSync(client, **sync)
        self._run = run or f"trl-{secrets.token_hex(4)}"  # a server has a version's name once
        self._mode, self._kv_policy, self._lease = mode, kv_policy, lease
        self._sent = 0
        self._hold: Hold | None = None

    def init_weight_transfer(self) -> None:
        """Waits for the server."""
        self._client.wait_until_ready()

    def pause(self) -> None:
        """Pauses generation, until resume or the end of this process."""
        if self._hold is None and self._mode is not None:
            self._hold = self._client.pause(self._mode, lease=self._lease)

    def send_weights(self, iterator: Iterator[tuple[str, Array]]) -> None:
        """Sends a policy, which serves when this returns."""
        self._sent += 1
        self._sync.send(f"{self._run}-{self._sent}", iterator, kv_policy=self._kv_policy)

    def resume(self) -> None:
        """Lets generation go on."""
        hold, self._hold = self._hold, None
        if hold is not None:
            hold.release()

    def destroy(self) -> None:
        """Ends a pause that is still held, and closes the connections."""
        try:
            self.resume()
        finally:
            self._client.close()
