// Kernels by name, with the sizes of their parameters.
#pragma once
#include "block.h"
#include <map>
#include <string>
#include <utility>

namespace shim {

struct Kernel {
	std::vector<size_t> sizes;
	void (*call)(void **params);
};

std::map<std::string, Kernel> &kernels();

// Caller calls kernel F with parameters that are given by their addresses.
template <auto F> struct Caller;
template <class... A, void (*F)(A...)> struct Caller<F> {
	template <size_t... I> static void with(void **p, std::index_sequence<I...>) { F(*(A *)p[I]...); }
	static void call(void **p) { with(p, std::index_sequence_for<A...>{}); }
	static Kernel kernel() { return {{sizeof(A)...}, call}; }
};

struct Register {
	Register(const char *name, Kernel k) { kernels()[name] = k; }
};

} // namespace shim
