#!/usr/bin/env python3
"""Makes variants.golden.json: changes to bpe_bytelevel_gpt2.tokenizer.json, and the ids that the Python package
tokenizers 0.23.3 gives with them, with special tokens.
usage: make_variant_goldens.py > variants.golden.json"""
import json
import pathlib
import tokenizers

assert tokenizers.__version__ == "0.23.3"
base = pathlib.Path(__file__).with_name("bpe_bytelevel_gpt2.tokenizer.json").read_text(encoding="utf-8")
TEXTS = ["", "Hello world", " Hello", "a!b!!c", "!", "!!", "12 345a6", "x1<tool> y22[MASK]z", "e\u0301 \u00e9!", "\n a", "ADDED!ADDED"]
BYTELEVEL = '{"type":"ByteLevel","add_prefix_space":%s,"trim_offsets":true,"use_regex":true}'
PRE = '"pre_tokenizer":' + BYTELEVEL % "false"
NO_BANG = ['"vocab":{"!":0', '"vocab":{"<unk>":0']
UNK = ['"unk_token":null', '"unk_token":"<unk>"']
FUSE = ['"fuse_unk":false', '"fuse_unk":true']
merges = base[base.index('"merges":'):]
AROUND = ('{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},'
          '{"SpecialToken":{"id":"</s>","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],'
          '"special_tokens":{"<s>":{"id":"<s>","ids":[466],"tokens":["<s>"]},"</s>":{"id":"</s>","ids":[467],"tokens":["</s>"]}}}')
VARIANTS = {
    "prefix space": [[PRE, PRE.replace('space":false', 'space":true')]],
    "runs of digits, prefix space": [[PRE, '"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":false},' + BYTELEVEL % "true" + "]}"]],
    "single digits": [[PRE, '"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},' + BYTELEVEL % "false" + "]}"]],
    "byte without token": [NO_BANG],
    "unknown token": [NO_BANG, UNK],
    "unknown tokens fused": [NO_BANG, UNK, FUSE],
    "merges as text": [[merges, '"merges":' + json.dumps([" ".join(m) for m in json.loads(base)["model"]["merges"]], ensure_ascii=False) + "}}"]],
    "tokens around": [['"post_processor":null', '"post_processor":{"type":"Sequence","processors":[' + BYTELEVEL % "true" + "," + AROUND + "]}"]],
    "NFC in a sequence": [['"normalizer":null', '"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"}]}']],
}
out = []
for name, changes in VARIANTS.items():
    text = base
    for old, new in changes:
        assert old in text, (name, old)
        text = text.replace(old, new, 1)
    tokenizer = tokenizers.Tokenizer.from_str(text)
    out.append({"name": name, "changes": changes, "texts": [{"t": t, "ids": tokenizer.encode(t).ids} for t in TEXTS]})
print(json.dumps(out, ensure_ascii=True))
