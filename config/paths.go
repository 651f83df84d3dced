package config

import (
	"path/filepath"
	"runtime"
)

// DefaultDataDir returns where the platform keeps a program's data, "" if the environment names no home directory.
func DefaultDataDir(getenv func(string) string) string {
	return platformDir(getenv, "LocalAppData", "XDG_DATA_HOME", ".local", "share")
}

// DefaultPath returns where the platform keeps the configuration file, "" if the environment names no home directory.
func DefaultPath(getenv func(string) string) string {
	dir := platformDir(getenv, "AppData", "XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "tooldex.yaml")
}

// platformDir returns the folder of this program: on Windows below the folder that a variable names, on macOS below
// Application Support, elsewhere below the folder of the XDG base directory specification. It returns "" if the
// environment names none. A relative XDG folder is ignored, as that specification demands.
func platformDir(getenv func(string) string, windows, xdg string, belowHome ...string) string {
	base, home := "", HomeDir(getenv)
	switch runtime.GOOS {
	case "windows":
		base = getenv(windows)
	case "darwin":
		if home != "" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	default:
		if base = getenv(xdg); !filepath.IsAbs(base) {
			base = ""
		}
		if base == "" && home != "" {
			base = filepath.Join(append([]string{home}, belowHome...)...)
		}
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "tooldex")
}

// HomeDir returns the user's home directory, "" if the environment does not name it.
func HomeDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

// TokensFile returns the path of the file of tokens: the configured one, or tokens.yaml in the data directory; "" if
// there is no data directory.
func (c *Config) TokensFile() string {
	if c.Serve.TokensFile != "" || c.DataDir == "" {
		return c.Serve.TokensFile
	}
	return filepath.Join(c.DataDir, "tokens.yaml")
}
