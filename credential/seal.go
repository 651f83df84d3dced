package credential

import (
	"crypto/cipher"
	"crypto/rand"
	"strconv"
	"strings"
)

// boundTo returns what a sealed value is bound to. Lengths keep the parts apart.
func boundTo(user string, server Server, name string) []byte {
	var b strings.Builder
	b.WriteString("tooldex credential 1")
	for _, part := range []string{user, server.Name, server.At, name} {
		b.WriteString("\x00" + strconv.Itoa(len(part)) + ":" + part)
	}
	return []byte(b.String())
}

// seal encrypts a value. The result begins with the nonce.
func seal(a cipher.AEAD, value string, bound []byte) []byte {
	nonce := make([]byte, a.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	return a.Seal(nonce, nonce, []byte(value), bound)
}

// open decrypts a value, and reports whether it is whole and bound as given.
func open(a cipher.AEAD, sealed, bound []byte) (string, bool) {
	n := a.NonceSize()
	if len(sealed) < n {
		return "", false
	}
	value, err := a.Open(nil, sealed[:n], sealed[n:], bound)
	return string(value), err == nil
}
