#!/bin/sh
# Compiles cuda/kernels/src into cuda/cubin: a cubin for each architecture, PTX for others.
# Needs no GPU and no driver. The compiler is the pinned one of PyPI, fetched into the cache;
# CUDA_COMPILER names another folder that has bin/nvcc of the same version.
# Usage: build.sh [folder]   (default: cuda/cubin; budget.txt is always that one's)
set -eu
export LC_ALL=C # of sorted names
cd "$(dirname "$0")"
out=$(mkdir -p "${1:-cubin}" && cd "${1:-cubin}" && pwd)
budget=$PWD/cubin/budget.txt
cache=${XDG_CACHE_HOME:-$HOME/.cache}/cbactor/nvcc-13.0.88
if [ -z "${CUDA_COMPILER:-}" ]; then
	if [ ! -e "$cache/done" ]; then
		python3 -m venv "$cache"
		"$cache/bin/pip" install -q nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 \
			nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
		touch "$cache/done"
	fi
	CUDA_COMPILER=$(echo "$cache"/lib/python3*/site-packages/nvidia/cu13)
fi
sources=$PWD/kernels/src
cd "$sources"
# Nothing is fused but what the source fuses: see numbers.h.
flags="-O3 -fmad=false"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# compile makes the cubin of an architecture, and of each kernel a line: name, architecture,
# registers, bytes of stack and spills, of shared memory.
compile() {
	"$CUDA_COMPILER/bin/nvcc" -cubin -arch=sm_$1 $flags -Xptxas -v -o "$work/sm_$1.cubin" all.cu 2>"$work/log$1" ||
		{ cat "$work/log$1" >&2; return 1; }
	awk -v a=$1 '
		/Compiling entry function/ { split($0, p, "\047"); name = p[2] }
		/bytes stack frame/ { stack = $1; spills = $5 + $9 }
		/Used [0-9]+ registers/ {
			for (i = 1; i < NF; i++) if ($i == "Used") registers = $(i + 1)
			shared = 0
			for (i = 2; i < NF; i++) if ($(i + 1) ~ /^smem/) shared = $(i - 1)
			print name, "sm_" a, registers, stack + spills, shared
		}' "$work/log$1" >"$work/usage$1"
}
running=
for a in 80 89 90 100 120; do
	compile $a &
	running="$running $!"
done
"$CUDA_COMPILER/bin/nvcc" -ptx -arch=compute_80 $flags -o "$work/compute_80.ptx" all.cu
for job in $running; do wait "$job"; done
sort "$work"/usage* >"$work/usage.txt"
awk 'FNR == NR { if ($1 !~ /^#/) most[$1] = $2; next }
	$4 > 0 { print $1 " on " $2 ": " $4 " bytes of stack or spills"; bad = 1 }
	!($1 in most) { print $1 ": not in budget.txt"; bad = 1; next }
	$3 > most[$1] { print $1 " on " $2 ": " $3 " registers, and budget.txt has " most[$1]; bad = 1 }
	END { exit bad }' "$budget" "$work/usage.txt" >&2
cd "$work"
{ sha256sum *.cubin *.ptx; (cd "$sources" && sha256sum *.cu *.h); } >"$out/SHA256SUMS"
cp usage.txt "$out/usage.txt"
for f in *.cubin *.ptx; do gzip -9nc "$f" >"$out/$f.gz"; done
