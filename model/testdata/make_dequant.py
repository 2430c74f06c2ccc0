#!/usr/bin/env python3
"""Makes the golden files of dequantisation: for each type <type>.bin, as stored, and <type>.f32, what the
package gguf makes of it.

    python make_dequant.py .

needs the packages gguf and numpy, for the 8-bit floats torch."""
import pathlib, sys
import gguf, numpy as np, torch

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


def random(*shape):
    return rng.integers(0, 256, shape, dtype=np.uint8)


q40 = np.concatenate([scales(BLOCKS), random(BLOCKS, 16)], 1)
K = 12
q4k = np.concatenate([scales(K), scales(K)[::-1], random(K, 12 + 128)], 1)
q5k = np.concatenate([scales(K), scales(K)[::-1], random(K, 12 + 32 + 128)], 1)
q6k = np.concatenate([random(K, 128 + 64 + 16), scales(K)], 1)
mxfp4 = np.concatenate([np.r_[0, 1, 2, 254, 255, rng.integers(90, 140, BLOCKS - 5)].astype(np.uint8)[:, None], random(BLOCKS, 16)], 1)
for kind, data in (("Q8_0", q8), ("Q4_1", q4), ("F16", f16), ("BF16", bf16), ("Q4_0", q40), ("Q4_K", q4k), ("Q5_K", q5k),
                   ("Q6_K", q6k), ("MXFP4", mxfp4)):
    t = gguf.GGMLQuantizationType[kind]
    stored = data.reshape(1, -1)
    wide = stored.view(np.float16).astype(np.float32) if kind == "F16" else gguf.quants.dequantize(stored, t)
    (out / f"{kind.lower()}.bin").write_bytes(stored.tobytes())
    (out / f"{kind.lower()}.f32").write_bytes(wide.astype("<f4").tobytes())

# FP8: a scale and 128 numbers of type E4M3, each of which is there.
fp8 = np.r_[np.arange(256), rng.integers(0, 256, 14 * 128)].astype(np.uint8).reshape(16, 128)
d = (rng.standard_normal((16, 1)) * 2.0 ** rng.integers(-20, 12, (16, 1))).astype("<f4")
wide = (torch.from_numpy(fp8).view(torch.float8_e4m3fn).to(torch.float32) * torch.from_numpy(d)).numpy()
(out / "fp8.bin").write_bytes(np.concatenate([d.view(np.uint8), fp8], 1).tobytes())
(out / "fp8.f32").write_bytes(wide.astype("<f4").tobytes())
