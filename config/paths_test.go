package config

import (
	"runtime"
	"testing"
)

func TestDirectories(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the XDG directories are those of other systems")
	}
	for name, tt := range map[string]struct {
		env          map[string]string
		data, config string // "" where there is none
	}{
		"home alone": {map[string]string{"HOME": "/h"}, "/h/.local/share/tooldex", "/h/.config/tooldex"},
		"elsewhere": {
			map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"},
			"/d/tooldex",
			"/c/tooldex",
		},
		"without one": {map[string]string{"XDG_DATA_HOME": "/d"}, "/d/tooldex", ""},
		"relative": {
			map[string]string{"HOME": "/h", "XDG_DATA_HOME": "d", "XDG_CONFIG_HOME": "../c"},
			"/h/.local/share/tooldex", "/h/.config/tooldex",
		},
		"nothing": {nil, "", ""},
	} {
		getenv := func(key string) string { return tt.env[key] }
		if data := DefaultDataDir(getenv); data != tt.data {
			t.Errorf("%s: data in %q", name, data)
		}
		want := ""
		if tt.config != "" {
			want = tt.config + "/tooldex.yaml"
		}
		if path := DefaultPath(getenv); path != want {
			t.Errorf("%s: configuration in %q", name, path)
		}
	}
}
