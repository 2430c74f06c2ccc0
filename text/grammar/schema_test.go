package grammar

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validator is an independent judge of what a schema means.
func validator(t testing.TB, source string) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid says whether a text is JSON that matches.
func valid(s *jsonschema.Schema, text string) error {
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		return err
	}
	return s.Validate(instance)
}

// schemaCase is a schema with texts that it takes and texts that it refuses.
type schemaCase struct {
	source  string
	takes   []string
	refuses []string
	other   []string // valid texts that are not written, as doc.go says
}

var schemaCases = []schemaCase{
	{`{}`, []string{`1`, `"a"`, `null`, `[1, {"a": [true, false]}]`, `-0.5e-12`, `"\ud83d\ude00\u00e9\"\\\/"`},
		[]string{`01`, `1.`, `nul`, `[1,]`, `{"a":1,}`, `{a:1}`, "\"\n\"", `+1`}, []string{` 1`, `1 `, `1e100`, `"\ud83d"`}},
	{`true`, []string{`1`}, []string{``}, nil},
	{`{"type":"null"}`, []string{`null`}, []string{`true`, `nulls`}, nil},
	{`{"type":"boolean"}`, []string{`true`, `false`}, []string{`1`}, nil},
	{`{"type":["integer","null"]}`, []string{`null`, `-12`, `0`}, []string{`1.5`, `"a"`}, []string{`1.0`, `1e2`}},
	{`{"type":"number"}`, []string{`1.5`, `-0`, `1e9`, `2E+10`}, []string{`.5`, `-`, `1e`}, nil},
	{`{"type":["number","integer"],"maximum":3}`, []string{`3`, `3.0`, `-1000`, `2.999`}, []string{`3.01`, `4`, `30`}, nil},
	{`{"type":"integer","minimum":7,"maximum":1205}`, []string{`7`, `9`, `10`, `99`, `100`, `999`, `1000`, `1199`, `1205`},
		[]string{`6`, `0`, `1206`, `1300`, `2000`, `10000`, `-8`, `007`}, nil},
	{`{"type":"integer","minimum":-15,"exclusiveMaximum":23}`, []string{`-15`, `-14`, `-9`, `-1`, `0`, `-0`, `22`}, []string{`-16`, `-20`, `-100`, `23`, `100`}, nil},
	{`{"type":"integer","exclusiveMinimum":-200,"maximum":-20}`, []string{`-20`, `-199`, `-99`}, []string{`-200`, `-19`, `-2`, `0`, `20`}, nil},
	{`{"type":"integer","minimum":98}`, []string{`98`, `99`, `100`, `12345678901234567890`}, []string{`97`, `9`, `-98`, `0`}, nil},
	{`{"type":"integer","maximum":-3}`, []string{`-3`, `-12`}, []string{`-2`, `0`, `3`}, nil},
	{`{"type":"integer","minimum":1.5,"maximum":3.5}`, []string{`2`, `3`}, []string{`1`, `4`}, nil},
	{`{"type":"number","minimum":0.25,"exclusiveMaximum":12.5}`, []string{`0.25`, `0.250`, `0.26`, `1`, `9.99`, `12.49`, `12.4999`, `12`, `3.00001`},
		[]string{`0.24`, `0.2`, `0`, `12.5`, `12.50`, `12.51`, `13`, `100`, `-1`}, nil},
	{`{"exclusiveMinimum":0}`, []string{`0.001`, `1`, `10`}, []string{`0`, `0.0`, `-0`, `-1`}, []string{`"a"`, `1e3`}},
	{`{"type":"number","exclusiveMinimum":1.5,"maximum":1.5e1}`, []string{`1.51`, `15`, `15.0`}, []string{`1.5`, `1.500`, `15.01`}, nil},
	{`{"type":"number","maximum":-0.5}`, []string{`-0.5`, `-0.51`, `-100.25`}, []string{`-0.4`, `0`, `0.5`}, nil},
	{`{"type":"string"}`, []string{`""`, `"é中😀"`, `"\u00e9\ud83d\ude00\n"`}, []string{`"`, "\"\t\"", `"\x"`, `"\u12"`}, nil},
	{`{"type":"string","minLength":2,"maxLength":3}`, []string{`"ab"`, `"abc"`, `"é中😀"`, `"\n\u00e9"`, `"\ud83d\ude00a"`},
		[]string{`"a"`, `"abcd"`, `""`, `"\ud83d\ude00"`}, nil},
	{`{"type":"string","minLength":1}`, []string{`"a"`, `"ab cd"`}, []string{`""`}, nil},
	{`{"type":"string","pattern":"^[A-Z]{2}\\d+$"}`, []string{`"AB1"`, `"AB12"`}, []string{`"A1"`, `"xAB1"`, `"AB"`}, []string{`"\u0041B1"`}},
	{`{"type":"string","pattern":"b+"}`, []string{`"abba"`, `"b"`, `"\"b\\"`, `"a\nb"`, `"\u0001b"`}, []string{`"a"`, `""`}, nil},
	{`{"type":"string","pattern":"^(a|é)*$","maxLength":2}`, []string{`""`, `"aé"`}, []string{`"aaa"`, `"b"`}, nil},
	{`{"type":"string","format":"date"}`, []string{`"2024-02-28"`, `"1999-12-31"`}, []string{`"2024-02-30"`, `"2023-02-29"`, `"2024-13-01"`, `"2024-1-1"`}, []string{`"2024-02-29"`}},
	{`{"type":"string","format":"date-time"}`, []string{`"2024-01-31T23:59:59Z"`, `"2024-01-31T00:00:00.123+02:00"`}, []string{`"2024-01-31"`, `"2024-01-31T24:00:00Z"`}, nil},
	{`{"type":"string","format":"time"}`, []string{`"23:59:59Z"`}, []string{`"24:00:00Z"`, `"12:00"`}, nil},
	{`{"type":"string","format":"duration"}`, []string{`"P1D"`, `"PT1H30M"`, `"P1Y2M3DT4H5M6S"`, `"P2W"`}, []string{`"P"`, `"PT"`, `"1D"`, `"P1DT"`}, nil},
	{`{"type":"string","format":"uuid"}`, []string{`"123e4567-e89b-12d3-a456-426614174000"`}, []string{`"123e4567"`}, nil},
	{`{"type":"string","format":"ipv4"}`, []string{`"127.0.0.1"`, `"255.255.255.255"`}, []string{`"256.0.0.1"`, `"1.2.3"`, `"01.2.3.4"`}, nil},
	{`{"type":"string","format":"ipv6"}`, []string{`"2001:db8:0:0:0:0:0:1"`}, []string{`"2001:db8"`}, []string{`"::1"`}},
	{`{"type":"string","format":"email"}`, []string{`"ada.b@example.org"`}, []string{`"ada"`, `"@b"`}, nil},
	{`{"type":"string","format":"hostname"}`, []string{`"example.org"`, `"a-b.c"`}, []string{`"-a"`, `"a..b"`, `""`}, nil},
	{`{"enum":["a",1,null,[1,{"x":"y"}],true,"\n\""]}`, []string{`"a"`, `1`, `null`, `[1,{"x":"y"}]`, `[1, {"x": "y"} ]`, "[\n\t1,\r\n{\"x\":\"y\"}]", `true`, `"\n\""`},
		[]string{`"b"`, `2`, `[]`, `false`}, []string{`"\u0061"`}},
	{`{"enum":["a","ab",1],"type":"string"}`, []string{`"a"`, `"ab"`}, []string{`1`, `"abc"`}, nil},
	{`{"const":{"a":[]}}`, []string{`{"a":[]}`, "{ \"a\": [ ] }"}, []string{`{}`, `{"a":[1]}`}, []string{`{"a" :[]}`}},
	{`{"anyOf":[{"type":"string","maxLength":1},{"type":"integer"}]}`, []string{`"a"`, `12`}, []string{`"ab"`, `1.5`}, nil},
	{`{"oneOf":[{"const":"a"},{"const":"b"}],"title":"x"}`, []string{`"a"`, `"b"`}, []string{`"c"`}, nil},
	{`{"allOf":[{"type":"null"}],"description":"x"}`, []string{`null`}, []string{`1`}, nil},
	{`{"type":"array"}`, []string{`[]`, `[ ]`, `[1,"a",[]]`, "[\n  1,\n  2\n]"}, []string{`[`, `[1`, `{}`}, nil},
	{`{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":3}`, []string{`[1]`, `[1,2]`, `[1, 2, 3]`}, []string{`[]`, `[1,2,3,4]`, `["a"]`}, nil},
	{`{"type":"array","items":{"type":"integer"},"minItems":2}`, []string{`[1,2]`, `[1,2,3,4,5]`}, []string{`[]`, `[1]`}, nil},
	{`{"type":"array","maxItems":0}`, []string{`[]`}, []string{`[1]`}, nil},
	{`{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"minItems":2}`, []string{`[1,"a"]`}, []string{`[1]`, `[1,"a",2]`, `["a",1]`}, nil},
	{`{"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"null"}}`, []string{`[]`, `[1]`, `[1,null,null]`}, []string{`[null]`, `[1,2]`}, nil},
	{`{"type":"object"}`, []string{`{}`, `{"a":1}`, `{ "a": {"b":[]}, "":null }`}, []string{`{`, `[]`, `{"a"}`}, []string{`{"a" :1}`, `{"a":1 ,"b":1}`, `{  }`, "{\n\n}"}},
	{`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{"type":"null"}},"required":["b"]}`,
		[]string{`{"b":"x"}`, `{"a":1,"b":"x"}`, `{"b":"x","c":null}`, "{\n  \"a\": 1,\n  \"b\": \"x\",\n  \"c\": null\n}"},
		[]string{`{}`, `{"a":1}`, `{"a":1,"c":null}`, `{"b":1}`}, []string{`{"c":null,"b":"x"}`, `{"b":"x","d":1}`}},
	{`{"properties":{"a":{}}}`, []string{`{}`, `{"a":[]}`}, []string{`{"a"}`}, []string{`1`, `{"b":1}`}},
	{`{"type":"object","properties":{"ab":{"type":"integer"},"é\n":{"type":"null"}},"required":["ab"],"additionalProperties":{"type":"boolean"}}`,
		[]string{`{"ab":1}`, `{"ab":1,"é\n":null}`, `{"ab":1,"a":true,"abc":false,"":true,"é":true,"é\nx":true,"\n":true}`},
		[]string{`{"ab":1,"x":1}`, `{"ab":1,"ab":true}`, `{"ab":true}`, `{"x":true}`, `{"ab":1,"\u0061b":true}`, `{"ab":1,"é\n":true}`}, []string{`{"x":true,"ab":1}`}},
	{`{"type":"object","additionalProperties":{"type":"integer"}}`, []string{`{}`, `{"a":1,"b":2}`}, []string{`{"a":"b"}`}, nil},
	{`{"type":"object","additionalProperties":false}`, []string{`{}`}, []string{`{"a":1}`}, nil},
	{`{"type":"object","required":["a"]}`, []string{`{"a":1}`, `{"a":1,"b":2}`}, []string{`{}`, `{"b":1}`}, nil},
	{`{"type":"object","properties":{"b":{"type":"null"}},"required":["a"]}`, []string{`{"a":1}`, `{"b":null,"a":"x"}`}, []string{`{"b":null}`}, nil},
	{`{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","properties":{"v":{"type":"integer"},"c":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["v"],"additionalProperties":false}}}`,
		[]string{`{"v":1}`, `{"v":1,"c":[{"v":2,"c":[]},{"v":3}]}`}, []string{`{"c":[]}`, `{"v":1,"c":[1]}`}, nil},
	{`{"definitions":{"a/b~c d":{"const":1}},"type":"array","items":{"$ref":"#/definitions/a~1b~0c%20d"}}`, []string{`[1,1]`}, []string{`[2]`}, nil},
	{`{"type":"array","items":{"$id":"https://example.org/a","type":"object","properties":{"$id":{"$ref":"#/$defs/b"}},"required":["$id"],"$defs":{"b":{"const":1}}},"$defs":{"b":{"const":2}}}`,
		[]string{`[{"$id":1}]`}, []string{`[{"$id":2}]`}, nil},
	{`{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"null"}]}`, []string{`null`, `[null,[[]]]`}, []string{`1`}, nil},
	{`{"$defs":{"l":{"anyOf":[{"$ref":"#/$defs/l"},{"const":"x"}]}},"$ref":"#/$defs/l"}`, []string{`"x"`}, []string{`"y"`}, nil},
}

