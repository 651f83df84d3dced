package script

import (
	"math/big"
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// forbidden returns the first use of what the guards cannot bound at run time: literals of BigInt, whose powers have
// no end, and arguments, a list with a length of its own.
func forbidden(tree *ast.Program) (line int, name string) {
	var at file.Idx
	seen := map[uintptr]bool{}
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		if name != "" {
			return
		}
		switch v.Kind() {
		case reflect.Interface:
			visit(v.Elem())
		case reflect.Pointer:
			if v.IsNil() || seen[v.Pointer()] {
				return
			}
			seen[v.Pointer()] = true
			switch n := v.Interface().(type) {
			case *ast.NumberLiteral:
				if _, big := n.Value.(*big.Int); big {
					at, name = n.Idx, "BigInt"
				}
				return
			case *ast.Identifier:
				if n.Name == "arguments" {
					at, name = n.Idx, "arguments"
				}
				return
			case *file.File:
				return
			}
			visit(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					visit(v.Field(i))
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i))
			}
		}
	}
	visit(reflect.ValueOf(tree.Body))
	if name != "" {
		line = tree.File.Position(int(at) - tree.File.Base()).Line
	}
	return line, name
}
