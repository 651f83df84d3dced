package faultfs

import (
	"encoding/binary"
	"fmt"
	"slices"
	"syscall"
)

// Numbers of seccomp that package syscall does not name.
const (
	sysSeccomp     = 317
	setFilter      = 1          // SECCOMP_SET_MODE_FILTER
	noNewPrivs     = 38         // PR_SET_NO_NEW_PRIVS
	filterTrace    = 0x7ff00000 // SECCOMP_RET_TRACE
	filterAllow    = 0x7fff0000 // SECCOMP_RET_ALLOW
	auditArchAMD64 = 0xc000003e // AUDIT_ARCH_X86_64
)

// filterCalls has the system call a stopped process that has run none of its program yet, so that it stops only at the
// system calls of operations. A process makes ten times as many others, and each stop costs more than most calls do.
func filterCalls(pid int) error {
	var before syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &before); err != nil {
		return err
	}
	text := make([]byte, 8)
	if _, err := syscall.PtracePeekText(pid, uintptr(before.Rip), text); err != nil {
		return err
	}
	callAndStop := []byte{0x0f, 0x05, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc} // syscall; int3
	if _, err := syscall.PtracePokeText(pid, uintptr(before.Rip), callAndStop); err != nil {
		return err
	}
	filter := callFilter()
	program := before.Rsp - 4096
	header := binary.LittleEndian.AppendUint64(nil, uint64(len(filter)/8))
	header = binary.LittleEndian.AppendUint64(header, program+16)
	if _, err := syscall.PtracePokeData(pid, uintptr(program), append(header, filter...)); err != nil {
		return err
	}
	for _, call := range []syscall.PtraceRegs{
		{Rax: syscall.SYS_PRCTL, Rdi: noNewPrivs, Rsi: 1},
		{Rax: sysSeccomp, Rdi: setFilter, Rdx: program},
	} {
		regs := before
		regs.Orig_rax = ^uint64(0) // nothing to start again
		regs.Rax, regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8 = call.Rax, call.Rdi, call.Rsi, call.Rdx, 0, 0
		if err := syscall.PtraceSetRegs(pid, &regs); err != nil {
			return err
		}
		if err := syscall.PtraceCont(pid, 0); err != nil {
			return err
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WALL, nil); err != nil {
			return err
		}
		if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
			return err
		}
		if !status.Stopped() || status.StopSignal() != syscall.SIGTRAP || regs.Rax != 0 {
			return fmt.Errorf("the system call %d returns %d", call.Rax, int64(regs.Rax))
		}
	}
	if _, err := syscall.PtracePokeText(pid, uintptr(before.Rip), text); err != nil {
		return err
	}
	return syscall.PtraceSetRegs(pid, &before)
}

// callFilter returns the instructions that stop at the system calls of operations, and let all others pass.
func callFilter() []byte {
	var out []byte
	add := func(code uint16, ifSo, ifNot uint8, k uint32) {
		out = binary.LittleEndian.AppendUint16(out, code)
		out = append(out, ifSo, ifNot)
		out = binary.LittleEndian.AppendUint32(out, k)
	}
	const load, equal, answer = 0x20, 0x15, 0x06 // a word; jump if it is k; return k
	add(load, 0, 0, 4)                           // the architecture
	add(equal, 1, 0, auditArchAMD64)
	add(answer, 0, 0, filterAllow)
	add(load, 0, 0, 0) // the number
	var numbers []uint64
	for n := range operations {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		add(equal, uint8(len(numbers)-i), 0, uint32(n))
	}
	add(answer, 0, 0, filterAllow)
	add(answer, 0, 0, filterTrace)
	return out
}
