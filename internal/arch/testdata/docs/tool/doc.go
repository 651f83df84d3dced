// Package tool is here. It has the wrong sentence.
package tool
