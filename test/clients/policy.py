"""What torch makes of a policy, which the answers of a server are compared with."""

import torch
from transformers import AutoModelForCausalLM


def load(folder):
    """The model of a checkpoint's folder, in float32 as the server computes."""
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


@torch.inference_mode()
def forward(model, ids):
    """For each token of ids but the first: the log-probabilities [vocabulary] at its place."""
    return model(torch.tensor([ids])).logits[0, :-1].float().log_softmax(-1)


def log_probs(model, ids):
    """For each token of ids but the first: its log-probability."""
    return forward(model, ids).gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
