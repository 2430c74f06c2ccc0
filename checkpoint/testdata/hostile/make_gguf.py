#!/usr/bin/env python3
"""Makes gguf.zip: hostile GGUF files; those whose names begin with ok_ must be read, those with bad_ refused.

    python make_gguf.py ."""
import pathlib, struct, sys, zipfile
s = lambda b: struct.pack("<Q", len(b)) + b
def kv(k, t, v): return s(k) + struct.pack("<I", t) + v
ARCH = kv(b"general.architecture", 8, s(b"llama"))
u32 = lambda k, v: kv(k, 4, struct.pack("<I", v))
def tensor(name, dims, typ, off, nd=None): return s(name) + struct.pack("<I", len(dims) if nd is None else nd) + b"".join(struct.pack("<Q", d) for d in dims) + struct.pack("<IQ", typ, off)
def f(kvs, ts, data=b"\0" * 4096, nkv=None, nt=None, ver=3, magic=b"GGUF", align=32):
    h = magic + struct.pack("<IQQ", ver, len(ts) if nt is None else nt, len(kvs) if nkv is None else nkv) + b"".join(kvs) + b"".join(ts)
    return h + b"\0" * (-len(h) % align) + data
T1, T2 = tensor(b"a", [32, 4], 0, 0), tensor(b"b", [32, 2], 1, 512)
good = f([ARCH, u32(b"llama.block_count", 1), kv(b"tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + s(b"x") + s(b"y"))], [T1, T2])
C = {"ok_good": good, "ok_align64": f([ARCH, u32(b"general.alignment", 64)], [T1, T2], align=64), "ok_notensor": f([ARCH], [], b""),
 "ok_nested_array": f([ARCH, kv(b"n", 9, struct.pack("<IQ", 9, 2) + struct.pack("<IQB", 0, 1, 7) + struct.pack("<IQ", 4, 0))], [T1]),
 "bad_kv_count_2_63": f([ARCH], [T1], nkv=1 << 63), "bad_kv_count_2_32": f([ARCH], [T1], nkv=1 << 32), "bad_tensor_count_2_63": f([ARCH], [T1], nt=1 << 63), "bad_tensor_count_max": f([ARCH], [T1], nt=(1 << 64) - 1),
 "bad_key_len_max": f([struct.pack("<Q", (1 << 64) - 1) + b"abc"], []), "bad_str_len_2_63": f([s(b"k") + struct.pack("<IQ", 8, 1 << 63) + b"abc"], []), "bad_str_len_2_40": f([s(b"k") + struct.pack("<IQ", 8, 1 << 40) + b"abc"], []),
 "bad_arr_u8_2_63": f([kv(b"k", 9, struct.pack("<IQ", 0, 1 << 63))], []), "bad_arr_str_2_60": f([kv(b"k", 9, struct.pack("<IQ", 8, 1 << 60))], []), "bad_arr_u64_2_61": f([kv(b"k", 9, struct.pack("<IQ", 10, 1 << 61))], []), "bad_arr_u32_2_33": f([kv(b"k", 9, struct.pack("<IQ", 4, 1 << 33))], []),
 "bad_nested_100k": f([kv(b"k", 9, struct.pack("<IQ", 9, 1) * 100000 + struct.pack("<IQ", 0, 0))], []), "bad_nested_5m": f([kv(b"k", 9, struct.pack("<IQ", 9, 1) * 5000000 + struct.pack("<IQ", 0, 0))], []),
 "bad_arr_type_99": f([kv(b"k", 9, struct.pack("<IQ", 99, 3) + b"\0" * 64)], []), "bad_kv_type_99": f([kv(b"k", 99, b"\0" * 64)], []), "bad_bool_7": f([ARCH, kv(b"k", 7, b"\x07")], []),
 "bad_ndims_max": f([ARCH], [tensor(b"a", [32], 0, 0, nd=0xffffffff)]), "bad_ndims_5": f([ARCH], [tensor(b"a", [1, 1, 1, 1, 1], 0, 0)]), "bad_dims_overflow": f([ARCH], [tensor(b"a", [1 << 32, 1 << 32], 0, 0)]), "bad_dims_2_63": f([ARCH], [tensor(b"a", [1 << 63], 0, 0)]), "bad_dim_zero": f([ARCH], [tensor(b"a", [0, 4], 0, 0)]),
 "bad_offset_past_end": f([ARCH], [tensor(b"a", [32, 4], 0, 1 << 40)]), "bad_offset_2_63": f([ARCH], [tensor(b"a", [32, 4], 0, 1 << 63)]), "bad_offset_misaligned": f([ARCH], [tensor(b"a", [32, 4], 0, 7)]), "bad_overlap": f([ARCH], [T1, tensor(b"b", [32, 4], 0, 32)]), "bad_data_short": f([ARCH], [tensor(b"a", [4096, 4096], 0, 0)]),
 "bad_type_9999": f([ARCH], [tensor(b"a", [32, 4], 9999, 0)]), "bad_type_removed_4": f([ARCH], [tensor(b"a", [32, 4], 4, 0)]), "bad_block_33": f([ARCH], [tensor(b"a", [33, 4], 2, 0)]),
 "bad_dup_key": f([ARCH, ARCH], [T1]), "bad_dup_tensor": f([ARCH], [T1, T1]), "bad_name_200": f([ARCH], [tensor(b"a" * 200, [32], 0, 0)]),
 "bad_align_0": f([ARCH, u32(b"general.alignment", 0)], [T1]), "bad_align_7": f([ARCH, u32(b"general.alignment", 7)], [T1]), "bad_align_str": f([ARCH, kv(b"general.alignment", 8, s(b"x"))], [T1]),
 "bad_arch_u32": f([u32(b"general.architecture", 5)], [T1]), "bad_splitcount_neg": f([ARCH, kv(b"split.tensors.count", 5, struct.pack("<i", -5))], [T1]), "bad_splitcount_2_62": f([ARCH, kv(b"split.tensors.count", 10, struct.pack("<Q", 1 << 62))], [T1]), "bad_splitcount_str": f([ARCH, kv(b"split.tensors.count", 8, s(b"x"))], [T1]),
 "bad_tokens_u32": f([ARCH, u32(b"tokenizer.ggml.tokens", 5)], [T1]), "bad_utf8_key": f([ARCH, u32(b"\xff\xfe", 5)], [T1]), "bad_ver_0": f([ARCH], [T1], ver=0), "bad_ver_9": f([ARCH], [T1], ver=9), "bad_magic": f([ARCH], [T1], magic=b"GGUX"), "bad_empty": b"", "bad_4bytes": b"GGUF"}
for i in range(1, len(good) - 4096 - 1, 13): C[f"bad_trunc_{i:04d}"] = good[:i]
C["bad_trunc_data"] = good[:-3700]
with zipfile.ZipFile(pathlib.Path(sys.argv[1]) / "gguf.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    for k, v in sorted(C.items()):
        z.writestr(zipfile.ZipInfo(k), v, zipfile.ZIP_DEFLATED, 9)
