package credential

import (
	"encoding/base64"
	"os"
	"strings"

	"tooldex/tool"
)

// keySize is the size of a key, in bytes.
const keySize = 32

// ParseKey reads a key: 32 random bytes in base64. The error is of code Invalid and does not show the text.
func ParseKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != keySize {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read key", Msg: "the key of the credentials is not 32 bytes in base64",
			Hint: "make one with openssl rand -base64 32",
		}
	}
	return key, nil
}

// ReadKey reads a key from a file. The error is of code Invalid.
func ReadKey(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read key", Msg: "the file with the key of the credentials cannot be read",
			Hint: "check the path and the permissions of " + file, Err: err,
		}
	}
	return ParseKey(string(b))
}
