import json
import tempfile
import unittest
from pathlib import Path

from cbactor import BadRequest, NotFound, Tensor, WeightSync
from cbactor.safetensors import Shard
from tests.rig import Served

STORY = "Once upon a time"


class AdapterTest(Served):
    flags = ("--weights-root", "{root}", "--max-adapters", "4", "--max-adapter-rank", "4")

    def test_they_come_by_every_way(self) -> None:
        api = self.client()
        elsewhere = tempfile.TemporaryDirectory()  # where the server may not read
        self.addCleanup(elsewhere.cleanup)
        config = {
            "peft_type": "LORA",
            "r": 2,
            "lora_alpha": 4,
            "target_modules": ["q_proj"],
            "layers_to_transform": [0],
        }
        tensors = [
            (
                f"base_model.model.model.layers.0.self_attn.q_proj.lora_{side}.weight",
                Tensor("F32", shape, b"\0\0\0\x3f" * 256),
            )
            for side, shape in (("A", (2, 128)), ("B", (128, 2)))
        ]
        sync = WeightSync(api)
        sync.send_adapter("sent", (config, tensors))
        self.assertEqual(["sent"], api.adapters())
        self.assertEqual(["sent"], api.weights().adapters)
        plain = api.generate(STORY, max_tokens=5, temperature=0)
        adapted = api.generate(STORY, max_tokens=5, temperature=0, model="sent")
        self.assertNotEqual(plain.logprobs, adapted.logprobs)
        for name, folder in ("read", self.root / "adapter"), ("uploaded", Path(elsewhere.name) / "adapter"):
            write_adapter(folder, config, tensors)
            sync.send_adapter(name, folder)
            self.assertEqual(adapted.logprobs, api.generate(STORY, max_tokens=5, temperature=0, model=name).logprobs)
        api.unload_adapter("sent")
        with self.assertRaises(NotFound):
            api.generate(STORY, model="sent")

    def test_what_is_none_is_refused(self) -> None:
        with self.assertRaises(BadRequest):
            self.client().send_adapter("odd", {"peft_type": "LORA"}, [])


def write_adapter(folder: Path, config: dict[str, object], tensors: list[tuple[str, Tensor]]) -> None:
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps(config))
    Shard(tensors).write(folder / "adapter_model.safetensors")


if __name__ == "__main__":
    unittest.main()
