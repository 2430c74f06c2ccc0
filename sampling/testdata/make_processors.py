#!/usr/bin/env python3
"""Makes processors.jsonl: what Transformers' processors and filters leave of a row.

    python make_processors.py >processors.jsonl

needs torch, numpy and transformers 5.23.0. A line is a row: how its logits are made,
the history, the parameters (as sampling.Params names them), and what is left:
  Count, Hash  how many tokens are kept, and FNV-1a over their ids, 4 bytes each, little endian
  Kept         the ids, all of them up to 24, else the 12 likeliest and 12 spread over the others
  Values       of these: the processed logits if greedy, else log-probabilities
  Raw          the log-softmax of the logits before, of the same ids
Presence and frequency penalty are not in Transformers: defined here as OpenAI documents
them. Rows that float32 and float64 disagree about are left out: they lie on a border.
"""
import json, sys
import numpy as np, torch, transformers
from transformers.generation import logits_process as lp

assert transformers.__version__ == "5.23.0", transformers.__version__
U = np.uint64


def mix(seed, n):
    """splitmix64 of seed + i, for i from 0 to n-1: S. Vigna, public domain."""
    with np.errstate(over="ignore"):
        z = (U(seed) + np.arange(n, dtype=U)) * U(0x9E3779B97F4A7C15)
        z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
        return z ^ (z >> U(31))


def logits(vocab, seed, scale, coarse, masked):
    """Sums of three even numbers of 21 bits: about normal, the deviation is 2^20 / scale."""
    z = mix(seed, vocab)
    m = U(2**21 - 1)
    total = ((z & m) + (z >> U(21) & m) + (z >> U(42) & m)).astype(np.int64) - 3 * 2**20
    if coarse:  # quarters, so that there are ties
        total = total // (scale // 4) * (scale // 4)
    out = (total / scale).astype(np.float32)
    if masked:  # every masked-th token cannot be drawn
        out[::masked] = -np.inf
    return out


class Penalties:
    def __init__(self, presence, frequency, prompt):
        self.presence, self.frequency, self.prompt = presence, frequency, prompt

    def __call__(self, ids, scores):
        out = scores.clone()
        for i, n in zip(*np.unique(ids[0, self.prompt:].numpy(), return_counts=True)):
            out[0, i] -= self.presence + self.frequency * int(n)
        return out


def processors(p, prompt):
    if p.get("Bias"):
        yield lp.SequenceBiasLogitsProcessor({(b["ID"],): float(b["Value"]) for b in p["Bias"]})
    if p.get("RepetitionPenalty", 1) != 1:
        yield lp.RepetitionPenaltyLogitsProcessor(p["RepetitionPenalty"])
    if p.get("PresencePenalty") or p.get("FrequencyPenalty"):
        yield Penalties(p.get("PresencePenalty", 0), p.get("FrequencyPenalty", 0), prompt)
    if p.get("NoRepeatNgram"):
        yield lp.NoRepeatNGramLogitsProcessor(p["NoRepeatNgram"])
    if p.get("BadWords"):
        yield lp.NoBadWordsLogitsProcessor(p["BadWords"])
    if p.get("MinNew"):
        yield lp.MinNewTokensLengthLogitsProcessor(prompt, p["MinNew"], p["Ends"])
    if p.get("Allowed"):
        yield lp.PrefixConstrainedLogitsProcessor(lambda batch, ids: p["Allowed"], 1)


def warpers(p):
    if p["Temperature"] != 1:
        yield lp.TemperatureLogitsWarper(p["Temperature"])
    if p.get("TopK"):
        yield lp.TopKLogitsWarper(p["TopK"])
    if 0 < p.get("TopP", 0) < 1:
        yield lp.TopPLogitsWarper(p["TopP"])
    if p.get("MinP"):
        yield lp.MinPLogitsWarper(p["MinP"])
    if 0 < p.get("TypicalP", 0) < 1:
        yield lp.TypicalLogitsWarper(p["TypicalP"])


def leave(row, dtype):
    """The scores at the end, or None where a tie lies at the border of top-p."""
    scores = torch.from_numpy(logits(*row["Logits"])).to(dtype)[None]
    ids = torch.tensor([row["IDs"]], dtype=torch.long)
    for f in processors(row["Params"], row["Prompt"]):
        scores = f(ids, scores)
    for f in warpers(row["Params"]) if row["Params"].get("Temperature") else []:
        before, scores = scores, f(ids, scores)
        if isinstance(f, lp.TopPLogitsWarper):
            kept = torch.isfinite(scores)
            dropped = before[torch.isfinite(before) & ~kept]
            if len(dropped) and dropped.max() == scores[kept].min():
                return None
    return scores[0]


def fnv(ids):
    h = 0xCBF29CE484222325
    for b in np.asarray(ids, dtype="<u4").tobytes():
        h = (h ^ b) * 0x100000001B3 % 2**64
    return f"{h:016x}"


