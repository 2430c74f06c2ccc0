#!/usr/bin/env python3
"""Makes the golden files of dequantisation: for each type <type>.bin, as stored, and <type>.f32, what the
package gguf makes of it.

    python make_dequant.py .

needs the packages gguf and numpy."""
import pathlib, sys
import gguf, numpy as np

out, rng = pathlib.Path(sys.argv[1]), np.random.default_rng(20261129)
BLOCKS = 48


def scales(n):  # finite halves over the whole range, subnormal ones and both zeros too
    h = rng.integers(0, 1 << 16, n).astype(np.uint16)
    h[(h & 0x7C00) == 0x7C00] ^= 0x4000
    h[:4] = (0x0000, 0x8000, 0x0001, 0x83FF)
    return h.view(np.uint8).reshape(n, 2)


q8 = np.concatenate([scales(BLOCKS), rng.integers(0, 256, (BLOCKS, 32), dtype=np.uint8)], 1)
q4 = np.concatenate([scales(BLOCKS), scales(BLOCKS)[::-1], rng.integers(0, 256, (BLOCKS, 16), dtype=np.uint8)], 1)
f16 = scales(1024).reshape(1, -1)
bf16 = rng.integers(0, 256, (1, 2048), dtype=np.uint8)
bf16[0, 1::2] &= 0xBF  # finite
for kind, data in (("Q8_0", q8), ("Q4_1", q4), ("F16", f16), ("BF16", bf16)):
    t = gguf.GGMLQuantizationType[kind]
    stored = data.reshape(1, -1)
    wide = stored.view(np.float16).astype(np.float32) if kind == "F16" else gguf.quants.dequantize(stored, t)
    (out / f"{kind.lower()}.bin").write_bytes(stored.tobytes())
    (out / f"{kind.lower()}.f32").write_bytes(wide.astype("<f4").tobytes())
