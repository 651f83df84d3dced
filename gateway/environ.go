package gateway

import (
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"tooldex/internal/redact"
)

// inheritedVariables lists the variables that a child process gets from ours without being asked to: what it takes to
// find and run a program.
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

// isInherited reports whether a child process gets a variable of ours beside inheritedVariables: what programs need to
// reach the network, and the registries of npm, nvm and uv.
func isInherited(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"NPM_CONFIG_", "NVM_", "UV_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"}, name)
}

// InheritedNames returns those names of variables, sorted, that servers get from our environment beside what it takes
// to find and run a program.
func InheritedNames(names []string) []string {
	return slices.DeleteFunc(slices.Sorted(slices.Values(names)), func(name string) bool { return !isInherited(name) })
}

// childEnvironment returns the environment of a child process as NAME=value, in a fixed order: the inherited variables
// that are set, then the configured ones. A configured variable replaces an inherited one. Passwords in inherited
// variables are added to the redactor of x. An isolated process inherits no more than isolatedVariables.
func childEnvironment(x *expandedServer, o Options) []string {
	names, configured, scrub := inheritedVariables(), x.env, x.redact
	switch {
	case x.isolated:
		names = isolatedVariables()
	case o.EnvNames != nil:
		names = append(names, InheritedNames(o.EnvNames())...)
	}
	var env, secrets []string
	for _, name := range names {
		if _, own := configured[name]; own {
			continue
		}
		v, ok := o.LookupEnv(name)
		if !ok {
			continue
		}
		env = append(env, name+"="+v)
		if u, err := url.Parse(v); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				secrets = append(secrets, v, password)
			}
		} else if isInherited(name) && redact.Name(name) {
			secrets = append(secrets, v)
		}
	}
	scrub.addSecrets(secrets...)
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		env = append(env, name+"="+configured[name])
	}
	return env
}
