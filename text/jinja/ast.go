package jinja

// stmt and expr are the nodes of a template's tree.
type (
	stmt any
	expr any
)

// Statements.
type (
	outputStmt struct {
		parts []expr
		line  int
	}
	ifStmt struct {
		arms      []ifArm
		otherwise []stmt
		line      int
	}
	ifArm struct {
		test expr
		body []stmt
	}
	forStmt struct {
		target    expr // names, or a tupleExpr of them
		over      expr
		test      expr // nil: every item
		body      []stmt
		otherwise []stmt
		recursive bool
		line      int
	}
	setStmt struct {
		target, value expr
		line          int
	}
	setBlock struct { // {% set x | filter %}body{% endset %}
		target expr
		filter *filterExpr // over nil; nil: none
		body   []stmt
		line   int
	}
	withStmt struct {
		targets, values []expr
		body            []stmt
		line            int
	}
	macroStmt struct {
		name string
		code *macroCode
		line int
	}
	callBlock struct {
		call *callExpr
		code *macroCode // of caller
		line int
	}
	filterBlock struct {
		filter *filterExpr
		body   []stmt
		line   int
	}
	autoescapeStmt struct {
		on   expr
		body []stmt
		line int
	}
	blockStmt struct {
		name   string
		scoped bool
		body   []stmt
		line   int
	}
	generationStmt struct {
		body []stmt
		line int
	}
	breakStmt    struct{ line int }
	continueStmt struct{ line int }
)

// macroCode is what a macro or the body of a call block has in common.
type macroCode struct {
	name     string
	params   []string
	defaults []expr // of the last ones
	body     []stmt
	varargs  bool // what the body asks for
	kwargs   bool
	caller   bool
}

// Expressions.
type (
	literal   struct{ value Value }
	nameExpr  struct{ name string }
	nsRef     struct{ name, attr string } // a target: a field of a namespace
	listExpr  struct{ items []expr }
	tupleExpr struct{ items []expr }
	dictExpr  struct{ keys, values []expr }
	condExpr  struct{ test, then, otherwise expr } // otherwise may be nil
	andExpr   struct{ left, right expr }
	orExpr    struct{ left, right expr }
	notExpr   struct{ x expr }
	signExpr  struct {
		minus bool
		x     expr
	}
	binaryExpr struct {
		op          string
		left, right expr
	}
	compareExpr struct {
		first expr
		ops   []compareOp
	}
	compareOp struct {
		op string // ==, !=, <, <=, >, >=, in, notin
		x  expr
	}
	concatExpr struct{ parts []expr }
	attrExpr   struct {
		x    expr
		name string
	}
	itemExpr  struct{ x, key expr }
	sliceExpr struct{ start, stop, step expr } // each may be nil
	callExpr  struct {
		fn   expr
		args callArgs
	}
	filterExpr struct {
		x    expr
		name string
		args callArgs
		line int
	}
	testExpr struct {
		x    expr
		name string
		args callArgs
		line int
	}
)

// callArgs are the arguments of a call, a filter or a test.
type callArgs struct {
	pos      []expr
	names    []Text // of kw
	kw       []expr
	star     expr // *x; nil: none
	starstar expr // **x
}
