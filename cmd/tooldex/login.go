package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"tooldex/gateway"
	"tooldex/service"
)

func newServersLogin(a *app) *cobra.Command {
	var clientID string
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "login NAME",
		Short: "Log in to a server that requires it, in a browser",
		Long: "Log in to a server that requires authorization (OAuth 2.1 with PKCE). The address of the login page is printed, and\n" +
			"opened in a browser if there is one. The tokens are kept in the data directory, in a file that only you can read,\n" +
			"and renewed when they expire. Where programs cannot register themselves, register tooldex by hand, with the address\n" +
			"http://127.0.0.1/callback, and give --client-id; if it has a secret, set TOOLDEX_CLIENT_SECRET. Of a server with\n" +
			"oauth.perUser the login is yours alone, on this machine, and encrypted; users of a service log in at its page.",
		Example: "  tooldex servers login sentry",
		Args:    checkArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withGateway(cmd.Context(), func(gw *gateway.Gateway) error {
				err := gw.Login(cmd.Context(), args[0], gateway.LoginOptions{
					ClientID: clientID, ClientSecret: a.config().Login.ClientSecret,
					Visit: func(url string) {
						fmt.Fprintf(a.stderr, "to log in, visit\n%s\n", makePrintable(url))
						if !noBrowser {
							openBrowser(cmd.Context(), url)
						}
					},
				})
				if err == nil {
					fmt.Fprintf(a.stderr, "logged in to %s\n", makePrintable(args[0]))
				}
				return err
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&clientID, "client-id", "", "the ID of a client that was registered by hand")
	fl.BoolVar(&noBrowser, "no-browser", false, "only print the address")
	return cmd
}

func newServersLogout(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the tokens of a login",
		Args:  checkArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withGateway(cmd.Context(), func(gw *gateway.Gateway) error {
				had, err := gw.Logout(args[0])
				if err == nil && !had {
					fmt.Fprintf(a.stderr, "there was no login to %s\n", makePrintable(args[0]))
				}
				return err
			})
		},
	}
}

// withGateway calls f with a gateway to the configured servers, none of which has been started.
func (a *app) withGateway(ctx context.Context, f func(*gateway.Gateway) error) error {
	s, err := a.open(ctx, service.ToList)
	if err != nil {
		return err
	}
	defer a.close(s)
	gw := s.NewGateway(gateway.Options{})
	defer func() { _ = gw.Close() }() // it always returns nil
	return f(gw)
}

// openBrowser opens an address in a browser, if there is one. Errors are ignored: the address has been printed.
func openBrowser(ctx context.Context, url string) {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], url)...)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}
