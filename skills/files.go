package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"tooldex/tool"
)

// Scheme begins the URIs of skills: skill://NAME/SKILL.md.
const Scheme = "skill://"

// The bounds of the files of one skill: those that clients must accept, and of a single file what one answer carries.
const (
	maxFiles = 512      // listed
	maxTotal = 16 << 20 // bytes of all that are listed
	maxFile  = 4 << 20  // bytes
	maxDepth = 16       // folders
)

var (
	errTooLarge = errors.New("it is too large")
	errNoFile   = errors.New("it is no regular file")
	errNoFolder = errors.New("it is in no folder")
)

// URI returns the URI of a file of a skill, whose path has slashes.
func URI(name, file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return Scheme + name + "/" + strings.Join(parts, "/")
}

// CutURI takes a URI apart. It returns false for one that can be none of a skill's, such as one with "..".
func CutURI(uri string) (name, file string, ok bool) {
	rest, ok := strings.CutPrefix(uri, Scheme)
	if !ok || len(rest) > 4<<10 {
		return "", "", false
	}
	name, file, _ = strings.Cut(rest, "/")
	file, err := url.PathUnescape(file)
	return name, file, err == nil && isName(name) && isServed(file)
}

// isServed reports whether a path can be that of a file of a skill: it leads nowhere but into its folder, and nothing
// in it is hidden.
func isServed(file string) bool {
	if !fs.ValidPath(file) || file == "." || strings.ContainsAny(file, "\\\x00") || strings.Count(file, "/") >= maxDepth {
		return false
	}
	return !slices.ContainsFunc(strings.Split(file, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// Content is what a file of a skill holds. Either Text or Blob is set; both are empty for an empty file.
type Content struct {
	Type string // its media type
	Text string
	Blob []byte // of a file that is no text
}

// bytes returns the content as it is served.
func (c *Content) bytes() []byte {
	if c.Blob != nil {
		return c.Blob
	}
	return []byte(c.Text)
}

// ReadFile reads a file of the skill as it is now. The path has slashes. SKILL.md comes without hidden characters,
// others as they are. The error is NotFound for a file that does not exist or is not served, and Invalid for one that
// is too large.
func (s *Skill) ReadFile(file string) (*Content, error) {
	missing := &tool.Error{
		Code: tool.NotFound, Op: "read skill", Msg: fmt.Sprintf("the skill %s has no file %q", s.Name, file),
		Hint: "its SKILL.md names its files",
	}
	if !isServed(file) {
		return nil, missing
	}
	root, err := s.open()
	if err != nil {
		return nil, missing
	}
	defer func() { _ = root.Close() }()
	most := maxFile
	if file == Main {
		most = maxMain
	}
	b, err := readWithin(root, filepath.FromSlash(file), most)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read skill", Msg: fmt.Sprintf("the file %q of the skill %s is too large", file, s.Name),
			Hint: fmt.Sprintf("at most %d KB are read", most>>10), Err: err,
		}
	case err != nil:
		missing.Err = err
		return nil, missing
	}
	return contentOf(file, b), nil
}

// contentOf returns what the bytes of a file are served as.
func contentOf(file string, b []byte) *Content {
	c := &Content{Type: typeOf(file)}
	switch {
	case file == Main:
		c.Text, _ = clean(b)
	case utf8.Valid(b):
		c.Text = string(b)
	default:
		c.Blob = b
	}
	return c
}

// typeOf returns the media type of a file, by its name alone and the same on every machine.
func typeOf(file string) string {
	switch strings.ToLower(path.Ext(file)) {
	case ".md":
		return "text/markdown"
	case ".json":
		return "application/json"
	case ".html":
		return "text/html"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".pdf":
		return "application/pdf"
	case ".zip", ".gz", ".ttf", ".otf", ".woff", ".woff2", ".docx", ".xlsx", ".pptx":
		return "application/octet-stream"
	}
	return "text/plain"
}

// open opens the folder of the skill. No link leads out of it.
func (s *Skill) open() (*os.Root, error) {
	outer, err := os.OpenRoot(s.folder)
	if err != nil || s.dir == "." {
		return outer, err
	}
	defer func() { _ = outer.Close() }()
	return outer.OpenRoot(s.dir)
}

// readWithin reads a regular file of at most so many bytes. It does not wait for a pipe that nobody writes to.
func readWithin(root *os.Root, name string, most int) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, errNoFolder
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > int64(most):
		return nil, errTooLarge
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		err = errTooLarge
	}
	return b, err
}

// digest is the digest of a file as it was at some time.
type digest struct {
	size     int64 // on the disk
	modified time.Time
	file     tool.SkillFile
}

// Files lists the files of the skill that are served, SKILL.md first and the others by path, with the digests of what
// is served of them. It lists at most 512 files of together 16 MiB; more do not count as part of the skill. The error
// is NotFound for a skill that is gone.
func (s *Skill) Files() ([]tool.SkillFile, error) {
	root, err := s.open()
	if err != nil {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "list skill", Msg: "the skill " + s.Name + " is gone", Hint: "list the skills again", Err: err,
		}
	}
	defer func() { _ = root.Close() }()
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.digests
	s.digests = map[string]digest{}
	var out []tool.SkillFile
	total := int64(0)
	add := func(file string) bool {
		d, ok := digestOf(root, s.Name, file, known)
		if ok && total+d.file.Size <= maxTotal {
			s.digests[file] = d
			total += d.file.Size
			out = append(out, d.file)
		}
		return len(out) < maxFiles
	}
	add(Main)
	// An error means that a file went away meanwhile, or may not be read: it is not served either.
	_ = fs.WalkDir(root.FS(), ".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case file == ".":
		case err != nil || !isServed(file):
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir() || file == Main:
		case !add(file):
			return fs.SkipAll
		}
		return nil
	})
	return out, nil
}

// digestOf returns the digest of a file, which is read only if it is not known or has changed. It returns false for
// what is not served.
func digestOf(root *os.Root, name, file string, known map[string]digest) (digest, bool) {
	info, err := root.Stat(filepath.FromSlash(file))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return digest{}, false
	}
	if d, ok := known[file]; ok && d.size == info.Size() && d.modified.Equal(info.ModTime()) {
		return d, true
	}
	b, err := readWithin(root, filepath.FromSlash(file), maxFile)
	if err != nil {
		return digest{}, false
	}
	served := contentOf(file, b).bytes()
	sum := sha256.Sum256(served)
	return digest{info.Size(), info.ModTime(), tool.SkillFile{
		URI: URI(name, file), Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(served)),
	}}, true
}
