"""The weights that serve, and changes of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .tensors import Entry
from .transport import Transport
from .updates import KVPolicy, Update

_LONGEST_POLL = 60.0  # seconds that a server is asked to wait at a time


@dataclass(frozen=True)
class WeightStatus:
    """The weights of a model. label is what trainers of other engines' protocols call the
    version; kept the version to which rollback leads, "" for none; broken says that they were
    written in part, and nothing computes until a complete update has come."""

    version: str
    label: str
    kept: str
    broken: bool
    updating: str  # the version of the update that is open; "": none
    adapters: list[str]


class Weights:
    """The part of a Client that changes weights."""

    _http: Transport
    model: str | None

    def weights(self) -> WeightStatus:
        """What serves."""
        told = self._weights("GET", "")
        opened = told.get("open") or {}
        return WeightStatus(
            version=told["version"],
            label=told.get("label") or told["version"],
            kept=told.get("kept") or "",
            broken=bool(told.get("broken")),
            updating=opened.get("version", ""),
            adapters=[name_of(adapter) for adapter in told.get("adapters") or []],
        )

    def update(
        self,
        version: str,
        manifest: Iterable[Entry],
        *,
        partial: bool = False,
        base: str = "",
        kv_policy: KVPolicy | None = None,
        digest: str = "",
        result: str = "",
        lease: float = 60.0,
    ) -> Update:
        """Opens an update to a version, whose name none has had. There is one at a time.

        manifest lists all tensors that will be sent (see cbactor.manifest); with partial those
        that it does not list stay as they are in base, the version that serves. kv_policy says
        what becomes of requests that have begun: they go on over their cache, have it computed
        again, or end. digest is that of all that is sent, result that of what comes out.
        """
        tensors = [entry.told() for entry in manifest]
        told: dict[str, Any] = {"tensors": tensors, "partial": partial}
        told.update({name: value for name, value in (("digest", digest), ("result", result)) if value})
        data = self._asked({"version": version, "base": base, "kv_policy": kv_policy, "lease": lease, "manifest": told})
        return Update(self._http, self.model, self._weights("POST", "/updates", data))

    def load(
        self,
        path: str | Path,
        version: str,
        *,
        base: str = "",
        kv_policy: KVPolicy | None = None,
        in_place: bool = False,
    ) -> None:
        """Has the server read new weights from a folder or a file of its own, below one of its
        --weights-root. in_place is for servers without memory for two sets of weights."""
        data = {"path": str(path), "version": version, "base": base, "kv_policy": kv_policy, "in_place": in_place}
        self._weights("POST", "/load", self._asked(data))

    def rollback(self, version: str = "", *, kv_policy: KVPolicy | None = None) -> str:
        """Goes back to the version that is kept, and answers which that is."""
        data = self._asked({"version": version, "kv_policy": kv_policy})
        return str(self._weights("POST", "/rollback", data)["version"])

    def checksum(self, kind: str = "sha256") -> str:
        """The digest of the weights that serve: sha256, xxh3-64 or xxh3-128."""
        return str(self._weights("GET", "/checksum", kind=kind)["digest"])

    def wait_for(self, version: str, timeout: float = 600.0) -> None:
        """Returns when a version serves; raises TimeoutError after timeout seconds."""
        until = time.monotonic() + timeout
        serving = self.weights().version
        while serving != version:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"after {timeout:g} s {serving!r} serves, not {version!r}")
            told = self._weights("GET", "/changes", after=serving, timeout=min(left, _LONGEST_POLL))
            serving = told.get("version", serving)

    def _asked(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A body without what was not given."""
        given = {"model": self.model, **fields}
        return {name: value for name, value in given.items() if value not in (None, "", False)}

    def _weights(self, method: str, path: str, data: object = None, **query: str | float) -> dict[str, Any]:
        told = query if data is not None else {"model": self.model, **query}
        return self._http.call(method, "/v1/weights" + path, query=told, data=data, admin=True)


def name_of(adapter: Any) -> str:
    """The name of an adapter, told alone or with more."""
    return str(adapter["name"] if isinstance(adapter, dict) else adapter)
