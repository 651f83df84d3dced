package main

import (
	"path/filepath"
	"runtime"

	"tooldex/tool"
)

// defaultDataDir is where the platform keeps a program's data.
func defaultDataDir(getenv func(string) string) (string, error) {
	dir := platformDir(getenv, "LocalAppData", "XDG_DATA_HOME", ".local", "share")
	if dir == "" {
		return "", &tool.Error{
			Code: tool.Invalid, Op: "find data directory", Msg: "no home directory is set",
			Hint: "give --data-dir or set TOOLDEX_DATA_DIR",
		}
	}
	return dir, nil
}

// configDir is where the platform keeps a program's configuration.
func configDir(getenv func(string) string) (string, error) {
	dir := platformDir(getenv, "AppData", "XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return "", &tool.Error{
			Code: tool.Invalid, Op: "find configuration", Msg: "no home directory is set",
			Hint: "give --config or set " + configVariable,
		}
	}
	return dir, nil
}

// platformDir is this program's folder where Windows' variable tells, or that of the XDG base directories, or else
// under the person's own directory; "" if the environment does not tell. macOS keeps data and configuration in one
// place.
func platformDir(getenv func(string) string, windows, xdg string, underHome ...string) string {
	base, home := "", homeDir(getenv)
	switch runtime.GOOS {
	case "windows":
		base = getenv(windows)
	case "darwin":
		if home != "" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	default:
		if base = getenv(xdg); !filepath.IsAbs(base) { // such a one is to be passed over, the standard says
			base = ""
		}
		if base == "" && home != "" {
			base = filepath.Join(append([]string{home}, underHome...)...)
		}
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "tooldex")
}

// homeDir is the person's own directory, "" if the environment does not tell it.
func homeDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}
