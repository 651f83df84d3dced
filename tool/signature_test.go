package tool

import (
	"encoding/json"
	"testing"
)

// Signatures show what small objects hold, and follow references.
func TestSignatureOfNestedSchemas(t *testing.T) {
	for _, tt := range []struct{ name, properties, want string }{
		{
			"objects in a list", `"entities":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},
			"entityType":{"type":"string"},"observations":{"type":"array","items":{"type":"string"}}},
			"required":["name","entityType","observations"]}}`,
			"t(entities?: {name: string, entityType: string, observations: string[]}[])",
		},
		{"an optional member", `"o":{"type":"object","properties":{"a":{"type":"integer"}}}`, "t(o?: {a?: integer})"},
		{"an object without members", `"o":{"type":"object"}`, "t(o?: object)"},
		{
			"a reference with siblings", `"c":{"$ref":"#/$defs/Colour","description":"of the wall","default":"red"}`,
			`t(c?: "red"|"blue")`,
		},
		{"a reference by allOf", `"c":{"allOf":[{"$ref":"#/$defs/Colour"}],"title":"C"}`, `t(c?: "red"|"blue")`},
		{"a list of references", `"cs":{"type":"array","items":{"$ref":"#/$defs/Colour"}}`, `t(cs?: ("red"|"blue")[])`},
		{"another name of a definition", `"c":{"$ref":"#/$defs/Paint"}`, `t(c?: "red"|"blue")`},
		{"a reference to nothing", `"c":{"$ref":"#/$defs/Nothing"}`, "t(c?: any)"},
		{
			"a definition that holds itself", `"n":{"$ref":"#/$defs/Node"}`,
			"t(n?: {value: string, next?: {value: string, next?: {value: string, next?: object}}})",
		},
		{"a definition that is itself", `"n":{"$ref":"#/$defs/Loop"}`, "t(n?: any)"},
		{
			"an object that is too large", `"o":{"type":"object","properties":{
			"a_rather_long_name_of_a_member_1":{"type":"string"},"a_rather_long_name_of_a_member_2":{"type":"string"},
			"a_rather_long_name_of_a_member_3":{"type":"string"},"a_rather_long_name_of_a_member_4":{"type":"string"},
			"a_rather_long_name_of_a_member_5":{"type":"string"}}}`,
			"t(o?: object)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema := `{"type":"object","properties":{` + tt.properties + `},"$defs":{"Colour":{"enum":["red","blue"]},` +
				`"Paint":{"$ref":"#/$defs/Colour"},"Loop":{"$ref":"#/$defs/Loop"},"Node":{"type":"object","properties":{` +
				`"value":{"type":"string"},"next":{"$ref":"#/$defs/Node"}},"required":["value"]}}}`
			one := &Tool{Name: "t", InputSchema: json.RawMessage(schema)}
			if got := one.Signature(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
