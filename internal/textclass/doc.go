// Package textclass decides by the words of a sentence which of two kinds it resembles, those of the sentences that a
// model was trained on. [Train] makes a model, [Open] loads it, and [Model.Score] applies it.
package textclass
