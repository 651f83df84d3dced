package config

import "os"

func get() string { return os.Getenv("HOME") }
