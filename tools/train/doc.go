// Command train makes the embedding table that is compiled into tooldex, and measures it.
//
//	bin/tools/train -data ../shared/data -knowledge knowledge/data -out embed/table.bin -seed 1
//	bin/tools/train -data ../shared/data -knowledge knowledge/data -out embed/table.bin -eval
//	bin/tools/train -data ../shared/data -examples scan/examples -scanner scan/weights.bin
//
// The first trains and then evaluates what it wrote; with -eval it only does the latter. With -hold-out both leave the
// archetypes of every twelfth server out of training and measure on them: that is how a recipe is judged. The data
// folder is not part of the repository; docs/model-card.md says what is in it and under which licences.
//
// The third trains the weights with which the scanner recognises sentences of hostile tools, and prints what they find
// among held-out sentences.
package main
