#!/usr/bin/env python3
"""Makes the golden files of quantisation: quantize.f32, numbers, and quantize.q8_0, quantize.q4_1,
quantize.q4_0 and quantize.mxfp4, what the package gguf makes of them.

    python make_quantize.py .

needs the packages gguf and numpy."""
import pathlib, sys
import gguf, numpy as np

out, rng = pathlib.Path(sys.argv[1]), np.random.default_rng(20261130)
x = rng.standard_normal((32, 32)).astype(np.float32) * np.float32(2.0) ** rng.integers(-20, 12, (32, 1)).astype(np.float32)
x[0], x[1], x[2, 5:] = 0, -0.75, 0
x[3] = np.arange(32) / 4  # ties
(out / "quantize.f32").write_bytes(x.astype("<f4").tobytes())
for kind in ("Q8_0", "Q4_1", "Q4_0", "MXFP4"):
    stored = gguf.quants.quantize(x.reshape(1, -1), gguf.GGMLQuantizationType[kind])
    (out / f"quantize.{kind.lower()}").write_bytes(stored.tobytes())
