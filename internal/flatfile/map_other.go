//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package flatfile

import (
	"errors"
	"os"
)

// canMap is false where a mapped file could not be replaced.
const canMap = false

func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func mapPart(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}
