// Package config reads everything that people can configure: defaults, the configuration file, the environment and
// flags, each overriding the one before.
//
// Load reads all four once, checks every value, and keeps where each came from. What it returns is a Loader; its Config
// is a plain struct that the program hands down, in parts, to the packages that need them. No other package reads the
// environment. Reload reads the file again as a whole: a file with a mistake changes nothing.
//
// Mistakes in flags and variables are of type UsageError; mistakes in a file are *tool.Error of code Invalid and name
// the file and the line.
package config
