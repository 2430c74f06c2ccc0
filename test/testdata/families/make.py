#!/usr/bin/env python3
"""Makes the fixtures of model families whose weights are a formula.

    python make.py OUT [NAME...]

needs torch, transformers 5.23.0 and numpy. For each model of MODELS, or those named, it
writes OUT/NAME/config.json and golden.json.gz: what the reference computes for it, in
float32 with eager attention, as README.md describes it. The weights are not stored: number i
of tensor NAME is splitmix64 of the FNV-1a hash of the name plus i, as 24 bits between -1 and
1, times a factor, which internal/familytest computes alike.
"""
import gzip, json, os, random, sys
import numpy as np
import torch, transformers
from transformers import AutoConfig, AutoModelForCausalLM

V = 256
SMALL = dict(vocab_size=V, hidden_size=64, intermediate_size=96, num_hidden_layers=4, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=512, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2, pad_token_id=0)
ODD = SMALL | dict(vocab_size=203, hidden_size=60, intermediate_size=84, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=3,
                   head_dim=20, rms_norm_eps=1e-6)
NO_DIM = {k: v for k, v in ODD.items() if k != "head_dim"} | dict(hidden_size=72)  # heads of 12


def rope(theta=10000.0, **more):
    return dict(rope_parameters=dict(rope_theta=theta, **({"rope_type": "default"} | more)))


LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=64, beta_fast=32.0, beta_slow=1.0)
OTHER = ["sliding_attention", "full_attention"]
GEMMA3 = dict(rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                               "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0}})
PHI3 = lambda part: dict(partial_rotary_factor=part, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=part))

MODELS = {
    "llama": ("llama", SMALL | dict(tie_word_embeddings=True) | rope()),
    "llama-odd": ("llama", ODD | dict(attention_bias=True, mlp_bias=True) | rope()),
    "llama-rope-llama3": ("llama", SMALL | dict(tie_word_embeddings=False) | rope(500000.0, **LLAMA3)),
    "llama-rope-llama3-odd": ("llama", ODD | dict(tie_word_embeddings=True) | rope(1e6, **(LLAMA3 | dict(factor=32.0)))),
    "llama-rope-linear": ("llama", SMALL | dict(attention_bias=True) | rope(10000.0, rope_type="linear", factor=4.0)),
    "llama-rope-linear-odd": ("llama", ODD | rope(5000.0, rope_type="linear", factor=2.5)),
    "llama-rope-yarn": ("llama", SMALL | rope(10000.0, **YARN)),
    "llama-rope-yarn-odd": ("llama", ODD | rope(20000.0, **(YARN | dict(beta_fast=16.0, attention_factor=1.2)))),
    "mistral-sliding": ("mistral", SMALL | dict(sliding_window=8, head_dim=16) | rope()),
    "mistral-sliding-odd": ("mistral", ODD | dict(sliding_window=21, tie_word_embeddings=True) | rope(1e6)),
    "mixtral": ("mixtral", SMALL | dict(num_local_experts=4, num_experts_per_tok=2, sliding_window=None) | rope()),
    "mixtral-odd": ("mixtral", ODD | dict(num_local_experts=5, num_experts_per_tok=3, sliding_window=13) | rope(1e6)),
    "qwen2": ("qwen2", SMALL | dict(tie_word_embeddings=True) | rope(1000000.0)),
    "qwen2-odd": ("qwen2", NO_DIM | dict(use_sliding_window=True, sliding_window=11, max_window_layers=1) | rope(1000000.0)),
    "qwen3": ("qwen3", SMALL | dict(head_dim=32) | rope(1000000.0)),
    "qwen3-odd": ("qwen3", ODD | dict(attention_bias=True, tie_word_embeddings=True) | rope(5000000.0)),
    "qwen3-moe": ("qwen3_moe", SMALL | dict(head_dim=16, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=32, norm_topk_prob=True, decoder_sparse_step=1) | rope()),
    "qwen3-moe-odd": ("qwen3_moe", ODD | dict(num_experts=11, num_experts_per_tok=4, moe_intermediate_size=36, norm_topk_prob=False, mlp_only_layers=[1]) | rope(1e6)),
    "gemma2": ("gemma2", SMALL | dict(head_dim=16, query_pre_attn_scalar=24, sliding_window=8, layer_types=OTHER * 2, attn_logit_softcapping=50.0, final_logit_softcapping=30.0) | rope()),
    "gemma2-odd": ("gemma2", ODD | dict(hidden_size=60, query_pre_attn_scalar=7, sliding_window=17, attn_logit_softcapping=2.0, final_logit_softcapping=5.0) | rope()),
    "gemma3": ("gemma3_text", SMALL | dict(head_dim=16, query_pre_attn_scalar=24, sliding_window=8, layer_types=["sliding_attention"] * 3 + ["full_attention"]) | GEMMA3),
    "gemma3-odd": ("gemma3_text", ODD | dict(hidden_size=60, query_pre_attn_scalar=30, sliding_window=33, num_hidden_layers=7) | GEMMA3),
    "phi3": ("phi3", SMALL | PHI3(0.5)),
    "phi3-odd": ("phi3", NO_DIM | dict(num_attention_heads=9, sliding_window=19) | PHI3(0.75)),
    "olmo2": ("olmo2", SMALL | rope(500000.0)),
    "olmo2-odd": ("olmo2", NO_DIM | dict(attention_bias=True) | rope(10000.0)),
    "smollm3": ("smollm3", SMALL | dict(no_rope_layers=[1, 1, 1, 0], tie_word_embeddings=True) | rope(50000.0)),
    "smollm3-odd": ("smollm3", NO_DIM | dict(no_rope_layer_interval=2, use_sliding_window=True, sliding_window=9, tie_word_embeddings=False, mlp_bias=True) | rope(2e6)),
    "granite": ("granite", SMALL | dict(embedding_multiplier=6.0, attention_multiplier=0.0625, residual_multiplier=0.5, logits_scaling=4.0) | rope()),
    "granite-odd": ("granite", NO_DIM | dict(embedding_multiplier=2.5, attention_multiplier=0.2, residual_multiplier=0.22, logits_scaling=0.5, attention_bias=True, tie_word_embeddings=True) | rope()),
    "gpt-oss": ("gpt_oss", SMALL | dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=8, layer_types=OTHER * 2) | rope(150000.0, **(YARN | dict(truncate=False)))),
    "gpt-oss-odd": ("gpt_oss", ODD | dict(num_local_experts=7, num_experts_per_tok=4, sliding_window=15) | rope(150000.0, **(YARN | dict(factor=8.0, truncate=False)))),
}

