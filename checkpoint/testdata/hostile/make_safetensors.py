#!/usr/bin/env python3
"""Makes safetensors.zip: hostile safetensors files, and answers.json, what the Python package, which is Rust, says of each.

    python make_safetensors.py .

needs the packages safetensors and numpy."""
import json, pathlib, struct, sys, tempfile, zipfile
from safetensors import safe_open
def f(h, data=b"\0" * 64, n=None, pad=b""):
    h = h if isinstance(h, bytes) else json.dumps(h).encode()
    h += pad
    return struct.pack("<Q", len(h) if n is None else n) + h + data
t = lambda a, b, shape=None, d="F32": {"dtype": d, "shape": [(b - a) // 4] if shape is None else shape, "data_offsets": [a, b]}
C = {"good": f({"a": t(0, 32), "b": t(32, 64)}), "good_meta": f({"__metadata__": {"format": "pt"}, "a": t(0, 64)}), "good_pad": f({"a": t(0, 64)}, pad=b"   "), "good_scalar": f({"a": t(0, 4, [])}, b"\0" * 4), "good_empty_tensor": f({"a": t(0, 0, [0, 5])}, b""), "good_none": f({}, b""), "good_order": f({"b": t(32, 64), "a": t(0, 32)}),
 "good_f8": f({"a": t(0, 64, [64], "F8_E4M3")}), "good_bf16": f({"a": t(0, 64, [32], "BF16")}), "good_u16": f({"a": t(0, 64, [32], "U16")}), "good_f8e8m0": f({"a": t(0, 64, [64], "F8_E8M0")}), "good_f4": f({"a": t(0, 64, [128], "F4")}), "good_c64": f({"a": t(0, 64, [8], "C64")}), "good_bool": f({"a": t(0, 64, [64], "BOOL")}),
 "len_max": f({"a": t(0, 64)}, n=(1 << 64) - 1), "len_2_63": f({"a": t(0, 64)}, n=1 << 63), "len_max_minus8": f({"a": t(0, 64)}, n=(1 << 64) - 8), "len_100mb1": f({"a": t(0, 64)}, n=100_000_001), "len_past": f({"a": t(0, 64)}, n=5000), "len_0": f(b"", b""), "short7": b"\1\0\0\0\0\0\0", "empty": b"",
 "overlap": f({"a": t(0, 40), "b": t(32, 64)}), "same_range": f({"a": t(0, 64), "b": t(0, 64)}), "hole": f({"a": t(0, 16), "b": t(32, 64)}), "hole_start": f({"a": t(16, 64)}), "tail": f({"a": t(0, 32)}), "past_end": f({"a": t(0, 128)}), "reversed": f({"a": {"dtype": "F32", "shape": [8], "data_offsets": [64, 32]}}), "negative": f({"a": {"dtype": "F32", "shape": [8], "data_offsets": [-32, 0]}}), "shape_mismatch": f({"a": t(0, 64, [17])}), "shape_overflow": f({"a": t(0, 64, [1 << 33, 1 << 33])}), "shape_wrap": f({"a": t(0, 64, [1 << 62, 1 << 2, 16])}), "shape_negative": f({"a": t(0, 64, [-16])}), "shape_float": f(b'{"a":{"dtype":"F32","shape":[16.0],"data_offsets":[0,64]}}'), "offset_huge": f(b'{"a":{"dtype":"F32","shape":[16],"data_offsets":[18446744073709551552,18446744073709551616]}}'),
 "dup_tensor": f(b'{"a":{"dtype":"F32","shape":[8],"data_offsets":[0,32]},"a":{"dtype":"F32","shape":[8],"data_offsets":[32,64]}}'), "dup_same": f(b'{"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]},"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'), "dup_field": f(b'{"a":{"dtype":"F32","dtype":"I32","shape":[16],"data_offsets":[0,64]}}'), "case_field": f(b'{"a":{"DType":"F32","Shape":[16],"Data_Offsets":[0,64]}}'), "extra_field": f(b'{"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64],"x":1}}'), "missing_dtype": f(b'{"a":{"shape":[16],"data_offsets":[0,64]}}'), "missing_shape": f(b'{"a":{"dtype":"F32","data_offsets":[0,64]}}'),
 "non_utf8": f(b'{"\xff\xfe":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'), "lone_surrogate": f(b'{"\\ud800":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'), "nul_name": f(b'{"a\\u0000":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'), "dtype_unknown": f({"a": t(0, 64, d="F99")}), "dtype_num": f(b'{"a":{"dtype":3,"shape":[16],"data_offsets":[0,64]}}'), "meta_num": f(b'{"__metadata__":{"x":3},"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'), "not_object": f(b'[1,2]', b""), "space_first": f(b' {"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'), "trailing_junk": f(b'{"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}} x'), "nul_pad": f({"a": t(0, 64)}, pad=b"\0\0"), "deep_json": f(b'{"a":' + b'[' * 200000 + b']' * 200000 + b'}', b""), "deep_9000": f(b'{"a":' + b'[' * 9000 + b']' * 9000 + b'}', b""),
 "many": f({f"t{i}": t(0, 0, [0]) for i in range(200000)}, b"")}
ans = {}
with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(pathlib.Path(sys.argv[1]) / "safetensors.zip", "w") as z:
    for k, v in sorted(C.items()):
        p = pathlib.Path(folder) / k
        p.write_bytes(v)
        try:
            with safe_open(str(p), "np") as s:
                ans[k] = "ok %d" % len(list(s.keys()))
        except BaseException as e:
            ans[k] = "err " + str(e)[:100]
        if k != "many":  # the test makes it
            z.writestr(zipfile.ZipInfo(k), v, zipfile.ZIP_DEFLATED, 9)
    z.writestr(zipfile.ZipInfo("answers.json"), json.dumps(ans, indent=0), zipfile.ZIP_DEFLATED, 9)
