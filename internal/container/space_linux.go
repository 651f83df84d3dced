package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// space is the kind of namespaces that this process may make.
type space int

const (
	none  space = iota // neither root nor user namespaces
	alone              // user namespaces, in which there is one user: the one who runs this
	root               // all, and any user
)

func (s space) String() string {
	return map[space]string{none: "no namespaces", alone: "user namespaces", root: "namespaces of root"}[s]
}

// nobody is a user that no machine has.
const nobody = 65532

// insideVerb is the first argument of this program when it starts itself in new namespaces.
const insideVerb = "-inside"

// available finds out what may be made by making it.
func available(ctx context.Context) space {
	for _, s := range []space{root, alone} {
		if s.inside(ctx, "nothing", false, s) == nil {
			return s
		}
	}
	return none
}

// enter starts a process that may mount, and reaches nothing but itself.
func (s space) enter() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if s == alone {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return a
}

// become starts a process within dir as another user, the first of its own.
func (s space) become(dir string, who owner) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Chroot: dir, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		Pdeathsig: syscall.SIGKILL,
	}
	if s == root {
		a.Credential = &syscall.Credential{Uid: uint32(who.uid), Gid: uint32(who.gid)}
		return a
	}
	a.Cloneflags |= syscall.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: who.uid, HostID: 0, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: who.gid, HostID: 0, Size: 1}}
	return a
}

// inside starts this program again in new namespaces to do one thing. With net, it shares this machine's network.
func (s space) inside(ctx context.Context, verb string, net bool, what any) error {
	b, err := json.Marshal(what)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", insideVerb, verb)
	cmd.SysProcAttr = s.enter()
	if net {
		cmd.SysProcAttr.Cloneflags &^= syscall.CLONE_NEWNET
	}
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(b), os.Stdout, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// insideMain does what a process was started for by inside. It is the first that runs there.
func insideMain(verb string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to itself: %w", err)
	}
	in := json.NewDecoder(os.Stdin)
	switch verb {
	case "nothing":
		var s space
		if err := in.Decode(&s); err != nil || s == alone {
			return err
		}
		return syscall.Setuid(nobody) // where there are no other users, root is not enough
	case "step":
		var s step
		if err := in.Decode(&s); err != nil {
			return err
		}
		return s.do()
	case "trial":
		var t trial
		if err := in.Decode(&t); err != nil {
			return err
		}
		return t.do()
	}
	return fmt.Errorf("nothing is called %q", verb)
}