func TestSchemas(t *testing.T) {
	v := letters()
	for _, c := range schemaCases {
		t.Run(c.source, func(t *testing.T) {
			g, s := compile(t, schema(c.source), v), validator(t, c.source)
			for _, text := range c.takes {
				if _, whole := read(g, text); !whole {
					t.Errorf("%s is not read", text)
				}
				if strings.Contains(c.source, `$defs":{"l"`) {
					continue // which the judge follows for ever
				}
				if err := valid(s, text); err != nil {
					t.Errorf("the test is wrong: %s: %v", text, err)
				}
			}
			for _, text := range append(c.refuses, c.other...) {
				if _, whole := read(g, text); whole {
					t.Errorf("%s is read", text)
				}
			}
		})
	}
}

func TestUnknownKeywordsAreRefusedByName(t *testing.T) {
	for source, want := range map[string]string{
		`{"type":"array","uniqueItems":true}`:                         `"uniqueItems"`,
		`{"properties":{"a/b":{"multipleOf":2}}}`:                     `"multipleOf" at "#/properties/a~1b"`,
		`{"type":"object","patternProperties":{}}`:                    `"patternProperties"`,
		`{"type":"object","minProperties":1}`:                         `"minProperties"`,
		`{"not":{}}`:                                                  `"not"`,
		`{"if":{}}`:                                                   `"if"`,
		`{"nullable":true,"type":"string"}`:                           `"nullable"`,
		`{"allOf":[{},{}]}`:                                           `"allOf" of more than one`,
		`{"anyOf":[{}],"properties":{}}`:                              `"properties" beside "anyOf"`,
		`{"anyOf":[{}],"oneOf":[{}]}`:                                 `"oneOf" beside "anyOf"`,
		`{"$ref":"#","minimum":1}`:                                    `"minimum" beside "$ref"`,
		`{"$ref":"https://example.org/a.json"}`:                       `https://example.org/a.json`,
		`{"$ref":"#name"}`:                                            `#name`,
		`{"type":"string","minimum":1}`:                               `"minimum"`,
		`{"type":"string","format":"uri"}`:                            `"uri"`,
		`{"type":"string","format":"date","pattern":"a"}`:             `"format" beside "pattern"`,
		`{"type":"string","pattern":"(?!a)"}`:                         `"#/pattern"`,
		`{"type":"number","minimum":1,"exclusiveMinimum":1}`:          `"exclusiveMinimum" beside "minimum"`,
		`{"type":"object","properties":{"a":{"x-order":1}}}`:          `"x-order"`,
		`{"type":"array","items":{"type":"array","contains":{}}}`:     `"contains"`,
		`{"enum":["a"],"minLength":1}`:                                `"minLength" beside "enum"`,
		`{"type":"object","properties":{"a":{"enum":[1],"const":2}}}`: `"const" beside "enum"`,
	} {
		_, err := Compile(context.Background(), schema(source), letters())
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to name %s", source, err, want)
		}
	}
}

