package faultfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// disk knows what of a folder survives the loss of power: of each file, its content when it was last synced, and of
// each folder, its entries when it was last synced. It is stricter than most file systems are, as one that may be used
// is.
type disk struct {
	root    string
	entries map[uint64]map[string]entry // of folders, by inode
	content map[uint64][]byte           // of files, by inode
	part    *rand.Rand                  // chooses what survives of what was not synced; nil if nothing does
	open    []*os.File                  // of each inode that is known, so that its number is not given to another file
}

// entry is one name in a folder.
type entry struct {
	inode uint64
	mode  fs.FileMode
}

// newDisk counts all that the folder of a plan holds as synced.
func newDisk(p Plan) (*disk, error) {
	d := &disk{root: p.Dir, entries: map[uint64]map[string]entry{}, content: map[uint64][]byte{}}
	if p.Fault == PowerPart {
		d.part = rand.New(rand.NewPCG(p.Seed, uint64(p.N)))
	}
	return d, filepath.WalkDir(p.Dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return d.sync(path)
	})
}

// inodeOf returns the inode and the mode of a file or folder, not of what a link points to.
func inodeOf(path string) (entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return entry{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return entry{}, errors.New("the system returns no inode")
	}
	return entry{stat.Ino, info.Mode()}, nil
}

// sync notes that a file or folder was synced. One that is gone by now has no name that could survive.
func (d *disk) sync(path string) error {
	e, err := inodeOf(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !e.mode.IsDir() {
		if !e.mode.IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		d.content[e.inode] = b
		return d.keep(path)
	}
	list, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	names := map[string]entry{}
	for _, one := range list {
		child, err := inodeOf(filepath.Join(path, one.Name()))
		if err != nil {
			return err
		}
		names[one.Name()] = child
		if err := d.keep(filepath.Join(path, one.Name())); err != nil {
			return err
		}
	}
	d.entries[e.inode] = names
	return d.keep(path)
}

// keep holds a file open.
func (d *disk) keep(path string) error {
	f, err := os.Open(path)
	if err == nil {
		d.open = append(d.open, f)
	}
	return err
}

// losePower makes the folder hold what survives, and closes the disk.
func (d *disk) losePower() error {
	if d.part != nil {
		if err := d.keepPart(); err != nil {
			return err
		}
	}
	root, err := inodeOf(d.root)
	if err != nil {
		return err
	}
	list, err := os.ReadDir(d.root)
	if err != nil {
		return err
	}
	for _, one := range list {
		if err := os.RemoveAll(filepath.Join(d.root, one.Name())); err != nil {
			return err
		}
	}
	err = d.restore(d.root, root.inode)
	for _, f := range d.open {
		err = errors.Join(err, f.Close())
	}
	return err
}

// keepPart adds to what survives some of what the folder holds now. The names of one folder survive together, as file
// systems with a journal write them.
func (d *disk) keepPart() error {
	return filepath.WalkDir(d.root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		e, err := inodeOf(path)
		if err != nil {
			return err
		}
		switch {
		case e.mode.IsDir() && d.part.IntN(2) == 0:
			return d.sync(path)
		case e.mode.IsRegular():
			now, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			d.content[e.inode] = d.mix(d.content[e.inode], now)
			return d.keep(path)
		}
		return nil
	})
}

// sector is what a disk writes in one step, in bytes.
const sector = 512

// mix returns a content of a file between the one that was synced and the one that it has: the length of either, and
// each sector as it is in either. Sectors of neither are zero.
func (d *disk) mix(synced, now []byte) []byte {
	size := len(synced)
	if d.part.IntN(2) == 0 {
		size = len(now)
	}
	most := d.part.IntN(5) // of four sectors, how many are new
	out := make([]byte, size)
	for at := 0; at < size; at += sector {
		from := synced
		if d.part.IntN(4) < most {
			from = now
		}
		if at < len(from) {
			copy(out[at:min(at+sector, size)], from[at:])
		}
	}
	return out
}

// restore fills a folder, which is empty, with what survives of the one with an inode.
func (d *disk) restore(path string, inode uint64) error {
	for name, e := range d.entries[inode] {
		at := filepath.Join(path, name)
		switch {
		case e.mode.IsDir():
			if err := os.Mkdir(at, e.mode.Perm()); err != nil {
				return err
			}
			if err := d.restore(at, e.inode); err != nil {
				return err
			}
		case e.mode.IsRegular():
			if err := os.WriteFile(at, d.content[e.inode], e.mode.Perm()); err != nil {
				return err
			}
		}
	}
	return nil
}