PROMPT_LENGTHS = [1, 5, 17, 40, 100]
NEW = 24


def numbers(name, shape):
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    with np.errstate(over="ignore"):
        z = np.uint64(h) + np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(40)).astype(np.float64) / 2**23 - 1).reshape(shape)


def weights(name, shape, gemma):
    """Norms are near one, biases and sinks are not zero: every term counts."""
    x = numbers(name, shape)
    if "norm" in name:
        x = x * 0.35 + (0 if gemma else 1)
    elif name.endswith("bias") or name.endswith("sinks"):
        x = x * 0.35
    else:
        x = x * 0.2
    return torch.from_numpy(x.astype(np.float32))


def stored(model):
    """The tensors as a checkpoint has them, which is not always as the model has them."""
    import tempfile
    from safetensors import safe_open
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        with safe_open(os.path.join(folder, "model.safetensors"), "np") as f:
            shapes = {name: tuple(f.get_slice(name).get_shape()) for name in f.keys()}
        with open(os.path.join(folder, "config.json")) as f:
            return shapes, json.load(f)


def filled(model, gemma):
    """The model with weights of the formula, loaded as from a checkpoint."""
    import tempfile
    from safetensors.torch import save_file
    shapes, config = stored(model)
    with tempfile.TemporaryDirectory() as folder:
        save_file({n: weights(n, s, gemma) for n, s in shapes.items()}, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(config, f)
        loaded = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    return loaded, config


def golden(name, model, vocab):
    r = random.Random(name)
    gold = dict(family=name, transformers=transformers.__version__, prompts=[], logits=[], greedy=[], logprobs=[], min_gap=[])
    for n in PROMPT_LENGTHS:
        ids = [r.randrange(3, vocab) for _ in range(n)]
        out, lps, gap, first = [], [], 1e9, None
        for _ in range(NEW):
            with torch.no_grad():
                logits = model(torch.tensor([ids + out]), use_cache=False).logits[0, -1].double()
            if first is None:
                first = logits
            top = logits.topk(2)
            gap = min(gap, float(top.values[0] - top.values[1]))
            token = int(top.indices[0])
            out.append(token)
            lps.append(float(torch.log_softmax(logits, -1)[token]))
        gold["prompts"].append(ids)
        gold["logits"].append([round(float(x), 5) for x in first])
        gold["min_gap"].append(round(gap, 6))
        gold["greedy"].append(out)
        gold["logprobs"].append([round(x, 6) for x in lps])
    return gold


def main():
    out, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    for name in names:
        kind, options = MODELS[name]
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **options), attn_implementation="eager", dtype=torch.float32)
        model, config = filled(model, kind.startswith("gemma"))
        folder = os.path.join(out, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(config, f, indent=1)
            f.write("\n")
        gold = golden(name, model, options["vocab_size"])
        with open(os.path.join(folder, "golden.json.gz"), "wb") as f:
            f.write(gzip.compress(json.dumps(gold, separators=(",", ":")).encode(), 9, mtime=0))
        print(name, gold["min_gap"], gold["greedy"][2][:8], flush=True)


if __name__ == "__main__":
    main()
