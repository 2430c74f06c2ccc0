package jinja

import "math/big"

// valueSize is what a value within another one counts as, in bytes.
const valueSize = 16

// binary is an operation of two values as Python has it.
func (r *rendering) binary(op string, a, b Value) Value {
	if v, ok := r.arithmetic(op, a, b); ok {
		return v
	}
	if t, ok := a.(Text); ok && op == "%" {
		return r.percent(t, b)
	}
	r.refuseUndefined(a, b)
	switch op {
	case "+":
		return r.add(a, b)
	case "*":
		if v, ok := r.repeat(a, b); ok {
			return v
		}
		if v, ok := r.repeat(b, a); ok {
			return v
		}
	}
	name := op
	if op == "**" {
		name = "** or pow()"
	}
	throw("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", name, typeName(a), typeName(b))
	return nil
}

// refuseUndefined fails if a value is undefined.
func (r *rendering) refuseUndefined(values ...Value) {
	for _, v := range values {
		if u, ok := v.(*undefined); ok {
			u.fail(r)
		}
	}
}

func (r *rendering) add(a, b Value) Value {
	switch x := a.(type) {
	case Text:
		if y, ok := b.(Text); ok {
			return r.addTexts(x, y)
		}
		throw("TypeError", `can only concatenate str (not "%s") to str`, typeName(b))
	case *List:
		if y, ok := b.(*List); ok {
			return &List{r.chain(x.items, y.items)}
		}
		throw("TypeError", `can only concatenate list (not "%s") to list`, typeName(b))
	case *tuple:
		if y, ok := b.(*tuple); ok {
			return &tuple{items: r.chain(x.items, y.items)}
		}
		throw("TypeError", `can only concatenate tuple (not "%s") to tuple`, typeName(b))
	}
	throw("TypeError", "unsupported operand type(s) for +: '%s' and '%s'", typeName(a), typeName(b))
	return nil
}

// addTexts escapes a text that is added to a safe one, as Markup does.
func (r *rendering) addTexts(a, b Text) Text {
	if a.safe != b.safe {
		a, b = r.escape(a), r.escape(b)
	}
	sum := r.concat(a, b)
	sum.safe = a.safe
	return sum
}

func (r *rendering) chain(a, b []Value) []Value {
	r.takeTimes(len(a)+len(b), valueSize)
	return append(append(make([]Value, 0, len(a)+len(b)), a...), b...)
}

// repeat is a sequence n times; false: it is none, or n no whole number.
func (r *rendering) repeat(v, n Value) (Value, bool) {
	if _, ok := integer(n); !ok {
		return nil, false
	}
	count, fits := small(n)
	if huge, ok := n.(*big.Int); ok && huge.Sign() > 0 {
		fits, count = true, 1<<62
	}
	if !fits || count < 0 {
		count = 0
	}
	switch v := v.(type) {
	case Text:
		return r.repeatText(v, int(count)), true
	case *List:
		return &List{r.repeatItems(v.items, int(count))}, true
	case *tuple:
		return &tuple{items: r.repeatItems(v.items, int(count))}, true
	}
	return nil, false
}

func (r *rendering) repeatText(t Text, n int) Text {
	if t.s == "" || n == 0 {
		return Text{safe: t.safe}
	}
	r.roomTimes(n, len(t.s)+spanSize*len(t.foreign))
	b := builder{run: r, safe: t.safe}
	for range n {
		b.add(t)
	}
	return b.text()
}

func (r *rendering) repeatItems(items []Value, n int) []Value {
	if len(items) == 0 || n == 0 {
		return nil
	}
	r.takeTimes(n, valueSize*len(items))
	list := make([]Value, 0, n*len(items))
	for range n {
		list = append(list, items...)
	}
	return list
}
