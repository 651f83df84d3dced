package gateway

import (
	"maps"
	"runtime"
	"slices"
)

// inheritedVariables lists the variables that a child process gets from ours without being asked to: what it takes to
// find and run a program, and nothing that commonly holds a secret. Proxy settings are left out because they may carry
// a password; a configuration that needs them says "HTTPS_PROXY": "${HTTPS_PROXY}".
func inheritedVariables() []string {
	if runtime.GOOS == "windows" {
		return []string{
			"PATH", "PATHEXT", "COMSPEC", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "APPDATA",
			"LOCALAPPDATA",
			"PROGRAMFILES", "PROGRAMDATA", "HOMEDRIVE", "HOMEPATH", "USERPROFILE", "USERNAME", "PROCESSOR_ARCHITECTURE",
		}
	}
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	}
}

// childEnvironment returns the environment of a child process as NAME=value, in a fixed order: the inherited variables
// that are set, then the configured ones. A configured variable replaces an inherited one.
func childEnvironment(configured map[string]string, lookup func(string) (string, bool)) []string {
	var env []string
	for _, name := range inheritedVariables() {
		if _, own := configured[name]; own {
			continue
		}
		if v, ok := lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		env = append(env, name+"="+configured[name])
	}
	return env
}
