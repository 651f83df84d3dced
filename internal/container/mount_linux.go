package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// do runs a command line of the shell in the root of a stage, and does not return when it starts.
func (s step) do() error {
	if s.Host {
		if err := s.lendMachine(); err != nil {
			return err
		}
	}
	if err := syscall.Chroot(s.Root); err != nil {
		return err
	}
	if err := os.Chdir(s.Dir); err != nil {
		return err
	}
	out := os.Stderr.Fd() // what it says is told if it fails
	if err := unix.Dup2(int(out), 1); err != nil {
		return err
	}
	return syscall.Exec("/bin/sh", []string{"sh", "-c", s.Command}, s.Env)
}

// lendMachine shows the programs of this machine in the root of a stage, where they cannot be changed, and the modules
// that it has.
func (s step) lendMachine() error {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"} {
		info, err := os.Lstat(dir)
		if err != nil {
			continue // not every machine has each
		}
		if info.Mode()&os.ModeSymlink != 0 {
			target, err := os.Readlink(dir)
			if err != nil {
				return err
			}
			if err := os.Symlink(target, filepath.Join(s.Root, dir)); err != nil && !os.IsExist(err) {
				return err
			}
			continue
		}
		if err := bind(dir, filepath.Join(s.Root, dir), true); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/dev", "/proc"} {
		if err := bind(dir, filepath.Join(s.Root, dir), false); err != nil {
			return err
		}
	}
	if err := bind(s.GoRoot, filepath.Join(s.Root, s.GoRoot), true); err != nil { // they may lie anywhere
		return err
	}
	if err := bind(s.Modules, filepath.Join(s.Root, s.Modules), false); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(s.Root, "tmp"), 0o777)
}

// bind shows a folder in another place, too.
func bind(from, to string, readOnly bool) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount(from, to, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s in %s: %w", from, to, err)
	}
	if readOnly {
		return lock(to)
	}
	return nil
}

// lock makes what is mounted at dir unchangeable. What it forbids already, it must go on forbidding.
func lock(dir string) error {
	var is unix.Statfs_t
	if err := unix.Statfs(dir, &is); err != nil {
		return err
	}
	flags := uintptr(syscall.MS_REMOUNT | syscall.MS_BIND | syscall.MS_RDONLY)
	for seen, flag := range map[int64]uintptr{
		unix.ST_NOSUID: syscall.MS_NOSUID, unix.ST_NODEV: syscall.MS_NODEV, unix.ST_NOEXEC: syscall.MS_NOEXEC,
		unix.ST_NOATIME: syscall.MS_NOATIME, unix.ST_NODIRATIME: syscall.MS_NODIRATIME,
		unix.ST_RELATIME: syscall.MS_RELATIME,
	} {
		if is.Flags&seen != 0 {
			flags |= flag
		}
	}
	if err := syscall.Mount("", dir, "", flags, ""); err != nil {
		return fmt.Errorf("keep %s from being changed: %w", dir, err)
	}
	return nil
}

// loopbackUp lets processes here reach each other, and nobody else.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req)
}
