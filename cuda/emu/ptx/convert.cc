// Conversions and comparisons.
#include "value.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace ptx {

namespace {

double rounded(double v, Rounding r) {
	switch (r) {
	case Rounding::to_zero: return std::trunc(v);
	case Rounding::nearest: return std::nearbyint(v);
	case Rounding::down: return std::floor(v);
	case Rounding::up: return std::ceil(v);
	default: return v;
	}
}

// clamped is a whole number of type T: the nearest one where the value is too large, 0 for NaN.
template <class T> T clamped(double v) {
	if (std::isnan(v)) return 0;
	constexpr double least = (double)std::numeric_limits<T>::min(), most = (double)std::numeric_limits<T>::max();
	if (v <= least) return std::numeric_limits<T>::min();
	if (v >= most) return std::numeric_limits<T>::max();
	return (T)v;
}

template <class To, class From> uint64_t converted(const Instruction &i, From v) {
	if constexpr (std::is_floating_point<To>::value) {
		To r = (To)v;
		if (std::is_floating_point<From>::value) r = (To)rounded(r, i.rounding);
		if (i.saturate) r = std::isnan(r) ? 0 : std::min<To>(1, std::max<To>(0, r));
		return put(r);
	} else if constexpr (std::is_floating_point<From>::value) {
		return put(clamped<To>(rounded(v, i.rounding)));
	} else {
		// A register that is wider than the type holds it extended by its sign.
		To r = i.saturate ? (To)std::min<__int128>(std::numeric_limits<To>::max(), std::max<__int128>(std::numeric_limits<To>::min(), v)) : (To)v;
		if (sizeof(To) < 4) return (uint32_t)(std::is_signed<To>::value ? (int32_t)r : (int32_t)(std::make_unsigned_t<To>)r);
		return put(r);
	}
}

// widened is an f16 of IEEE 754. Numbers below the normal ones are multiples of 2^-24.
float widened(uint16_t h) {
	int exponent = h >> 10 & 31, fraction = h & 1023;
	float f = exponent == 31 ? (fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
	                         : exponent ? std::ldexp(1024.f + fraction, exponent - 25) : std::ldexp((float)fraction, -24);
	return h & 0x8000 ? -f : f;
}

template <class T> bool holds(Compare c, T a, T b) {
	bool ordered = a == a && b == b;
	switch (c) {
	case Compare::eq: return a == b;
	case Compare::ne: return ordered && a != b;
	case Compare::lt: return a < b;
	case Compare::le: return a <= b;
	case Compare::gt: return a > b;
	case Compare::ge: return a >= b;
	case Compare::equ: return !ordered || a == b;
	case Compare::neu: return !ordered || a != b;
	case Compare::ltu: return !ordered || a < b;
	case Compare::leu: return !ordered || a <= b;
	case Compare::gtu: return !ordered || a > b;
	case Compare::geu: return !ordered || a >= b;
	case Compare::num: return ordered;
	default: return !ordered;
	}
}

} // namespace

uint64_t convert(const Instruction &i, uint64_t x) {
	if (i.from == Type::f16) {
		if (i.type != Type::f32) throw std::runtime_error("no support for conversions of f16 but to f32");
		return put(widened(get<uint16_t>(x)));
	}
	return as_type(i.type, [&](auto to) {
		return as_type(i.from, [&](auto from) { return converted<decltype(to), decltype(from)>(i, get<decltype(from)>(x)); });
	});
}

uint64_t compare(const Instruction &i, const uint64_t *x) {
	bool r = as_type(i.type, [&](auto t) { return holds(i.compare, get<decltype(t)>(x[0]), get<decltype(t)>(x[1])); });
	switch (i.combine) {
	case Mode::and_: return r && (x[2] & 1);
	case Mode::or_: return r || (x[2] & 1);
	case Mode::xor_: return r != (x[2] & 1);
	default: return r;
	}
}

} // namespace ptx
