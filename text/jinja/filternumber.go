package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// numberFilters are filters of numbers.
func numberFilters() methods {
	return methods{
		"abs": {sig(""), func(r *rendering, v Value, _ bound) Value {
			if f, ok := v.(float64); ok {
				return math.Abs(f)
			}
			n, ok := integer(v)
			if !ok {
				r.refuseUndefined(v)
				throw("TypeError", "bad operand type for abs(): '%s'", typeName(v))
			}
			return whole(new(big.Int).Abs(n))
		}},
		"int": {sig("default? base?"), func(r *rendering, v Value, a bound) Value {
			return r.toInt(v, a)
		}},
		"float": {sig("default?"), func(r *rendering, v Value, a bound) Value {
			if f, ok := r.toFloat(v); ok {
				return f
			}
			return a.get(0, 0.0)
		}},
		"round": {sig("precision? method?"), func(r *rendering, v Value, a bound) Value {
			return r.round(v, a)
		}},
		"filesizeformat": {sig("binary?"), func(r *rendering, v Value, a bound) Value {
			f, ok := r.toFloat(v)
			if !ok {
				throw("ValueError", "could not convert %s to float", typeName(v))
			}
			return Text{s: fileSize(f, a.flag(r, 0, false))}
		}},
	}
}

// toInt is a value as a whole number, by way of a float if need be, or a default.
func (r *rendering) toInt(v Value, a bound) Value {
	r.refuseUndefined(v)
	switch v := v.(type) {
	case Text:
		r.scan(len(v.s))
		if n, ok := parseInt(v.s, a.number(r, 1, 10)); ok {
			return n
		}
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return wholeOf(v)
		}
		if math.IsInf(v, 0) { // jinja2 does not catch this one
			wholeOf(v)
		}
	}
	if n, ok := integer(v); ok {
		return whole(n)
	}
	if f, ok := r.toFloat(v); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return wholeOf(f)
	}
	return a.get(0, int64(0))
}

// parseInt reads a number as Python's int() does.
func parseInt(s string, base int) (Value, bool) {
	s = strings.TrimFunc(s, isSpace)
	if base != 0 && (base < 2 || base > 36) || len(s) > maxDigits || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return nil, false
	}
	sign, digits := "", s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, digits = s[:1], s[1:]
	}
	if prefix, ok := map[int]string{2: "0b", 8: "0o", 16: "0x"}[base]; ok && len(digits) > 2 && strings.EqualFold(digits[:2], prefix) {
		digits = strings.TrimPrefix(digits[2:], "_")
	}
	if strings.HasPrefix(digits, "_") || strings.ContainsAny(digits, "+-") {
		return nil, false
	}
	if base != 0 {
		digits = strings.ReplaceAll(digits, "_", "")
	}
	n, ok := new(big.Int).SetString(sign+digits, base)
	if !ok {
		return nil, false
	}
	return whole(n), true
}

// toFloat is a value as a float, as Python's float() has it; false: it is none.
func (r *rendering) toFloat(v Value) (float64, bool) {
	r.refuseUndefined(v)
	t, ok := v.(Text)
	if !ok {
		return float(v)
	}
	r.scan(len(t.s))
	s := strings.TrimFunc(t.s, isSpace)
	if len(s) > 2*maxDigits {
		return 0, false
	}
	lower := strings.ToLower(strings.TrimLeft(s, "+-"))
	if strings.HasPrefix(lower, "0x") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") || strings.HasPrefix(lower, "_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// round is Python's round, whose result is whole for whole numbers, or that of
// math.floor or math.ceil, which is a float.
func (r *rendering) round(v Value, a bound) Value {
	digits, method := a.number(r, 0, 0), a.textOr(r, 1, "common").s
	if method != "common" && method != "ceil" && method != "floor" {
		throw("FilterArgumentError", "method must be common, ceil or floor")
	}
	r.refuseUndefined(v)
	if !isNumber(v) {
		throw("TypeError", "type %s doesn't define __round__ method", typeName(v))
	}
	if n, ok := integer(v); ok && method == "common" {
		if digits >= 0 {
			return whole(n)
		}
		return roundWhole(n, digits)
	}
	f, _ := float(v)
	if method == "common" {
		return roundFloat(f, digits)
	}
	scale := math.Pow(10, float64(digits))
	if method == "ceil" {
		f = math.Ceil(f * scale)
	} else {
		f = math.Floor(f * scale)
	}
	return f / scale
}

// roundFloat rounds correctly to so many decimals, halves to even.
func roundFloat(f float64, digits int) Value {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || digits > 323:
		return f
	case digits < -308:
		return math.Copysign(0, f)
	case digits < 0:
		n := roundWhole(wholeHalf(f), digits)
		g, _ := float(n)
		return math.Copysign(g, f)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
	if err != nil {
		return f
	}
	return rounded
}

// wholeHalf is a float as a whole number; a part that is left over cannot decide a
// rounding to tens but for numbers halfway between, where it is added as one.
func wholeHalf(f float64) *big.Int {
	n, accuracy := big.NewFloat(math.Abs(f)).Int(nil)
	if accuracy != big.Exact {
		half := new(big.Int).Mod(n, big.NewInt(10))
		if half.Int64() == 5 {
			n.Add(n, big.NewInt(1))
		}
	}
	return n
}

// roundWhole rounds to tens, hundreds and so on, halves to even.
func roundWhole(n *big.Int, digits int) Value {
	if -digits > maxDigits {
		return int64(0)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil)
	quotient, remainder := new(big.Int).DivMod(n, unit, new(big.Int))
	c := remainder.Lsh(remainder, 1).Cmp(unit)
	if c > 0 || c == 0 && quotient.Bit(0) == 1 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return whole(quotient.Mul(quotient, unit))
}

// fileSize is a number of bytes for people.
func fileSize(bytes float64, binary bool) string {
	base, units := 1000.0, []string{"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"}
	if binary {
		base, units = 1024, []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
	}
	switch {
	case bytes == 1:
		return "1 Byte"
	case bytes < base:
		return fmt.Sprintf("%d Bytes", int64(bytes))
	}
	unit := base
	for i, name := range units {
		unit *= base
		if bytes < unit || i == len(units)-1 {
			return fmt.Sprintf("%.1f %s", base*bytes/unit, name)
		}
	}
	return ""
}
