package skills

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tooldex/internal/sanitize"
)

// maxSkills bounds how many skills are read of one folder.
const maxSkills = 10_000

// Problem is a file or folder that cannot be used, or only in part.
type Problem struct {
	File    string `json:"file"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// String returns the problem on one line.
func (p Problem) String() string { return p.File + " " + p.Problem + ": " + p.Remedy }

// Library is the skills of some folders at one moment. It never changes. A nil Library has none.
type Library struct {
	Skills   []*Skill // by name
	Problems []Problem

	most    int // entries that are read of a folder
	folders []string
	state   [sha256.Size]byte // of the files, as they were before they were read
}

// Read reads the skills of folders: of each the one that it is itself, if it has a SKILL.md, and those that are in it.
// Of several skills with one name the first is taken. Links are followed within the folder only.
func Read(folders []string) *Library {
	l := &Library{most: maxSkills, folders: slices.Clone(folders), state: stateOf(folders)}
	for _, folder := range folders {
		l.readFolder(folder)
	}
	slices.SortStableFunc(l.Skills, byName)
	return l
}

// IsCurrent reports whether the library was read from these folders, and no SKILL.md has changed since by the times and
// sizes of the files. It reads no file.
func (l *Library) IsCurrent(folders []string) bool {
	return l != nil && slices.Equal(l.folders, folders) && l.state == stateOf(folders)
}

// Find returns the skill of a name.
func (l *Library) Find(name string) (*Skill, bool) {
	if l == nil {
		return nil, false
	}
	i, ok := slices.BinarySearchFunc(l.Skills, name, func(s *Skill, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return nil, false
	}
	return l.Skills[i], true
}

// stateOf returns a fingerprint of the times and sizes of the files that Read reads.
func stateOf(folders []string) [sha256.Size]byte {
	h := sha256.New()
	note := func(path string) {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(h, "%q none\n", path)
			return
		}
		fmt.Fprintf(h, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	for _, folder := range folders {
		note(filepath.Join(folder, Main))
		entries, _ := os.ReadDir(folder) // what is missing has no entries
		for _, e := range entries[:min(len(entries), maxSkills)] {
			if isCandidate(e) {
				note(filepath.Join(folder, e.Name(), Main))
			}
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// isCandidate reports whether an entry of a folder may be a skill. Links may lead to one.
func isCandidate(e fs.DirEntry) bool {
	return !strings.HasPrefix(e.Name(), ".") && (e.IsDir() || e.Type()&fs.ModeSymlink != 0)
}

// readFolder adds the skills of one folder.
func (l *Library) readFolder(folder string) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		l.addProblem(folder, "cannot be read: "+reasonOf(err), "make the folder, or remove it from the setting skills")
		return
	}
	defer func() { _ = root.Close() }()
	if _, err := root.Stat(Main); err == nil {
		l.readSkill(root, folder, ".")
		return // what is in a skill belongs to it
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		l.addProblem(folder, "cannot be read: "+reasonOf(err), "see that you may read it")
		return
	}
	if len(entries) > l.most {
		l.addProblem(folder, fmt.Sprintf("has %d entries, of which %d are read", len(entries), l.most),
			"part it into several folders")
		entries = entries[:l.most]
	}
	for _, e := range entries {
		if isCandidate(e) {
			l.readSkill(root, folder, e.Name())
		}
	}
}

// readSkill adds the skill of one folder; one without a SKILL.md is none.
func (l *Library) readSkill(root *os.Root, folder, dir string) {
	path := filepath.Join(folder, dir, Main)
	b, err := readWithin(root, filepath.Join(dir, Main), maxMain)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoFolder):
		return
	case errors.Is(err, errTooLarge):
		l.addProblem(path, fmt.Sprintf("is larger than %d KB", maxMain>>10), "move parts of it to files beside it")
		return
	case err != nil && isLink(filepath.Join(folder, dir)):
		l.addProblem(path, "is not read, because "+filepath.Join(folder, dir)+" is a link out of the folder",
			"add the folder that it leads to to the setting skills")
		return
	case err != nil:
		l.addProblem(path, "cannot be read: "+reasonOf(err), "make it a file that you may read, and no link out of its folder")
		return
	}
	if !utf8.Valid(b) {
		l.addProblem(path, "is not UTF-8; what is not is replaced", "save it as UTF-8")
	}
	text, _ := clean(b)
	name := dir
	if dir == "." {
		name = filepath.Base(filepath.Clean(folder))
	}
	s, notes, wrong := parse(strings.TrimPrefix(text, "\ufeff"), name)
	if wrong != nil {
		notes = append(notes, *wrong)
	}
	for _, n := range notes {
		l.addProblem(path, n.problem, n.remedy)
	}
	if s == nil {
		return
	}
	if i := slices.IndexFunc(l.Skills, func(o *Skill) bool { return o.Name == s.Name }); i >= 0 {
		l.addProblem(path, fmt.Sprintf("has the name %q of %s, which is served", s.Name, l.Skills[i].File), "rename one of them")
		return
	}
	s.File, s.folder, s.dir = path, folder, dir
	l.Skills = append(l.Skills, s)
}

// isLink reports whether a path is a symbolic link.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// addProblem notes a problem, without the characters that would spoil a log or a terminal.
func (l *Library) addProblem(file, problem, remedy string) {
	line := func(s string) string { return strings.Join(strings.Fields(sanitize.Text(s, sanitize.MaxText)), " ") }
	l.Problems = append(l.Problems, Problem{line(file), line(problem), remedy})
}

// reasonOf returns an error of the file system without the path, which the message names.
func reasonOf(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}