func TestMalformedSchemas(t *testing.T) {
	for _, source := range []string{
		`1`, `null`, `[]`, `{"type":"text"}`, `{"type":[]}`, `{"type":1}`, `{"enum":[]}`, `{"enum":1}`, `{"anyOf":{}}`,
		`{"properties":[]}`, `{"properties":{"a":1}}`, `{"type":"object","required":"a"}`, `{"required":[1]}`, `{"prefixItems":{}}`,
		`{"minItems":-1}`, `{"minItems":1.5}`, `{"minLength":"1"}`, `{"pattern":1}`, `{"pattern":"("}`, `{"minimum":"1"}`,
		`{"$ref":"#/$defs/none"}`, `{"exclusiveMaximum":true}`,
	} {
		if _, err := Compile(context.Background(), schema(source), letters()); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %v, want ErrSpec", source, err)
		}
	}
	for _, source := range []string{
		`false`, `{"enum":[1],"type":"string"}`, `{"type":"array","minItems":2,"maxItems":1}`, `{"minLength":2,"maxLength":1}`,
		`{"type":"object","required":["a"],"additionalProperties":false}`, `{"minimum":2,"maximum":1}`, `{"exclusiveMinimum":1,"maximum":1}`,
		`{"type":"object","properties":{"a":false},"required":["a"]}`,
	} {
		if _, err := Compile(context.Background(), schema(source), letters()); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v, want ErrNothing", source, err)
		}
	}
}

// Escapes that ECMA-262 has and RE2 does not.
func TestPatternsOfECMA(t *testing.T) {
	g := compile(t, schema(`{"type":"string","pattern":"^\\u0041\\/$"}`), letters())
	for text, want := range map[string]bool{`"A/"`: true, `"A"`: false, `"\u0041\\/"`: false} {
		if _, whole := read(g, text); whole != want {
			t.Errorf("%s: %t", text, whole)
		}
	}
}
