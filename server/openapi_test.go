package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// described is the description of all routes; strict, answers have nothing beside it.
func described(strict bool) object {
	s := newSchemas(strict)
	s.of(reflect.TypeFor[errorBody](), false)
	paths := map[string]object{}
	for admin, list := range map[bool][]route{false: routes, true: adminRoutes} {
		for _, r := range list {
			op, known := operations[r.method+" "+r.path]
			if !known {
				continue
			}
			path := openAPIPath(r)
			if paths[path] == nil {
				paths[path] = object{}
			}
			paths[path][strings.ToLower(r.method)] = s.operation(r, op, admin)
		}
	}
	bearer := func(about string) object { return object{"type": "http", "scheme": "bearer", "description": about} }
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "cbactor", "version": "1", "description": "Text from language models, and what their trainers need. " +
			"Keys that a body has beside those that are described are ignored; null is as if a key were not there. A wrong value is refused by the name of its parameter."},
		"paths": paths,
		"components": object{
			"schemas":         s.made,
			"securitySchemes": object{"key": bearer("Where the server has an API key."), "token": bearer("The administrators': without one their routes answer programs of the same machine alone.")},
			"parameters": object{"RequestID": object{"name": "X-Request-Id", "in": "header", "description": "By which the log has the request, and engines its sequences: no other open one may have it.",
				"schema": object{"type": "string", "pattern": "^[-_.:A-Za-z0-9]*$", "maxLength": maxName}}},
			"responses": object{"Error": object{"description": "The request is refused, or has failed.",
				"headers": object{"Retry-After": object{"description": "With 429 and 503: in how many seconds to try again.", "schema": object{"type": "string"}}},
				"content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/ErrorBody"}}}}},
		},
	}
}

// openAPIPath is the path of a route as OpenAPI has it.
func openAPIPath(r route) string { return strings.ReplaceAll(r.path, "...}", "}") }

// operation describes a route.
func (s *schemas) operation(r route, op operation, admin bool) object {
	answers := object{}
	for _, class := range []string{"4XX", "5XX"} {
		answers[class] = object{"$ref": "#/components/responses/Error"}
		if op.fails != nil {
			answers[class] = s.answer(either{op.fails, errorBody{}}, nil)
		}
	}
	if op.page != "" {
		answers["200"] = object{"description": "As asked.", "content": object{op.page: object{"schema": object{"type": "string"}}}}
	}
	if op.gives != nil {
		answers["200"] = s.answer(op.gives, op.events)
	}
	for status, gives := range op.also {
		answers[strconv.Itoa(status)] = s.answer(gives, nil)
	}
	made := object{"operationId": operationID(r), "summary": exported(r.about), "tags": []string{"clients"}, "parameters": s.parameters(r, op.query), "responses": answers,
		"security": []object{{}, {"key": []string{}}, {"token": []string{}}}}
	switch {
	case admin:
		made["tags"], made["security"] = []string{"administrators"}, []object{{}, {"token": []string{}}}
	case open[r.path]:
		made["security"] = []object{}
	}
	if op.takes != nil {
		made["requestBody"] = object{"required": !op.loose, "content": object{"application/json": object{"schema": s.of(reflect.TypeOf(op.takes), true)}}}
	}
	for kind, schema := range op.sends {
		made["requestBody"] = object{"required": true, "content": object{kind: object{"schema": schema}}}
	}
	return made
}

// operationID is a name of a route's own.
func operationID(r route) string {
	words := strings.FieldsFunc(r.path, func(c rune) bool { return strings.ContainsRune("/{}._", c) })
	return strings.ToLower(r.method) + "-" + strings.Join(words, "-")
}

// answer describes an answer of JSON, and of events where it may be streamed.
func (s *schemas) answer(gives any, events either) object {
	content := object{}
	if gives != nil {
		content["application/json"] = object{"schema": s.like(gives, false)}
	}
	headers := object{"X-Request-Id": object{"description": "That of the request, or a random one.", "schema": object{"type": "string"}}}
	if events != nil {
		content["text/event-stream"] = object{"schema": object{"type": "object", "required": []string{"data"}, "description": "Each of the events; data may be [DONE] instead, at last.", "properties": object{
			"event": object{"type": "string"}, "data": object{"type": "string", "contentMediaType": "application/json", "contentSchema": s.like(events, false)}}}}
		headers[versionHeader] = object{"description": "The version of the weights that serve when the answer begins.", "schema": object{"type": "string"}}
	}
	return object{"description": "As asked.", "content": content, "headers": headers}
}

// parameters describes what stands in a route's path, address and header.
func (s *schemas) parameters(r route, query any) []object {
	list := []object{{"$ref": "#/components/parameters/RequestID"}}
	for part := range strings.SplitSeq(r.path, "{") {
		if name, _, found := strings.Cut(part, "}"); found {
			list = append(list, object{"name": strings.TrimSuffix(name, "..."), "in": "path", "required": true, "schema": object{"type": "string", "minLength": 1}})
		}
	}
	if query == nil {
		return list
	}
	t := reflect.TypeOf(query)
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("json")
		if f.Type.Kind() == reflect.Map {
			continue // is no text
		}
		list = append(list, object{"name": name, "in": "query", "schema": s.field(t, f, name, true)})
	}
	return list
}

// The file is what the code says.
func TestOpenAPIIsCurrent(t *testing.T) {
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "\t")
	if err := encoder.Encode(described(false)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(openAPI, want.Bytes()) {
		t.Error("openapi.json is not what the routes and their structs say: go test ./server -run OpenAPI -update")
	}
	there := map[string]bool{}
	for _, r := range slices.Concat(routes, adminRoutes) {
		at := r.method + " " + r.path
		if _, known := operations[at]; !known {
			t.Errorf("%s is not among the operations: add it", at)
		}
		there[at] = true
	}
	for at := range operations {
		if !there[at] {
			t.Errorf("%s is described and there is no such route", at)
		}
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	var got struct{ OpenAPI string }
	if r.get("/openapi.json", &got); got.OpenAPI != "3.1.0" {
		t.Errorf("%+v", got)
	}
}
