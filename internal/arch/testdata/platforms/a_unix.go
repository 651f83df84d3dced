//go:build unix

package platforms

const onlyUnix = 1
