//go:build !linux || !amd64

package faultfs

import (
	"errors"
	"os/exec"
)

// Supported returns why commands cannot be traced here; nil means that they can.
func Supported() error { return errors.New("commands are traced on Linux for amd64 only") }

// Run is not possible here.
func Run(*exec.Cmd, Plan) (*Outcome, error) { return nil, Supported() }
