#!/usr/bin/env python3
"""Makes pairs.safetensors, weights that are stored as pairs of tensors, and pairs.f32, what transformers makes of them.

    python make_pairs.py .

needs torch, transformers 5.23.0 and safetensors. "moe.gate_up_proj" is MXFP4 as gpt-oss has it, [2, 3, 64];
"fp8.weight" is E4M3 with a scale for each square of 128, [256, 256]: of it the golden has rows 0, 127, 128 and 255."""
import pathlib, sys
import torch
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

out, g = pathlib.Path(sys.argv[1]), torch.Generator().manual_seed(20261130)
blocks = torch.randint(0, 256, (2, 3, 2, 16), generator=g, dtype=torch.uint8)
scales = torch.randint(110, 135, (2, 3, 2), generator=g, dtype=torch.uint8)
bits = torch.randint(0, 256, (256, 256), generator=g, dtype=torch.uint8)
bits[bits & 0x7F == 0x7F] = 0x38  # NaN
fp8, inverse = bits.view(torch.float8_e4m3fn), torch.randn(2, 2, generator=g)
save_file({"moe.gate_up_proj_blocks": blocks, "moe.gate_up_proj_scales": scales, "fp8.weight": fp8, "fp8.weight_scale_inv": inverse},
          out / "pairs.safetensors")
moe = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32).transpose(1, 2)  # it answers [experts, in, out]
wide = Fp8Dequantize(None)._dequantize_one(fp8, inverse)[[0, 127, 128, 255]]
(out / "pairs.f32").write_bytes(moe.contiguous().numpy().astype("<f4").tobytes() + wide.numpy().astype("<f4").tobytes())
