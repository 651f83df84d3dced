package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	collectSeldom()
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-heard
		cancel()
		os.Exit(killedBy(<-heard)) // who asks twice does not want to wait
	}()
	code := run(ctx, &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}, os.Args[1:])
	os.Exit(code)
}

// killedBy is the exit code of a command that a signal has ended, as shells have it.
func killedBy(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitFailed
}
