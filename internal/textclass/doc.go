// Package textclass tells by its words whether a sentence is like the ones of two kinds that a model was trained on.
package textclass
