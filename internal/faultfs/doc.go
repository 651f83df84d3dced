// Package faultfs runs a command and spoils one of its operations on files, as a full or failing disk or the loss of
// power would.
//
// The command is a real one, its files are real, and nothing in it knows of the test: it is traced, and the n-th of its
// system calls that touch a folder fails, is cut short, or is the last thing that it does. [Power] also takes away what
// the command did not sync.
//
//	for n := 1; ; n++ {
//		out, err := faultfs.Run(cmd(), faultfs.Plan{Dir: data, N: n, Fault: faultfs.Fail})
//		...
//		if !out.Hit {
//			break // there are fewer operations than n
//		}
//	}
package faultfs
