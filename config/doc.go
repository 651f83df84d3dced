// Package config reads everything that people can configure: defaults, the configuration file, the environment and
// flags, each overriding the one before.
//
// Load reads all four once, checks every value, and keeps where each came from. What it returns is a Loader; its Config
// is a plain struct that the program hands down, in parts, to the packages that need them. No other package reads the
// environment. Reload reads the file again as a whole: a file with a mistake changes nothing.
//
// A Loader is safe for concurrent use, and its Config is never changed: a Reload stores another one. Code that needs
// the current values asks the Loader again; code that keeps a Config has a consistent snapshot. Settings lists all
// settings with their keys, variables and flags: the schema, the layers and "config show" are derived from it. A new
// setting needs an entry there and a field in Config.
//
// Mistakes in flags and variables are of type UsageError; mistakes in a file are *tool.Error of code Invalid and name
// the file and the line.
//
// settings.go has the table of settings, config.go the struct that they fill. load.go applies the layers; file.go reads
// the file and check.go compares it with the schema of schema.go. profiles.go reads profiles, paths.go knows the
// folders of each platform, and reload.go finds out what a changed file changes.
package config
