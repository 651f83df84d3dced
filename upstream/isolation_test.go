package upstream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseIsolation(t *testing.T) {
	tests := []struct {
		name, text string
		want       *Isolation
		shown, err string
	}{
		{"nothing", "nothing", &Isolation{}, "bwrap; no network", ""},
		{
			"everything", "read=/srv/a b, read=/opt/x,write=~/notes,network,memory=1.5GB",
			&Isolation{Read: []string{"/srv/a b", "/opt/x"}, Write: []string{"~/notes"}, Network: true, Memory: "1.5GB"},
			"bwrap; reads /srv/a b, /opt/x; changes ~/notes; network; at most 1.5GB a process", "",
		},
		{"an unknown word", "netwrok", nil, "", `"netwrok"`},
		{"network with a value", "network=false", nil, "", `"network=false"`},
		{"a folder that is missing", "read=", nil, "", `"read="`},
		{"no text", "", nil, "", `""`},
		{"a folder relative to where it runs", "read=docs", nil, "", `"docs"`},
		{"a parent", "write=../docs", nil, "", `"../docs"`},
		{"somebody's home", "write=~root/x", nil, "", `"~root/x"`},
		{"a zero byte", "write=/x\x00", nil, "", "zero byte"},
		{"memory in words", "memory=much", nil, "", "much"},
		{"memory in an unknown unit", "memory=5TB", nil, "", "5TB"},
		{"too little memory", "memory=5", nil, "", "16MiB"},
		{"too much memory", "memory=1e300GB", nil, "", "1e300GB"},
		{"negative memory", "memory=-512MB", nil, "", "-512MB"},
		{"memory that is no number", "memory=nanMB", nil, "", "nanMB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseIsolation(tt.text)
			if err == nil {
				err = got.Check()
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("the error is %v, without %s", err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if got.String() != tt.shown {
				t.Errorf("it is shown as %q", got)
			}
		})
	}
	if err := (&Isolation{With: "docker"}).Check(); err == nil {
		t.Error("docker isolates nothing here")
	}
}

func TestMemoryBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "16777216": 16 << 20, "512MB": 512e6, "512 MB": 512e6, "512MiB": 512 << 20, "2g": 2 << 30, "2GB": 2e9, "64m": 64 << 20,
	} {
		if got, err := (&Isolation{Memory: text}).MemoryBytes(); got != want || err != nil {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
}

func FuzzParseIsolation(f *testing.F) {
	f.Add("read=/a,write=~/b,network,memory=512MB")
	f.Fuzz(func(t *testing.T, text string) {
		i, err := ParseIsolation(text)
		if err != nil || i.Check() != nil {
			return
		}
		if n, err := i.MemoryBytes(); err != nil || n != 0 && n < leastMemory || n < 0 {
			t.Errorf("%q has %d bytes, %v", text, n, err)
		}
		for _, path := range append(append([]string{}, i.Read...), i.Write...) {
			if !strings.ContainsAny(path[:1], "/~$") {
				t.Errorf("%q names %q", text, path)
			}
		}
	})
}
