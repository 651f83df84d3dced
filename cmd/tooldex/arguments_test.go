package main

import (
	"encoding/json"
	"errors"
	"testing"

	"tooldex/tool"
)

func TestArguments(t *testing.T) {
	probe := &tool.Tool{Server: "s", Name: "probe", InputSchema: json.RawMessage(`{"type": "object", "properties": {
		"text": {"type": "string"}, "count": {"type": "integer"}, "flag": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}},
		"nums": {"type": "array", "items": {"type": "number"}}, "deep": {"type": "object"}, "either": {"type": ["string", "null"]},
		"one": {"enum": ["a", "b"]}}}`)}
	tests := []struct {
		name  string
		words []string
		want  string // "" means wrong usage
	}{
		{"nothing", nil, `{}`},
		{"a string that looks like a number stays one", []string{"text=12"}, `{"text":"12"}`},
		{"a value may hold the separator", []string{"text=a=b"}, `{"text":"a=b"}`},
		{"an empty value", []string{"text="}, `{"text":""}`},
		{"numbers keep their digits", []string{"count=9007199254740993"}, `{"count":9007199254740993}`},
		{"booleans", []string{"flag=true"}, `{"flag":true}`},
		{"an object", []string{`deep={"a": [1]}`}, `{"deep":{"a":[1]}}`},
		{"text where the schema wants a number is for the tool to refuse", []string{"count=many"}, `{"count":"many"}`},
		{"one of a list", []string{"tags=x"}, `{"tags":["x"]}`},
		{"a list in several words", []string{"tags=x", "tags=7", "tags=z"}, `{"tags":["x","7","z"]}`},
		{"a list as JSON", []string{`tags=["x", "y"]`}, `{"tags":["x","y"]}`},
		{"numbers of a list", []string{"nums=1", "nums=2"}, `{"nums":[1,2]}`},
		{"one number of a list", []string{"nums=1"}, `{"nums":[1]}`},
		{"a choice of types with string is a string", []string{"either=null"}, `{"either":"null"}`},
		{"unless said otherwise", []string{"either:=null"}, `{"either":null}`},
		{"an enum of strings", []string{"one=a"}, `{"one":"a"}`},
		{"a parameter that the schema does not know", []string{"other=1", "word=x"}, `{"other":1,"word":"x"}`},
		{"no separator", []string{"text"}, ""},
		{"no key", []string{"=x"}, ""},
		{"strict JSON that is none", []string{"deep:={a"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseArguments(probe, tt.words)
			if tt.want == "" {
				var usage usageError
				if !errors.As(err, &usage) {
					t.Fatalf("%s, %v; want an error of usage", got, err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
}
