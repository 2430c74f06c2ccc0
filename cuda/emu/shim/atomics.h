// Atomic operations: blocks may run on several OS threads.
#pragma once

template <class T> inline T atomicAdd(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
