#!/usr/bin/env python3
"""Make six small tokenizer.json files and goldens with the Python tokenizers package.
usage: make_tokenizer_goldens.py OUTDIR [NAME=path/to/tokenizer.json ...]
Input bytes that are not UTF-8 are decoded with errors='replace' (one U+FFFD per maximal bad part, as Go's
bytes.ToValidUTF8 per byte run does NOT: see README) before encoding. No special tokens are added, then once with."""
import base64, gzip, json, pathlib, random, sys
import tokenizers
from tokenizers import Tokenizer, AddedToken, Regex, models, normalizers as N, pre_tokenizers as P, decoders as D, processors, trainers
from strings import all_strings
OUT = pathlib.Path(sys.argv[1]); OUT.mkdir(parents=True, exist_ok=True)
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
def corpus():
    r = random.Random(7)
    w = "the quick brown fox jumps over a lazy dog while tokens flow through model layers and Go code runs fast don't can't I'll we've héllo naïve café straße 你好 世界 日本 Привет мир 123 2026 3.14 return func import hello world Hello World user assistant system".split()
    return [" ".join(r.choice(w) for _ in range(r.randint(3, 14))) + r.choice([".", "!", "\n", "  ", "\n\n", "?"]) for _ in range(3000)]
def added(tok):
    tok.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tok.add_tokens([AddedToken("[MASK]", lstrip=True, rstrip=False, normalized=False, special=True),
                    AddedToken("<tool>", lstrip=False, rstrip=True, normalized=False),
                    AddedToken("ADDED", single_word=True, normalized=True),
                    AddedToken("<s>", special=True, normalized=False), AddedToken("</s>", special=True, normalized=False)])
def build():
    r = {}
    t = Tokenizer(models.BPE()); t.pre_tokenizer = P.ByteLevel(add_prefix_space=False); t.decoder = D.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=900, initial_alphabet=P.ByteLevel.alphabet(), show_progress=False)); added(t)
    r["bpe_bytelevel_gpt2"] = t
    t = Tokenizer(models.BPE(ignore_merges=True)); t.normalizer = N.NFC()
    t.pre_tokenizer = P.Sequence([P.Split(Regex(LLAMA3), "isolated"), P.ByteLevel(add_prefix_space=False, use_regex=False)]); t.decoder = D.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=900, initial_alphabet=P.ByteLevel.alphabet(), show_progress=False)); added(t)
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", t.token_to_id("<s>"))])
    r["bpe_llama3_split_nfc"] = t
    byt = ["<0x%02X>" % i for i in range(256)]
    t = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True)); t.normalizer = N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")])
    t.decoder = D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
    t.train_from_iterator([x for c in corpus() for x in c.replace(" ", " \0").split("\0")], trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<s>", "</s>"] + byt, show_progress=False)); added(t)
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", t.token_to_id("<s>"))])
    r["bpe_bytefallback_prepend"] = t
    t = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True)); t.pre_tokenizer = P.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    t.decoder = D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
    t2 = Tokenizer(models.BPE(unk_token="<unk>")); t2.pre_tokenizer = P.Metaspace(replacement="▁", prepend_scheme="always")
    t2.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<s>", "</s>"] + byt, show_progress=False))
    m = json.loads(t2.to_str())["model"]
    t.model = models.BPE(vocab=m["vocab"], merges=[tuple(x) for x in m["merges"]], byte_fallback=True, unk_token="<unk>", fuse_unk=True); added(t)
    r["bpe_bytefallback_metaspace"] = t
    t = Tokenizer(models.Unigram()); t.normalizer = N.Sequence([N.NFKC(), N.Replace(Regex(" {2,}"), " ")]); t.pre_tokenizer = P.Metaspace(replacement="▁", prepend_scheme="always"); t.decoder = D.Metaspace()
    t.train_from_iterator(corpus(), trainers.UnigramTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>", show_progress=False)); added(t)
    r["unigram_nfkc_metaspace"] = t
    t = Tokenizer(models.BPE(unk_token="<unk>")); t.normalizer = N.Sequence([N.NFKC(), N.Lowercase(), N.Replace("ß", "ss"), N.Strip()])
    t.pre_tokenizer = P.Sequence([P.Digits(individual_digits=True), P.ByteLevel(add_prefix_space=True)]); t.decoder = D.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=800, special_tokens=["<unk>"], initial_alphabet=P.ByteLevel.alphabet(), show_progress=False)); added(t)
    r["bpe_nfkc_lower_digits"] = t
    return r
def golden(tok, name):
    rows = []
    for b in all_strings():
        s = b.decode("utf-8", errors="replace")
        e = tok.encode(s, add_special_tokens=False)
        row = {"ids": e.ids, "dec": tok.decode(e.ids, skip_special_tokens=False)}
        try: row["t"] = b.decode("utf-8")
        except UnicodeDecodeError: row["b64"] = base64.b64encode(b).decode()
        sp = tok.encode(s).ids
        if sp != e.ids: row["special"] = sp
        rows.append(row)
    with gzip.open(OUT / (name + ".golden.jsonl.gz"), "wt", encoding="utf-8") as f:
        for r in rows: f.write(json.dumps(r, ensure_ascii=True) + "\n")
    print(name, len(rows), "strings, vocab", tok.get_vocab_size())
for name, tok in build().items():
    tok.save(str(OUT / (name + ".tokenizer.json")), pretty=False)
    golden(Tokenizer.from_file(str(OUT / (name + ".tokenizer.json"))), name)
for a in sys.argv[2:]:
    n, p = a.split("=", 1); golden(Tokenizer.from_file(p), n)
print("tokenizers", tokenizers.__version__)
