package main

import (
	"path/filepath"
	"runtime"

	"tooldex/tool"
)

// defaultDataDir is where the platform keeps a program's data.
func defaultDataDir(getenv func(string) string) (string, error) {
	base, home := "", homeDir(getenv)
	switch runtime.GOOS {
	case "windows":
		base = getenv("LocalAppData")
	case "darwin":
		if home != "" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	default:
		base = getenv("XDG_DATA_HOME")
		if base == "" && home != "" {
			base = filepath.Join(home, ".local", "share")
		}
	}
	if base == "" {
		return "", &tool.Error{Code: tool.Invalid, Op: "find data directory", Msg: "no home directory is set", Hint: "give --data-dir or set TOOLDEX_DATA_DIR"}
	}
	return filepath.Join(base, "tooldex"), nil
}

// configDir is where the platform keeps a program's configuration.
func configDir(getenv func(string) string) (string, error) {
	base, home := "", homeDir(getenv)
	switch runtime.GOOS {
	case "windows":
		base = getenv("AppData")
	case "darwin":
		if home != "" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	default:
		base = getenv("XDG_CONFIG_HOME")
		if base == "" && home != "" {
			base = filepath.Join(home, ".config")
		}
	}
	if base == "" {
		return "", &tool.Error{Code: tool.Invalid, Op: "find configuration", Msg: "no home directory is set", Hint: "give --config or set " + configVariable}
	}
	return filepath.Join(base, "tooldex"), nil
}

// homeDir is the person's own directory, "" if the environment does not tell it.
func homeDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}
