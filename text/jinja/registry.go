package jinja

import "maps"

// What the language has, by name. The functions lead back to these tables, so that Go
// would not take them as initial values.
var (
	filters, tests methods
	globals        map[string]Value

	stringMethods, listMethods, tupleMethods, dictMethods, loopMethods methods
)

func init() {
	filters = together(textFilters(), caseFilters(), listFilters(), pickFilters(), orderFilters(), numberFilters(), htmlFilters())
	tests = together(typeTests(), comparisonTests())
	globals = globalValues()
	stringMethods = together(partMethods(), splitMethods(), shapeMethods(), classMethods())
	listMethods, tupleMethods, dictMethods = methodsOfLists(), methodsOfTuples(), methodsOfDicts()
	loopMethods = methodsOfLoops()
}

func together(tables ...methods) methods {
	all := make(methods)
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// mutators are methods of Python that change a value, which the sandbox keeps.
var mutators = map[string]map[string]bool{
	"list": {"append": true, "clear": true, "pop": true, "reverse": true, "insert": true, "sort": true, "extend": true, "remove": true},
	"dict": {"clear": true, "pop": true, "popitem": true, "setdefault": true, "update": true},
}

// numberAttributes are attributes of Python's numbers, which are left out.
var numberAttributes = map[string]bool{
	"as_integer_ratio": true, "bit_count": true, "bit_length": true, "conjugate": true, "denominator": true, "from_bytes": true,
	"fromhex": true, "hex": true, "imag": true, "is_integer": true, "numerator": true, "real": true, "to_bytes": true,
}
