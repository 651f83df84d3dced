package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"tooldex/config"
)

func main() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: config.Getenv}
	a.collectRarely()
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		os.Exit(signalExitCode(<-signals)) // a second signal ends the program at once
	}()
	os.Exit(run(ctx, a, os.Args[1:]))
}

// signalExitCode returns the exit code that shells report for a program ended by a signal.
func signalExitCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitFailed
}
