package jinja

import (
	"math"
	"math/big"
)

// maxDigits is how many digits a whole number has at most. Python prints no more
// than 4,300.
const maxDigits = 4300

// maxBits is how many bits those digits have.
const maxBits = 14285

// whole is a number as a value: an int64 where it is one.
func whole(n *big.Int) Value {
	if n.IsInt64() {
		return n.Int64()
	}
	if n.BitLen() > maxBits {
		throwLimit("with a number of more than %d digits", maxDigits)
	}
	return n
}

// integer is a value as a whole number; false: it is none. Truth values are.
func integer(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

// small is integer for numbers that fit; false: it is another value.
func small(v Value) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

// float is a number as a float; false: it is none.
func float(v Value) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	if n, ok := small(v); ok {
		return float64(n), true
	}
	if n, ok := v.(*big.Int); ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		if math.IsInf(f, 0) {
			throw("OverflowError", "int too large to convert to float")
		}
		return f, true
	}
	return 0, false
}

// wholeOf is the whole part of a float.
func wholeOf(f float64) Value {
	switch {
	case math.IsNaN(f):
		throw("ValueError", "cannot convert float NaN to integer")
	case math.IsInf(f, 0):
		throw("OverflowError", "cannot convert float infinity to integer")
	}
	n, _ := big.NewFloat(f).Int(nil)
	return whole(n)
}

// isNumber is Python's numbers.Number.
func isNumber(v Value) bool {
	switch v.(type) {
	case bool, int64, *big.Int, float64:
		return true
	}
	return false
}

// arithmetic computes with two numbers; false: one of them is none.
func (r *rendering) arithmetic(op string, a, b Value) (Value, bool) {
	x, okX := integer(a)
	y, okY := integer(b)
	if okX && okY {
		if v, ok := smallArithmetic(op, a, b); ok {
			return v, true
		}
		return r.wholeArithmetic(op, x, y), true
	}
	if !isNumber(a) || !isNumber(b) {
		return nil, false
	}
	f, _ := float(a)
	g, _ := float(b)
	return floatArithmetic(op, f, g), true
}

// smallArithmetic is the common case: both numbers and the result are small.
func smallArithmetic(op string, a, b Value) (Value, bool) {
	const half = math.MaxInt32
	x, okX := small(a)
	y, okY := small(b)
	if !okX || !okY || x > half || x < -half || y > half || y < -half {
		return nil, false
	}
	switch op {
	case "+":
		return x + y, true
	case "-":
		return x - y, true
	case "*":
		return x * y, true
	}
	return nil, false
}

func (r *rendering) wholeArithmetic(op string, x, y *big.Int) Value {
	r.spend(1 + (x.BitLen()+y.BitLen())/64)
	zero := y.Sign() == 0
	n := new(big.Int)
	switch op {
	case "+":
		return whole(n.Add(x, y))
	case "-":
		return whole(n.Sub(x, y))
	case "*":
		return whole(n.Mul(x, y))
	case "/":
		if zero {
			throw("ZeroDivisionError", "division by zero")
		}
		f, _ := new(big.Rat).SetFrac(x, y).Float64()
		if math.IsInf(f, 0) {
			throw("OverflowError", "integer division result too large for a float")
		}
		return f
	case "//", "%":
		if zero {
			throw("ZeroDivisionError", "integer division or modulo by zero")
		}
		quotient, remainder := n.QuoRem(x, y, new(big.Int))
		if remainder.Sign() != 0 && (remainder.Sign() < 0) != (y.Sign() < 0) {
			quotient.Sub(quotient, big.NewInt(1))
			remainder.Add(remainder, y)
		}
		if op == "//" {
			return whole(quotient)
		}
		return whole(remainder)
	}
	return power(x, y)
}

// power is x to the y.
func power(x, y *big.Int) Value {
	if y.Sign() < 0 {
		if x.Sign() == 0 {
			throw("ZeroDivisionError", "0.0 cannot be raised to a negative power")
		}
		f, _ := float(whole(x))
		g, _ := float(whole(y))
		return math.Pow(f, g)
	}
	if x.CmpAbs(big.NewInt(1)) > 0 && (!y.IsInt64() || y.Int64() > maxBits || (int64(x.BitLen())-1)*y.Int64() > maxBits) {
		throwLimit("with a number of more than %d digits", maxDigits)
	}
	if x.CmpAbs(big.NewInt(1)) <= 0 {
		if x.Sign() < 0 && y.Bit(0) == 0 || y.Sign() == 0 {
			return int64(1)
		}
		return whole(x)
	}
	return whole(new(big.Int).Exp(x, y, nil))
}

func floatArithmetic(op string, x, y float64) Value {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		return floatPower(x, y)
	}
	if y == 0 {
		message := map[string]string{"/": "float division by zero", "//": "float floor division by zero", "%": "float modulo"}
		throw("ZeroDivisionError", "%s", message[op])
	}
	if op == "/" {
		return x / y
	}
	quotient, remainder := floorDivide(x, y)
	if op == "//" {
		return quotient
	}
	return remainder
}

// floorDivide is divmod of floats as CPython computes it (Objects/floatobject.c): the
// remainder has the sign of y, and the quotient is the whole number next to it.
func floorDivide(x, y float64) (quotient, remainder float64) {
	remainder = math.Mod(x, y)
	quotient = (x - remainder) / y
	if remainder != 0 {
		if (y < 0) != (remainder < 0) {
			remainder += y
			quotient--
		}
	} else {
		remainder = math.Copysign(0, y)
	}
	if quotient == 0 {
		return math.Copysign(0, x/y), remainder
	}
	floor := math.Floor(quotient)
	if quotient-floor > 0.5 {
		floor++
	}
	return floor, remainder
}

func floatPower(x, y float64) Value {
	switch {
	case x == 0 && y < 0:
		throw("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	case x < 0 && y != math.Trunc(y) && !math.IsInf(y, 0):
		throwUnsupported("a complex number, by ** of a negative one")
	}
	p := math.Pow(x, y)
	if math.IsInf(p, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		throw("OverflowError", "(34, 'Numerical result out of range')")
	}
	return p
}
