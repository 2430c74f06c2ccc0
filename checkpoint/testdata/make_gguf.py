#!/usr/bin/env python3
"""Makes the small GGUF files: the llama family's fixture in each storage type that is read.

    python make_gguf.py ../../test/testdata/families/llama .

needs the packages gguf and numpy. Matrices are stored in the type, vectors in F32, rows of q and k
in the order of llama.cpp's converter (the two halves of a head alternate)."""
import json, pathlib, struct, sys
import gguf, numpy as np

src, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
cfg = json.loads((src / "config.json").read_text())
raw = (src / "model.safetensors").read_bytes()
n = struct.unpack("<Q", raw[:8])[0]
header = {k: v for k, v in json.loads(raw[8:8 + n]).items() if k != "__metadata__"}
NAMES = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "model.embed_tokens": "token_embd", "model.norm": "output_norm"}


def translate(name):
    base = name.removesuffix(".weight")
    if base.startswith("model.layers."):
        layer, base = base.removeprefix("model.layers.").split(".", 1)
        return f"blk.{layer}.{NAMES[base]}.weight"
    return NAMES[base] + ".weight"


def interleave(w, heads):
    return w.reshape(heads, 2, w.shape[0] // heads // 2, w.shape[1]).swapaxes(1, 2).reshape(w.shape)


for kind in ("F32", "F16", "BF16", "Q8_0", "Q4_1"):
    w = gguf.GGUFWriter(str(out / f"llama-{kind.lower()}.gguf"), "llama")
    w.add_block_count(cfg["num_hidden_layers"])
    w.add_context_length(cfg["max_position_embeddings"])
    w.add_embedding_length(cfg["hidden_size"])
    w.add_feed_forward_length(cfg["intermediate_size"])
    w.add_head_count(cfg["num_attention_heads"])
    w.add_head_count_kv(cfg["num_key_value_heads"])
    w.add_layer_norm_rms_eps(cfg["rms_norm_eps"])
    w.add_rope_freq_base(cfg["rope_parameters"]["rope_theta"])
    w.add_rope_dimension_count(cfg["head_dim"])
    w.add_vocab_size(cfg["vocab_size"])
    w.add_bos_token_id(cfg["bos_token_id"])
    w.add_eos_token_id(cfg["eos_token_id"])
    for name, entry in header.items():
        a, b = entry["data_offsets"]
        x = np.frombuffer(raw[8 + n + a:8 + n + b], np.float32).reshape(entry["shape"])
        for part, heads in (("q", cfg["num_attention_heads"]), ("k", cfg["num_key_value_heads"])):
            if name.endswith(part + "_proj.weight"):
                x = interleave(x, heads)
        t = gguf.GGMLQuantizationType[kind if x.ndim > 1 else "F32"]
        w.add_tensor(translate(name), gguf.quants.quantize(x, t), raw_dtype=t)
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
