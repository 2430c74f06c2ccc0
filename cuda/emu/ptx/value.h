// Registers hold 64 bits; operations see them as one of PTX's types.
#pragma once
#include "program.h"
#include <cstring>
#include <stdexcept>

namespace ptx {

template <class T> T get(uint64_t bits) {
	T v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

template <class T> uint64_t put(T v) {
	uint64_t bits = 0;
	memcpy(&bits, &v, sizeof v);
	return bits;
}

// as_type calls f with a value of the C++ type, for its type alone.
template <class F> auto as_type(Type t, F f) {
	switch (t) {
	case Type::u8: return f(uint8_t());
	case Type::s8: return f(int8_t());
	case Type::u16: return f(uint16_t());
	case Type::s16: return f(int16_t());
	case Type::s32: return f(int32_t());
	case Type::u64: return f(uint64_t());
	case Type::s64: return f(int64_t());
	case Type::f32: return f(float());
	case Type::f64: return f(double());
	default: return f(uint32_t());
	}
}

// compute is the value of an operation of values alone; x has what it reads, in order.
uint64_t compute(const Instruction &i, const uint64_t *x);
uint64_t convert(const Instruction &i, uint64_t x);
uint64_t compare(const Instruction &i, const uint64_t *x);

} // namespace ptx
