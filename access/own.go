package access

import (
	"bytes"
	"os"
	"runtime"
)

// minSecret is the length of the shortest secret that OwnToken accepts: that many characters of base64 hold 128 bits.
const minSecret = 22

// OwnToken returns the token of the person who owns the data directory, from a file that nobody else can read. It makes
// the file if it does not exist, and makes a new token if the file holds none, or if others could read it. Processes
// that call it at once get the same token. Who can send the token can read the owner's files, and so gains nothing by
// it. The errors are of code Internal and Unavailable, and name the file.
func OwnToken(path string) (string, error) {
	if secret := readOwn(path); secret != "" {
		return secret, nil
	}
	unlock, err := lockFile(path)
	if err != nil {
		return "", err
	}
	defer unlock()
	if secret := readOwn(path); secret != "" { // another process was faster
		return secret, nil
	}
	secret := NewSecret()
	return secret, replaceFile(path, []byte(secret+"\n"))
}

// readOwn returns the token in a file, "" if there is none that can be relied on.
func readOwn(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	// Windows has no such bits; files of a user's profile are private there.
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return ""
	}
	b, err := File{Path: path}.readBytes()
	if b = bytes.TrimSpace(b); err != nil || len(b) < minSecret {
		return ""
	}
	return string(b)
}
