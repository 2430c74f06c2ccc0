"""Updates of the weights: all of one or nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from .errors import CbactorError
from .leases import Lease
from .safetensors import Shard
from .spool import FileShard
from .tensors import Array, Tensor, tensor
from .transport import Transport, segment

if TYPE_CHECKING:
    from typing_extensions import Self

KVPolicy = Literal["keep", "recompute", "abort"]


class Update:
    """New weights on their way to the server, beside those that serve. Leaving its with block
    commits them, unless it is left with an error: then they are given up, as they are if this
    process ends, or nothing refers to it any more. Any number of threads may send parts of it."""

    def __init__(self, http: Transport, model: str | None, told: dict[str, Any]) -> None:
        self.version = str(told["version"])
        self.dropped = str(told.get("dropped") or "")  # the version to which rollback cannot lead any more
        self._http, self._query = http, {"model": model}
        self._path = f"/v1/weights/updates/{segment(str(told['id']))}"
        self._open = True
        asked = partial(http.call, path=self._path, query=self._query, admin=True)
        self._lease = Lease(
            f"the update to {self.version}",
            float(told["lease"]),
            self,
            renew=partial(asked, "GET"),
            give_up=partial(asked, "DELETE"),
        )

    def put(self, name: str, value: Tensor | Array) -> None:
        """Sends a tensor."""
        self.put_shard(name, Shard([(name, tensor(name, value))]))

    def put_shard(self, name: str, shard: Shard | FileShard) -> None:
        """Sends several at once; name is for the server's log."""
        self._lease.check()
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(shard.nbytes)}
        if digest := shard.content_digest():
            headers["Content-Digest"] = digest
        path = f"{self._path}/shards/{segment(name)}"
        self._http.call("PUT", path, query=self._query, body=shard, headers=headers, admin=True)

    def files(self, paths: Sequence[Path]) -> None:
        """Has the server read files of safetensors, below one of its --weights-root."""
        self._lease.check()
        self._call("POST", "/files", {"paths": [str(path) for path in paths]})

    def missing(self) -> int:
        """How many bytes are still to come."""
        return int(self._look()["missing_bytes"])

    def commit(self) -> None:
        """Lets the new weights serve, from the next step on. What is incomplete is refused,
        and can be sent still."""
        self._lease.check()
        self._call("POST", "/commit", {})
        self._open = False
        self._lease.end()

    def abort(self) -> None:
        """Gives it up: the weights stay as they are. Behind a commit it does nothing."""
        self._end()

    def _end(self) -> bool:
        """Gives it up, and answers whether it was committed nevertheless."""
        if not self._open:
            return False
        self._open = False
        self._lease.end()
        return self._call("DELETE", "").get("status") == "committed"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self._give_up()
        elif self._open:
            try:
                self.commit()
            except CbactorError:
                if not self._give_up():  # else its answer alone was lost
                    raise
            except BaseException:
                self._give_up()
                raise

    def _give_up(self) -> bool:
        with suppress(CbactorError):  # the one that led here is to be told; the lease ends the update
            return self._end()
        return False

    def _look(self) -> dict[str, Any]:
        return self._call("GET", "")

    def _call(self, method: str, path: str, data: object = None) -> dict[str, Any]:
        return self._http.call(method, self._path + path, query=self._query, data=data, admin=True, again=True)