def answer(row):
    """Completes the row; False where it lies on a border or nothing is left."""
    scores, exact = leave(row, torch.float32), leave(row, torch.float64)
    if scores is None or exact is None or not torch.isfinite(exact).any():
        return False
    if not torch.equal(torch.isfinite(scores), torch.isfinite(exact)):
        return False
    ids = torch.isfinite(exact).nonzero()[:, 0].numpy()
    row["Count"], row["Hash"] = len(ids), fnv(ids)
    if len(ids) > 24:
        first = np.argsort(-exact.numpy()[ids], kind="stable")[:12]
        spread = np.linspace(0, len(ids) - 1, 12).astype(int)
        ids = ids[np.unique(np.concatenate([first, spread]))]
    values = exact.log_softmax(-1) if row["Params"].get("Temperature") else scores.double()
    raw = torch.from_numpy(logits(*row["Logits"])).double().log_softmax(-1)
    row["Kept"] = ids.tolist()
    row["Values"] = [round(float(values[i]), 7) for i in ids]
    row["Raw"] = [round(float(raw[i]), 7) for i in ids]
    return True


class Maker:
    """Random rows, as its seed says."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def f32(self, values):
        return float(np.float32(self.rng.choice(values)))

    def ids(self, vocab, most):
        return [int(i) for i in self.rng.integers(0, vocab, self.rng.integers(1, most + 1))]

    def params(self, names, vocab, history):
        rng, p = self.rng, {}
        last = history[-3:]
        for name in names:
            if name == "Bias":
                chosen = rng.choice(vocab, 8, replace=False)
                p[name] = [{"ID": int(i), "Value": self.f32([-100, -3.5, -1, 0.75, 2, 5, 100])} for i in chosen]
            elif name == "RepetitionPenalty":
                p[name] = self.f32([0.5, 0.9, 1.05, 1.2, 1.8, 5])
            elif name in ("PresencePenalty", "FrequencyPenalty"):
                p[name] = self.f32([-2, -0.4, 0.3, 1, 2])
            elif name == "NoRepeatNgram":
                p[name] = int(rng.integers(1, 5))
            elif name == "BadWords":
                p[name] = [[i] for i in self.ids(vocab, 9)]
                p[name] += [last[-n:] + [i] for n in (1, 2, 3) for i in self.ids(vocab, 4)]
                p[name] += [[int(i), int(j)] for i, j in rng.integers(0, vocab, (4, 2))]
                p[name] = [list(w) for w in sorted({tuple(w) for w in p[name]})]
            elif name == "MinNew":
                p[name], p["Ends"] = int(rng.integers(1, 20)), sorted(set(self.ids(vocab, 5)))
            elif name == "Allowed":
                p[name] = sorted(set(self.ids(vocab, 40)))
            elif name == "Temperature":
                p[name] = self.f32([0.1, 0.4, 0.7, 0.8, 1, 1.3, 2])
            elif name == "TopK":
                p[name] = int(rng.choice([2, 5, 20, 50, 200, 3000, 100000]))
            elif name == "TopP":
                p[name] = self.f32([0.1, 0.35, 0.5, 0.8, 0.9, 0.95, 0.99])
            elif name == "MinP":
                p[name] = self.f32([0.001, 0.02, 0.05, 0.2, 0.7, 1])
            elif name == "TypicalP":
                p[name] = self.f32([0.1, 0.2, 0.5, 0.9, 0.95])
        return p

    def row(self, names):
        rng = self.rng
        vocab = int(rng.choice([50, 50, 257, 1000, 8191, 50000]))
        of = int(rng.choice([3, 12, vocab]))  # few ids, so that they come again
        history = [int(i) for i in rng.integers(0, of, rng.integers(4, 40))]
        made = [vocab, int(rng.integers(1, 2**31)), int(2 ** rng.integers(17, 20)), bool(rng.random() < 0.3), int(rng.choice([0, 0, 0, 7]))]
        return {"Logits": made, "IDs": history, "Prompt": int(rng.integers(1, len(history))), "Params": self.params(names, vocab, history)}


PROCESSORS = ["Bias", "RepetitionPenalty", "PresencePenalty", "FrequencyPenalty", "NoRepeatNgram", "BadWords", "MinNew", "Allowed"]
FILTERS = ["TopK", "TopP", "MinP", "TypicalP"]


def combinations(rng):
    yield from ([name] for name in PROCESSORS for _ in range(6))
    yield from (["Temperature"] for _ in range(6))
    yield from (["Temperature", name] for name in FILTERS for _ in range(9))
    for bits in range(16):  # every set of filters, alone and behind processors
        filters = ["Temperature"] + [f for i, f in enumerate(FILTERS) if bits >> i & 1]
        for n in (0, 0, 1, 2, 3, 5):
            yield sorted(rng.choice(PROCESSORS, n, replace=False), key=PROCESSORS.index) + filters
    for _ in range(60):
        yield [p for p in PROCESSORS[:7] if rng.random() < 0.6]
    for _ in range(90):
        yield [p for p in PROCESSORS[:7] if rng.random() < 0.5] + ["Temperature"] + [f for f in FILTERS if rng.random() < 0.6]


def main():
    maker, left_out = Maker(20261129), 0
    for names in combinations(np.random.default_rng(5)):
        for _ in range(20):
            row = maker.row(names)
            if answer(row):
                print(json.dumps(row, separators=(",", ":")))
                break
            left_out += 1
    print(f"{left_out} rows left out", file=sys.stderr)


main()
