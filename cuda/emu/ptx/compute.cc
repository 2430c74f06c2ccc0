// Operations of values alone.
#include "value.h"
#include <cfenv>
#include <cmath>
#include <type_traits>

namespace ptx {

namespace {

template <class T> constexpr bool whole = std::is_integral<T>::value;

// The product's upper half.
template <class T> T high(T a, T b) {
	if constexpr (sizeof(T) == 8) {
		using W = std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>;
		return (T)((W)a * (W)b >> 64);
	} else {
		using W = std::conditional_t<std::is_signed<T>::value, int64_t, uint64_t>;
		return (T)((W)a * (W)b >> 8 * sizeof(T));
	}
}

template <class T> T wrapped(std::make_unsigned_t<T> v) { return (T)v; }

template <class T> T fused(T a, T b, T c, Rounding r) {
	if (r != Rounding::down) return std::fma(a, b, c);
	int before = fegetround();
	fesetround(FE_DOWNWARD);
	volatile T x = a, y = b, z = c; // at run time, in this rounding
	volatile T v = std::fma(x, y, z);
	fesetround(before);
	return v;
}

template <class T> uint64_t floating(const Instruction &i, const uint64_t *x) {
	T a = get<T>(x[0]), b = get<T>(x[1]), c = get<T>(x[2]), v;
	switch (i.op) {
	case Op::add: v = a + b; break;
	case Op::sub: v = a - b; break;
	case Op::mul: v = a * b; break;
	case Op::fma: case Op::mad: v = fused(a, b, c, i.rounding); break;
	case Op::div: v = a / b; break;
	case Op::neg: v = -a; break;
	case Op::abs: v = std::fabs(a); break;
	case Op::min: v = i.keeps_nan && (std::isnan(a) || std::isnan(b)) ? (T)NAN : std::fmin(a, b); break;
	case Op::max: v = i.keeps_nan && (std::isnan(a) || std::isnan(b)) ? (T)NAN : std::fmax(a, b); break;
	case Op::ex2: v = std::exp2(a); break;
	case Op::lg2: v = std::log2(a); break;
	case Op::rsqrt: v = 1 / std::sqrt(a); break;
	case Op::rcp: v = 1 / a; break;
	case Op::sqrt: v = std::sqrt(a); break;
	case Op::tanh: v = std::tanh(a); break;
	case Op::copysign: v = std::copysign(b, a); break;
	default: throw std::runtime_error("no such operation of floating point");
	}
	if (i.saturate) v = std::isnan(v) ? 0 : v < 0 ? 0 : v > 1 ? 1 : v;
	return put(v);
}

// divided fails at a division by zero, where hardware gives all ones.
template <class T> T divided(Op op, T a, T b) {
	if (b == 0) throw std::runtime_error("division of whole numbers by zero");
	if (std::is_signed<T>::value && b == (T)-1) return op == Op::div ? wrapped<T>(0 - (std::make_unsigned_t<T>)a) : 0;
	return op == Op::div ? a / b : a % b;
}

template <class T> uint64_t arithmetic(const Instruction &i, const uint64_t *x) {
	using U = std::make_unsigned_t<T>;
	T a = get<T>(x[0]), b = get<T>(x[1]), c = get<T>(x[2]);
	switch (i.op) {
	case Op::add: return put(wrapped<T>((U)a + (U)b));
	case Op::sub: return put(wrapped<T>((U)a - (U)b));
	case Op::mul: return put(wrapped<T>((uint64_t)a * (uint64_t)b));
	case Op::mad: return put(wrapped<T>((uint64_t)a * (uint64_t)b + (uint64_t)c));
	case Op::mul_hi: return put(high(a, b));
	case Op::mad_hi: return put(wrapped<T>((U)high(a, b) + (U)c));
	case Op::mul_wide: return (uint64_t)(int64_t)a * (uint64_t)(int64_t)b & (sizeof(T) == 2 ? 0xffffffffu : ~uint64_t(0));
	case Op::mad_wide: return ((uint64_t)(int64_t)a * (uint64_t)(int64_t)b + x[2]) & (sizeof(T) == 2 ? 0xffffffffu : ~uint64_t(0));
	case Op::div: case Op::rem: return put(divided(i.op, a, b));
	case Op::neg: return put(wrapped<T>(0 - (U)a));
	case Op::abs: return put(a < (T)0 ? wrapped<T>(0 - (U)a) : a);
	case Op::min: return put(a < b ? a : b);
	case Op::max: return put(a > b ? a : b);
	case Op::and_: return put((T)(a & b));
	case Op::or_: return put((T)(a | b));
	case Op::xor_: return put((T)(a ^ b));
	case Op::not_: return put((T)~a);
	default: throw std::runtime_error("no such operation of whole numbers");
	}
}

template <class T> uint64_t shifted(Op op, uint64_t x, uint32_t by) {
	constexpr uint32_t bits = 8 * sizeof(T);
	T a = get<T>(x);
	if (op == Op::shl) return by >= bits ? 0 : put((T)((std::make_unsigned_t<T>)a << by));
	if (std::is_signed<T>::value) return put((T)(a >> (by >= bits ? bits - 1 : by)));
	return by >= bits ? 0 : put((T)(a >> by));
}

uint64_t extracted(const Instruction &i, const uint64_t *x) {
	int bits = 8 * size_of(i.type), at = x[1] & 255, n = x[2] & 255;
	bool is_signed = i.type == Type::s32 || i.type == Type::s64;
	if (!n) return 0;
	uint64_t v = is_signed ? (uint64_t)(i.type == Type::s32 ? (int32_t)x[0] : (int64_t)x[0]) : x[0];
	if (at >= bits) v = is_signed && (int64_t)v < 0 ? ~uint64_t(0) : 0;
	else v = is_signed ? (uint64_t)((int64_t)v >> at) : v >> at;
	if (n < 64) v &= (uint64_t(1) << n) - 1;
	if (is_signed && n < bits) {
		int last = at + n - 1 < bits ? n - 1 : bits - 1 - at;
		if (last >= 0 && v >> last & 1) v |= ~uint64_t(0) << (last + 1);
	}
	return bits == 32 ? (uint32_t)v : v;
}

uint64_t inserted(const Instruction &i, const uint64_t *x) {
	int bits = 8 * size_of(i.type), at = x[2] & 255, n = x[3] & 255;
	if (!n || at >= bits) return x[1];
	uint64_t ones = n >= 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1, mask = ones << at;
	uint64_t v = (x[1] & ~mask) | (x[0] << at & mask);
	return bits == 32 ? (uint32_t)v : v;
}

uint64_t permuted(const uint64_t *x) {
	uint64_t bytes = (uint32_t)x[0] | x[1] << 32;
	uint32_t v = 0;
	for (int k = 0; k < 4; k++) {
		uint32_t pick = x[2] >> 4 * k & 15, byte = bytes >> 8 * (pick & 7) & 255;
		if (pick & 8) byte = byte & 128 ? 255 : 0;
		v |= byte << 8 * k;
	}
	return v;
}

uint64_t looked_up(const uint64_t *x) {
	uint32_t v = 0;
	for (int k = 0; k < 32; k++) {
		int row = (x[0] >> k & 1) << 2 | (x[1] >> k & 1) << 1 | (x[2] >> k & 1);
		v |= (uint32_t)(x[3] >> row & 1) << k;
	}
	return v;
}

uint64_t funnel(Op op, const uint64_t *x) {
	uint64_t both = (uint32_t)x[0] | x[1] << 32;
	uint32_t by = x[2] & 31;
	return (uint32_t)(op == Op::shf_l ? both << by >> 32 : both >> by);
}

} // namespace

uint64_t compute(const Instruction &i, const uint64_t *x) {
	switch (i.op) {
	case Op::mov: return i.type == Type::pred ? x[0] & 1 : size_of(i.type) == 8 ? x[0] : size_of(i.type) == 4 ? (uint32_t)x[0] : (uint16_t)x[0];
	case Op::selp: return x[2] & 1 ? x[0] : x[1];
	case Op::setp: return compare(i, x);
	case Op::cvt: return convert(i, x[0]);
	case Op::popc: return __builtin_popcountll(x[0]);
	case Op::clz: return size_of(i.type) == 4 ? ((uint32_t)x[0] ? __builtin_clz(x[0]) : 32) : (x[0] ? __builtin_clzll(x[0]) : 64);
	case Op::brev: {
		uint32_t v = 0;
		for (int k = 0; k < 32; k++) v |= (uint32_t)(x[0] >> k & 1) << (31 - k);
		return v;
	}
	case Op::bfe: return extracted(i, x);
	case Op::bfi: return inserted(i, x);
	case Op::prmt: return permuted(x);
	case Op::lop3: return looked_up(x);
	case Op::shf_l: case Op::shf_r: return funnel(i.op, x);
	default: break;
	}
	if (i.type == Type::pred) {
		uint64_t v = i.op == Op::and_ ? x[0] & x[1] : i.op == Op::or_ ? x[0] | x[1] : i.op == Op::xor_ ? x[0] ^ x[1] : ~x[0];
		return v & 1;
	}
	return as_type(i.type, [&](auto t) -> uint64_t {
		using T = decltype(t);
		if constexpr (!whole<T>) return floating<T>(i, x);
		else if (i.op == Op::shl || i.op == Op::shr) return shifted<T>(i.op, x[0], (uint32_t)x[1]);
		else return arithmetic<T>(i, x);
	});
}

} // namespace ptx
