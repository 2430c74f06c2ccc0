#!/usr/bin/env python3
"""Makes variants.golden.json.gz: changes to small tokenizer.json files, and the ids that the Python package
tokenizers 0.23.3 gives with them, with special tokens, and their text.
usage: make_variant_goldens.py | gzip -9n > variants.golden.json.gz"""
import base64
import struct
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


def trie_map(pairs):
    """A precompiled_charsmap of a few pairs, as SentencePiece makes it: a double array and the replacements."""
    units, table = {0: 0}, b""
    offsets = {}
    for key, value in pairs:
        offsets[key.encode()] = len(table)
        table += value.encode() + b"\0"
    used, base_of = {0}, {}

    def place(prefix, at):
        nexts = sorted({k[len(prefix)] for k in offsets if k.startswith(prefix) and len(k) > len(prefix)})
        leaf = prefix in offsets
        base = 1
        while any(base ^ c in used for c in nexts + ([0] if leaf else [])) or base ^ at >= 1 << 21 or not base ^ at:
            base += 1
        used.update(base ^ c for c in nexts + ([0] if leaf else []))
        units[at] = units.get(at, 0) | (base ^ at) << 10 | (1 << 8 if leaf else 0)
        if leaf:
            units[base] = 1 << 31 | offsets[prefix]
        for c in nexts:
            units[base ^ c] = c
            place(prefix + bytes([c]), base ^ c)
    place(b"", 0)
    size = (max(units) | 255) + 1
    array = struct.pack("<%dI" % size, *(units.get(i, 0) for i in range(size)))
    return base64.b64encode(struct.pack("<I", len(array)) + array + table).decode()


SPLIT = '{"type":"Split","pattern":%s,"behavior":"%s","invert":%s}'
NORMAL = ['"normalizer":null', '"normalizer":%s']


def normal(*parts):
    return [[NORMAL[0], NORMAL[1] % json.dumps({"type": "Sequence", "normalizers": list(parts)})]]


def pre(*parts):
    return [[PRE, '"pre_tokenizer":{"type":"Sequence","pretokenizers":[' + ",".join(list(parts) + [BYTELEVEL % "false"]) + "]}"]]


for b in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
    for invert in ("false", "true"):
        VARIANTS[f"Split text {b} {invert}"] = pre(SPLIT % ('{"String":"!"}', b, invert))
        VARIANTS[f"Split pattern {b} {invert}"] = pre(SPLIT % ('{"Regex":"[aeiou]|!+"}', b, invert))
for n, p in {"possessive": "[^\\s]?+\\p{L}++|.", "case": "(?i:'[sdmt]|ll|k)|\\w+", "bounds": "\\b\\w", "lines": "^.|\\s+$", "words": "\\w+|[^\\w\\s]+",
             "counted": "\\p{Lu}{2}|\\p{Ll}{1,3}|\\d{2,}", "behind": "(?<=\\p{P})\\P{P}", "escapes": "\\x41|\\u00e9|[\\t\\n\\-\\]]",
             "o200k": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
             "classes": "\\p{Han}+|[\\p{Sc}\\p{Sm}]|[^\\P{L}]"}.items():
    VARIANTS["pattern: " + n] = pre(SPLIT % (json.dumps({"Regex": p}), "Isolated", "false"))
for n in ("Whitespace", "WhitespaceSplit", "Punctuation"):
    VARIANTS[n] = pre('{"type":"%s"}' % n if n != "Punctuation" else '{"type":"Punctuation","behavior":"Isolated"}')
VARIANTS["Punctuation, contiguous"] = pre('{"type":"Punctuation","behavior":"Contiguous"}')
for n in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"):
    VARIANTS[n] = normal({"type": n})
VARIANTS["accents"] = normal({"type": "NFD"}, {"type": "StripAccents"}, {"type": "NFC"})
for left in (False, True):
    VARIANTS[f"Strip {left}"] = normal({"type": "Strip", "strip_left": left, "strip_right": not left})
VARIANTS["Replace"] = normal({"type": "Replace", "pattern": {"String": "l"}, "content": "$0r"}, {"type": "Replace", "pattern": {"Regex": "[0-9]+"}, "content": "#"})
VARIANTS["Prepend"] = normal({"type": "Prepend", "prepend": "_"})
VARIANTS["Precompiled"] = normal({"type": "Precompiled", "precompiled_charsmap": trie_map([("a", "A"), ("ab", "Z"), ("é", "e"), ("e\u0301", "E"), ("ﬁ", "fi"), ("\r", ""), ("ο", "o"), ("1", "one")])})
OTHERS = {
    "bpe_bytefallback_metaspace": {
        "always": [['"prepend_scheme":"first"', '"prepend_scheme":"always"']],
        "never": [['"prepend_scheme":"first"', '"prepend_scheme":"never"']],
        "first, split": [['"split":false', '"split":true']],
        "old form": [['"prepend_scheme":"first","split":false', '"add_prefix_space":true']],
        "first behind another": [['"pre_tokenizer":', '"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},'], ['"split":false}', '"split":false}]}']],
        "unknown tokens apart": [['"fuse_unk":true', '"fuse_unk":false'], ['"byte_fallback":true', '"byte_fallback":false']],
        "unknown tokens fused": [['"byte_fallback":true', '"byte_fallback":false']],
        "whole words": [['"ignore_merges":false', '"ignore_merges":true']],
        "Metaspace decoder": [['{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}', '{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}']],
        "Strip in tokens": [['{"type":"Fuse"},', ""]],
    },
    "unigram_nfkc_metaspace": {
        "never": [['"prepend_scheme":"always","split":true},"post', '"prepend_scheme":"never","split":true},"post']],
        "not cut": [['"split":true},"post', '"split":false},"post']],
    },
}
MORE = ["The $5 x\u0301 + KIT's K'LL \u212a ſ", "Hello, WORLD!! a-b\tc\n\nd ", "  naïve e\u0301 \u00c5ﬁ½ İI ﬀ", "中文ab 日本!?", "a▁b ▁▁c", "\u32ff\ua7f2\U00011938 \u0345\U0001e130a", "ab a\u0301b e\u0301x 11", " \u3000a\u00a0", "«q» … _x_ a_b9 \u200d\U00010d40", "<unk>\u0416\u0416a\u0416 \U0001f600\U0001f600", "<tool> a  ADDED b [MASK] c<|im_start|> d"]
out = []
for file, variants in {"bpe_bytelevel_gpt2": VARIANTS, **OTHERS}.items():
    base = pathlib.Path(__file__).with_name(file + ".tokenizer.json").read_text(encoding="utf-8")
    for name, changes in variants.items():
        text = base
        for old, new in changes:
            assert old in text, (name, old)
            text = text.replace(old, new, 1)
        tokenizer = tokenizers.Tokenizer.from_str(text)
        texts = []
        for t in TEXTS + MORE:
            ids = tokenizer.encode(t).ids
            texts.append({"t": t, "ids": ids, "dec": tokenizer.decode(ids, skip_special_tokens=False)})
        out.append({"name": name, "file": file, "changes": changes, "texts": texts})
print(json.dumps(out, ensure_ascii=True))
