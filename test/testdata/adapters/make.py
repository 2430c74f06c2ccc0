"""Makes the adapters beside this file and their golden.json, with PEFT.

Run in the repository's root: python test/testdata/adapters/make.py
Made with peft 0.21.2, transformers 5.23.0, torch 2.15.0 (CPU, float32).
"""
import json
import os

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

HERE = "test/testdata/adapters"
BASE = "test/testdata/families/llama"
NEW = 24

ADAPTERS = {
    # every linear layer, scaled by alpha/sqrt(rank), with ranks and alphas of their own
    "patterns": dict(
        r=4, lora_alpha=6, use_rslora=True, target_modules="all-linear", layers_to_transform=None,
        rank_pattern={"layers.0.self_attn.q_proj": 2, "down_proj": 3}, alpha_pattern={r"layers\.[12]\..*v_proj": 3},
    ),
    # two modules of two layers, stored in bf16
    "bf16": dict(r=3, lora_alpha=9, target_modules=["q_proj", "v_proj"], layers_to_transform=[1, 3]),
}


def golden(model, prompts):
    out = {"prompts": prompts, "logits": [], "greedy": [], "min_gap": []}
    for prompt in prompts:
        ids, gaps = list(prompt), []
        for i in range(NEW):
            logits = model(torch.tensor([ids])).logits[0, -1].float()
            if i == 0:
                out["logits"].append([round(x, 6) for x in logits.tolist()])
            best = torch.topk(logits, 2).values
            gaps.append((best[0] - best[1]).item())
            ids.append(int(logits.argmax()))
        out["greedy"].append(ids[len(prompt):])
        out["min_gap"].append(min(gaps))
    return out


with open(f"{BASE}/golden.json") as f:
    prompts = json.load(f)["prompts"]
for number, (name, options) in enumerate(ADAPTERS.items()):
    base = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", **options)).eval()
    torch.manual_seed(number)
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if "lora_" in key:
                weight.copy_(torch.randn(weight.shape) * 0.12)
                if name == "bf16":
                    weight.copy_(weight.bfloat16().float())
        result = golden(model, prompts)
    if name == "bf16":
        for key, weight in model.named_parameters():
            if "lora_" in key:
                weight.data = weight.data.bfloat16()
    folder = f"{HERE}/{name}"
    model.save_pretrained(folder)
    os.remove(f"{folder}/README.md")
    with open(f"{folder}/golden.json", "w") as f:
        json.dump(result, f)
