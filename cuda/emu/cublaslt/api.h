// The part of cublasLt's API that the fake has. With FAKE_CUBLASLT_HEADER the types are NVIDIA's own,
// so that the compiler checks every signature against theirs; else these, which say the same.
#pragma once
#ifdef FAKE_CUBLASLT_HEADER
#include <cublasLt.h>
#else
#include <cstddef>
#include <cstdint>

typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct { uint64_t data[8]; } cublasLtMatrixLayoutOpaque_t, cublasLtMatmulPreferenceOpaque_t, cublasLtMatmulAlgo_t;
typedef struct { uint64_t data[32]; } cublasLtMatmulDescOpaque_t;
typedef cublasLtMatrixLayoutOpaque_t *cublasLtMatrixLayout_t;
typedef cublasLtMatmulPreferenceOpaque_t *cublasLtMatmulPreference_t;
typedef cublasLtMatmulDescOpaque_t *cublasLtMatmulDesc_t;
typedef struct CUstream_st *cudaStream_t;

enum cublasStatus_t : unsigned {
	CUBLAS_STATUS_SUCCESS = 0,
	CUBLAS_STATUS_NOT_INITIALIZED = 1,
	CUBLAS_STATUS_INVALID_VALUE = 7,
	CUBLAS_STATUS_EXECUTION_FAILED = 13,
	CUBLAS_STATUS_INTERNAL_ERROR = 14,
	CUBLAS_STATUS_NOT_SUPPORTED = 15,
};
enum cublasComputeType_t : unsigned { CUBLAS_COMPUTE_32F = 68 };
enum cudaDataType : unsigned { CUDA_R_32F = 0, CUDA_R_16BF = 14 };
enum cublasOperation_t : unsigned { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasLtMatmulDescAttributes_t : unsigned { CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4 };
enum cublasLtMatmulPreferenceAttributes_t : unsigned { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

typedef struct {
	cublasLtMatmulAlgo_t algo;
	size_t workspaceSize;
	cublasStatus_t state;
	float wavesCount;
	int reserved[4];
} cublasLtMatmulHeuristicResult_t;
#endif

static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96 && CUBLAS_COMPUTE_32F == 68 && CUDA_R_16BF == 14 && CUDA_R_32F == 0 && CUBLAS_OP_T == 1 &&
		CUBLASLT_MATMUL_DESC_TRANSA == 3 && CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == 1,
	"what package cuda/cublaslt passes");

#define LT extern "C" __attribute__((visibility("default")))
#define LT_API LT cublasStatus_t
