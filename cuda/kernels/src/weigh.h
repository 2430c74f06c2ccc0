// weigh.h has weights of logits and random numbers, by the operations of package sampling,
// to the bit: see its exp.go and philox.go. Products and sums of doubles are not fused.
#pragma once
#include "numbers.h"

DEV u64 bits_of(double d) {
  u64 u;
  memcpy(&u, &d, 8);
  return u;
}

DEV double double_of(u64 u) {
  double d;
  memcpy(&d, &u, 8);
  return d;
}

// POWERS is how many parts of an octave the whole part of a logarithm counts.
#define POWERS 256

// root_power is 2^(i/n), n being a power of 2: a product of roots of 2.
DEV double root_power(int i, int n) {
  double power = 1, root = 2;
  for (int bit = n / 2; bit > 0; bit /= 2) {
    root = sqrt(root);
    if (i & bit) power *= root;
  }
  return power;
}

// power_bits is entry i of a table of the bits of 2^(i/POWERS).
DEV u64 power_bits(int i) { return bits_of(root_power(i / 16, 16) * root_power(i % 16, POWERS)); }

// Weights is what weights of logits are relative to: the largest logit, at a temperature.
struct Weights {
  const u64 *powers;
  double best, factor;
};

DEV Weights weights_of(const u64 *powers, double best, double temperature) {
  Weights w = {powers, best, 369.3299304675746322841407183364843871812 / temperature};
  return w;
}

// weigh is the weight of a logit, 0 where it is below e^-60.
DEV double weigh(const Weights &w, float logit) {
  const double to_whole = 6755399441055744.0;             // leaves the whole part in the lowest bits
  const double c1 = 0.002707606174062286364911062974446;  // the series of 2^(x/256)
  const double c2 = 0.000003665565596910106084191150866139716887;
  const double c3 = 0.000000003308302680541371104308501706637249;
  double t = ((double)logit - w.best) * w.factor, whole = t + to_whole;
  i64 bits = (i64)bits_of(whole);
  if (bits < 0x4337ffffffffa970ll) return 0;
  double f = t - (whole - to_whole);
  double power = double_of(w.powers[bits % POWERS] + ((u64)bits / POWERS << 52));
  double part = f * (c1 + f * (c2 + f * c3));
  return power + power * part;
}

// ln is the natural logarithm of a number above 0, which is not subnormal: of a mantissa m near 1,
// with f = m-1 and s = f/(2+f), by f - f*f/2 + s*(f*f/2 + R(s*s)), R being a polynomial; the
// method and constants are those of Sun's fdlibm, e_log.c, in the order of Go's math.Log.
DEV double ln(double x) {
  int k = (int)(bits_of(x) >> 52) - 0x3fe;
  double m = double_of((bits_of(x) & 0x000fffffffffffffull) | 0x3fe0000000000000ull);
  if (m < 7.07106781186547524401e-01) {
    k--;
    m *= 2;
  }
  double f = m - 1, s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
  double odd = s2 * (6.666666666666735130e-01 + s4 * (2.857142874366239149e-01 + s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01)));
  double even = s4 * (3.999999999940941908e-01 + s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
  double r = odd + even, half = 0.5 * f * f;
  return k * 6.93147180369123816490e-01 - ((half - (s * (half + r) + k * 1.90821492927058770002e-10)) - f);
}

// uniform is a random number in [0, 1) of 53 bits: Philox4x32-10 of Salmon, Moraes, Dror and
// Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
DEV double uniform(u64 seed, u32 child, u32 position) {
  u32 c0 = position, c1 = child, c2 = 0, c3 = 0, k0 = (u32)seed, k1 = (u32)(seed >> 32);
  for (int i = 0; i < 10; i++) {
    u64 a = (u64)0xD2511F53u * c0, b = (u64)0xCD9E8D57u * c2;
    c0 = (u32)(b >> 32) ^ c1 ^ k0;
    c1 = (u32)b;
    c2 = (u32)(a >> 32) ^ c3 ^ k1;
    c3 = (u32)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (double)((u64)c1 << 21 ^ (u64)(c0 >> 11)) / 9007199254740992.0;
}

// rank orders logits as integers; -0 is 0.
DEV u32 rank(float v) {
  u32 b = bits_of(v + 0.0f);
  return b >> 31 ? ~b : b | 0x80000000u;
}

// unrank is the logit of a rank.
DEV float unrank(u32 r) { return float_of(r >> 31 ? r & 0x7fffffffu : ~r); }
