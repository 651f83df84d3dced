package faultfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// Supported returns why commands cannot be traced on this machine, and nil if they can.
func Supported() error {
	_, err := Run(&exec.Cmd{Path: "/bin/true", Args: []string{"true"}}, Plan{Dir: "/nowhere"})
	return err
}

// Run runs a command to its end under a plan. Of cmd it uses the path, arguments, environment and folder; the output is
// in the Outcome. The error means that the command could not be run or traced, whatever its exit code.
func Run(cmd *exec.Cmd, p Plan) (*Outcome, error) {
	type answer struct {
		out *Outcome
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		// Only the thread that starts a traced process may trace it. It stays locked, and ends with the goroutine.
		runtime.LockOSThread()
		out, err := run(cmd, p)
		answers <- answer{out, err}
	}()
	a := <-answers
	return a.out, a.err
}

// run starts the command under ptrace with pipes for its output, follows it to its end, and applies the loss of power
// afterwards.
func run(cmd *exec.Cmd, p Plan) (*Outcome, error) {
	var power *disk
	if p.Fault == Power || p.Fault == PowerPart {
		var err error
		if power, err = newDisk(p); err != nil {
			return nil, err
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer func() { _ = null.Close() }()
	var read sync.WaitGroup
	var stdout, stderr bytes.Buffer
	outEnd, err := drain(&read, &stdout)
	if err != nil {
		return nil, err
	}
	errEnd, err := drain(&read, &stderr)
	if err != nil {
		return nil, errors.Join(err, outEnd.Close())
	}
	pid, err := syscall.ForkExec(cmd.Path, cmd.Args, &syscall.ProcAttr{
		Dir: cmd.Dir, Env: cmd.Environ(), Files: []uintptr{null.Fd(), outEnd.Fd(), errEnd.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err = errors.Join(err, outEnd.Close(), errEnd.Close()); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	t := &tracer{plan: p, leader: pid, threads: map[int]*thread{}, power: power}
	err = t.follow()
	read.Wait()
	if power != nil {
		err = errors.Join(err, t.powerErr, power.losePower())
	}
	t.out.Stdout, t.out.Stderr = stdout.Bytes(), stderr.Bytes()
	return &t.out, err
}

// drain returns the writing end of a pipe, whose content is read into a buffer until all writers have closed it.
func drain(read *sync.WaitGroup, into *bytes.Buffer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	read.Go(func() {
		_, _ = io.Copy(into, r) // it ends when all writers have
		_ = r.Close()
	})
	return w, nil
}

// Bits of ptrace and wait4 that package syscall does not name.
const (
	traceGood   = 0x1      // stops at the end of system calls have a signal of their own, sysTrap
	traceFork   = 0x2      // new processes are traced, too, since they have the filter; their operations do not count
	traceVfork  = 0x4      // the same for those that share its memory at first
	traceClone  = 0x8      // new threads are traced, too
	traceFilter = 0x80     // the filter stops at operations
	traceKill   = 0x100000 // the command is killed when the tracer ends
	stopFilter  = 7        // the cause of such a stop
	noThread    = 1 << 29  // wait4: not for what another thread of this process has started
	sysTrap     = syscall.SIGTRAP | 0x80
)

// tracer follows one command. All of its methods run on the thread that started the command.
type tracer struct {
	plan    Plan
	leader  int
	threads map[int]*thread
	full    bool // a write was cut short: from now on the disk is full
	out     Outcome

	power    *disk // nil unless power is to be lost
	powerErr error // the first one of it
}

// thread is one traced thread.
type thread struct {
	other   bool // of a process that the command has started
	calling bool // in a system call at whose end it is to stop
	result  syscall.Errno
	spoil   bool   // the result of the call is to be replaced by that error
	kill    bool   // the command is to be killed at the end of the call
	syncs   string // the file that the call syncs, "" if it syncs none
}

// follow resumes the command and handles its stops, until all of its threads have ended. It kills the processes that
// the command leaves behind: they could not go on without a tracer.
func (t *tracer) follow() error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.leader, &status, syscall.WALL, nil); err != nil {
		return fmt.Errorf("wait for its start: %w", err)
	}
	if err := syscall.PtraceSetOptions(t.leader, traceGood|traceFork|traceVfork|traceClone|traceFilter|
		traceKill); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if err := filterCalls(t.leader); err != nil {
		return fmt.Errorf("filter its system calls: %w", err)
	}
	t.threads[t.leader] = &thread{}
	at, signal, ended := t.leader, 0, false
	for {
		resume := syscall.PtraceCont
		if t.threads[at].calling {
			resume = syscall.PtraceSyscall
		}
		// ESRCH: it may have been killed.
		if err := resume(at, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("go on: %w", err)
		}
		for {
			pid, err := syscall.Wait4(-1, &status, syscall.WALL|noThread, nil)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if errors.Is(err, syscall.ECHILD) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("wait: %w", err)
			}
			if status.Stopped() {
				if ended { // it was made when the command ended
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				at = pid
				break
			}
			delete(t.threads, pid)
			if pid == t.leader {
				ended = true
				t.out.Killed, t.out.Code = status.Signaled(), status.ExitStatus()
				for left := range t.threads {
					_ = syscall.Kill(left, syscall.SIGKILL)
				}
			}
		}
		signal = t.stopped(at, status)
	}
}

// stopped handles one stop of a thread, and returns the signal to resume it with.
func (t *tracer) stopped(pid int, status syscall.WaitStatus) int {
	th := t.threads[pid]
	switch sig := status.StopSignal(); {
	case th == nil: // its first stop, which nobody sent
		t.threads[pid] = &thread{other: !t.ours(pid)}
		return 0
	case sig == sysTrap:
		t.end(pid, th)
		return 0
	case status.TrapCause() == stopFilter && !th.other:
		var regs syscall.PtraceRegs
		if syscall.PtraceGetRegs(pid, &regs) == nil { // it fails if the thread was killed meanwhile
			t.begin(pid, th, &regs)
			th.calling = th.spoil || th.kill || th.syncs != ""
		}
		return 0
	case status.TrapCause() > 0 || sig == syscall.SIGTRAP:
		return 0
	default:
		return int(sig)
	}
}

// ours reports whether a thread is one of the command, and not of a process that it has started.
func (t *tracer) ours(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", t.leader, pid))
	return err == nil
}

// end handles the end of a system call.
func (t *tracer) end(pid int, th *thread) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(pid, &regs) != nil { // killed meanwhile
		return
	}
	th.calling = false
	if th.syncs != "" && regs.Rax == 0 && t.powerErr == nil {
		t.powerErr = t.power.sync(th.syncs)
	}
	th.syncs = ""
	if th.spoil {
		th.spoil = false
		regs.Rax = -uint64(th.result)
		_ = syscall.PtraceSetRegs(pid, &regs) // it fails only if the thread is gone
	}
	if th.kill {
		_ = syscall.Kill(t.leader, syscall.SIGKILL)
	}
}

// begin counts a call if it is an operation in the folder of the plan, and spoils it if it is the one.
func (t *tracer) begin(pid int, th *thread, regs *syscall.PtraceRegs) {
	op, ok := operations[regs.Orig_rax]
	if !ok {
		return
	}
	name, ok := inside(t.plan.Dir, op.path(pid, regs))
	if !ok {
		return
	}
	// after a short write the disk stays full for the rest of the run
	if t.full && op.fills {
		t.refuse(pid, th, regs, syscall.ENOSPC)
		return
	}
	if op.name == "sync" && t.power != nil {
		th.syncs = filepath.Join(t.plan.Dir, name)
	}
	t.out.Ops = append(t.out.Ops, op.name+" "+name)
	if len(t.out.Ops) != t.plan.N {
		return
	}
	t.out.Hit = true
	errno := t.plan.Errno
	if errno == 0 {
		errno = syscall.ENOSPC
	}
	// a write of one byte cannot be cut, so it fails as a whole
	halved := op.writes && regs.Rdx > 1
	switch fault := t.plan.Fault; {
	case halved && (fault == Short || fault == Tear):
		regs.Rdx /= 2
		_ = syscall.PtraceSetRegs(pid, regs)
		t.full, th.kill = true, fault == Tear
	case fault == Kill || fault == Tear || fault == Power || fault == PowerPart:
		th.syncs = ""
		t.refuse(pid, th, regs, errno)
		_ = syscall.Kill(t.leader, syscall.SIGKILL)
	case op.name == "close": // it closes all the same, as the system does
		th.spoil, th.result = true, syscall.EIO
	default:
		t.refuse(pid, th, regs, errno)
	}
}

// refuse makes a call do nothing, by replacing its number, and return an error.
func (t *tracer) refuse(pid int, th *thread, regs *syscall.PtraceRegs, errno syscall.Errno) {
	regs.Orig_rax = ^uint64(0)
	_ = syscall.PtraceSetRegs(pid, regs)
	th.spoil, th.result = true, errno
}

// operation is a system call on files.
type operation struct {
	name   string
	writes bool // its third argument is a number of bytes to write
	fills  bool // it needs room on the disk
	path   func(pid int, regs *syscall.PtraceRegs) string
}

// operations lists the system calls that count, by number.
var operations = map[uint64]operation{
	syscall.SYS_OPEN:      {"open", false, false, first},
	syscall.SYS_OPENAT:    {"open", false, false, second},
	syscall.SYS_CLOSE:     {"close", false, false, descriptor},
	syscall.SYS_WRITE:     {"write", true, true, descriptor},
	syscall.SYS_PWRITE64:  {"write", true, true, descriptor},
	syscall.SYS_FSYNC:     {"sync", false, true, descriptor},
	syscall.SYS_FDATASYNC: {"sync", false, true, descriptor},
	syscall.SYS_FTRUNCATE: {"truncate", false, true, descriptor},
	syscall.SYS_FLOCK:     {"lock", false, false, descriptor},
	syscall.SYS_FCHMOD:    {"chmod", false, false, descriptor},
	syscall.SYS_FCHMODAT:  {"chmod", false, false, second},
	syscall.SYS_RENAME:    {"rename", false, false, first},
	syscall.SYS_RENAMEAT:  {"rename", false, false, second},
	sysRenameat2:          {"rename", false, false, second},
	syscall.SYS_LINK:      {"link", false, false, first},
	syscall.SYS_LINKAT:    {"link", false, false, second},
	syscall.SYS_UNLINK:    {"remove", false, false, first},
	syscall.SYS_UNLINKAT:  {"remove", false, false, second},
	syscall.SYS_MKDIR:     {"mkdir", false, false, first},
	syscall.SYS_MKDIRAT:   {"mkdir", false, false, second},
	syscall.SYS_MMAP:      {"map", false, false, mapped},
}

// sysRenameat2 is missing in package syscall.
const sysRenameat2 = 316

// first returns the path of calls whose first argument is one.
func first(pid int, regs *syscall.PtraceRegs) string { return text(pid, regs.Rdi) }

// second returns the path of calls whose first argument is a folder. It assumes the current one, which Go passes.
func second(pid int, regs *syscall.PtraceRegs) string { return text(pid, regs.Rsi) }

// descriptor returns the path of the file that the first argument, a descriptor, refers to.
func descriptor(pid int, regs *syscall.PtraceRegs) string { return opened(pid, regs.Rdi) }

// mapped returns the path of the file that mmap maps; its descriptor is the fifth argument.
func mapped(pid int, regs *syscall.PtraceRegs) string { return opened(pid, regs.R8) }

// opened returns the path of an open file of a process, "" if there is none.
func opened(pid int, fd uint64) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, int32(fd)))
	if err != nil {
		return ""
	}
	return path
}

// text reads a path from the memory of a process and makes it absolute; "" if it cannot.
func text(pid int, address uint64) string {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer func() { _ = mem.Close() }()
	b := make([]byte, 4096)
	n, _ := mem.ReadAt(b, int64(address)) // it may end at the end of the memory
	path, _, _ := bytes.Cut(b[:n], []byte{0})
	if filepath.IsAbs(string(path)) {
		return filepath.Clean(string(path))
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return ""
	}
	return filepath.Join(cwd, string(path))
}
