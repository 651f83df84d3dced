// Command compile-knowledge compiles the texts under knowledge/data with the built-in embedding model into the bytes
// that the service carries.
//
//	bin/tools/compile-knowledge -data knowledge/data -out knowledge/base.bin
//
// Run it after the texts or the model's table change; a test of this command fails until then.
package main
