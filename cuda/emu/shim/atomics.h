// Atomic operations on memory that blocks share: blocks may run on several OS threads.
#pragma once
#include <cstdint>
#include <cstring>

template <class T> inline T atomicAdd(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }

inline float atomicAdd(float *p, float v) {
	uint32_t *u = (uint32_t *)p, old = __atomic_load_n(u, __ATOMIC_RELAXED), sum;
	float f;
	do {
		memcpy(&f, &old, 4);
		float g = f + v;
		memcpy(&sum, &g, 4);
	} while (!__atomic_compare_exchange_n(u, &old, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return f;
}

template <class T> inline T atomicMax(T *p, T v) {
	T old = __atomic_load_n(p, __ATOMIC_RELAXED);
	while (old < v && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
	return old;
}

template <class T> inline T atomicMin(T *p, T v) {
	T old = __atomic_load_n(p, __ATOMIC_RELAXED);
	while (v < old && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
	return old;
}

template <class T> inline T atomicExch(T *p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }

template <class T> inline T atomicCAS(T *p, T expected, T v) {
	__atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
