"""LoRA adapters of a server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from urllib3.filepost import encode_multipart_formdata

from .safetensors import Shard
from .tensors import Array, Tensor, tensor
from .transport import Transport, segment
from .weights import name_of

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


class Adapters:
    """The part of a Client that loads adapters."""

    _http: Transport
    model: str | None

    def load_adapter(self, name: str, folder: str | Path) -> None:
        """Has the server read an adapter from a folder of its own, as PEFT writes it, below one
        of its --weights-root. A name is used once; requests ask for it as their model."""
        data = {"name": name, "path": str(folder)}
        self._http.call("POST", "/v1/adapters", query=self._which(), data=data, admin=True)

    def send_adapter(self, name: str, config: Mapping[str, Any], tensors: Iterable[tuple[str, Tensor | Array]]) -> None:
        """Sends an adapter, by its PEFT configuration and tensors under PEFT's names."""
        shard = Shard([(key, tensor(key, value)) for key, value in tensors])
        self._upload(name, json.dumps(dict(config)).encode(), b"".join(shard))

    def upload_adapter(self, name: str, folder: str | Path) -> None:
        """Sends an adapter from a folder of this machine, as PEFT writes it."""
        folder = Path(folder)
        self._upload(name, (folder / CONFIG).read_bytes(), (folder / WEIGHTS).read_bytes())

    def unload_adapter(self, name: str) -> None:
        """Takes an adapter out, once what has begun with it has ended."""
        self._http.call("DELETE", f"/v1/adapters/{segment(name)}", query=self._which(), admin=True, again=False)

    def adapters(self) -> list[str]:
        """The names of those that are loaded."""
        told = self._http.call("GET", "/v1/adapters", query=self._which(), admin=True)
        return [name_of(adapter) for adapter in told["adapters"]]

    def _upload(self, name: str, config: bytes, weights: bytes) -> None:
        fields = {
            CONFIG: (CONFIG, config, "application/json"),
            WEIGHTS: (WEIGHTS, weights, "application/octet-stream"),
        }
        body, kind = encode_multipart_formdata(fields)
        path = f"/v1/adapters/{segment(name)}"
        headers = {"Content-Type": kind}
        self._http.call("PUT", path, query=self._which(), body=body, headers=headers, admin=True, again=False)

    def _which(self) -> dict[str, str | None]:
        return {"model": self.model}
