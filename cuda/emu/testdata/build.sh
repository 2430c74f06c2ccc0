#!/bin/sh
# Compiles the kernels of tests; the results are committed. NVCC is nvcc 13.0.
set -eu
cd "$(dirname "$0")/kernels"
"${NVCC:?}" -cubin -arch=sm_90 -O3 -o all.cubin all.cu
"$NVCC" -ptx -arch=sm_80 -O3 -o all.ptx all.cu
