// Numbers of 16 bits.
#pragma once
#include <cstdint>
#include <cstring>

// from_half widens an f16 of IEEE 754. Numbers below the normal ones are multiples of 2^-24.
inline float from_half(uint16_t h) {
	uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
	uint32_t u = exponent == 31 ? 0x7f800000u : (exponent + 112) << 23;
	u |= fraction << 13;
	float f;
	memcpy(&f, &u, 4);
	if (exponent == 0) f = (float)fraction / 16777216.f;
	return h & 0x8000 ? -f : f;
}
