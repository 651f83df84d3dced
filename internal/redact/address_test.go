package redact

import "testing"

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"postgres://u:p$s*@h:5432/db?sslmode=require&sslpassword=a&tenant=x": "postgres://u:***@h:5432/db?sslmode=require&sslpassword=***&tenant=x",
		"postgres://u:@h/db":                      "postgres://u:***@h/db",
		"postgres://u@/db?host=%2Ftmp&password=x": "postgres://u@/db?host=/tmp&password=***",
		"postgres:///db":                          "postgres:///db",
		"postgres://h/db#secret":                  "postgres://h/db",
		"postgres://u:a b@h/db":                   Mark,
		"postgres://u:%zz@h/db":                   Mark,
		"secret":                                  Mark,
		"host=h password=secret":                  Mark,
		"":                                        Mark,
	} {
		if got := Address(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
