// Package script runs short programs in JavaScript that call tools, within bounds.
//
// [Run] executes one program in an interpreter of its own, which ends with it. A program reaches nothing but its
// [Host]: no file, no network, no process, no timer, and a clock that stands still. What bounds it is in [Limits].
//
// Time, calls, their results, the answer, the depth of calls and the size of the program are bounded exactly. Memory is
// not: the interpreter cannot count it for one program. Run watches the growth of the whole process and stops the
// program beyond a limit, so other work can shorten a program's share, and one step can pass the limit before it is
// noticed. Built-in functions, which cannot be interrupted, are guarded so that no step can make more than a bounded
// list or text; those that cannot be guarded (BigInt, Proxy, typed arrays, eval) are removed.
package script
