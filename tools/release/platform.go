package main

import (
	"fmt"
	"runtime"
	"strings"
)

// platform is what a program runs on.
type platform struct{ os, arch string }

// platforms lists all that tooldex is published for.
func platforms() []platform {
	return []platform{
		{"linux", "amd64"},
		{"linux", "arm64"},
		{"darwin", "amd64"},
		{"darwin", "arm64"},
		{"windows", "amd64"},
		{"windows", "arm64"},
	}
}

// host is what this program runs on.
func host() platform { return platform{runtime.GOOS, runtime.GOARCH} }

// parsePlatform reads OS/ARCH, as container engines write it. What is left out is that of the host.
func parsePlatform(s string) (platform, error) {
	p := host()
	if s == "" || s == "/" {
		return p, nil
	}
	os, arch, ok := strings.Cut(s, "/")
	if !ok || strings.Contains(arch, "/") {
		return platform{}, fmt.Errorf("platform %q: want OS/ARCH, for example linux/arm64", s)
	}
	if os != "" {
		p.os = os
	}
	if arch != "" {
		p.arch = arch
	}
	return p, nil
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the name of the file that is run.
func (p platform) program() string {
	if p.os == "windows" {
		return "tooldex.exe"
	}
	return "tooldex"
}
