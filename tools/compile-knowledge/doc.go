// Command compile-knowledge compiles the texts under knowledge/data with the built-in embedding model into the bytes
// that the service carries.
//
//	bin/tools/compile-knowledge -data knowledge/data -out knowledge/base.bin
//
// It must run again whenever the texts or the model's table change; a test of this command tells when.
package main
