package access

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"

	"github.com/go-jose/go-jose/v4"
)

// minRSA is the size of the smallest RSA modulus that is accepted, in bits.
const minRSA = 2048

// isVerificationKey reports whether a key may verify signatures: a public key of an accepted kind, for that use.
func isVerificationKey(k jose.JSONWebKey) bool {
	if !k.Valid() || k.Use != "" && k.Use != "sig" {
		return false
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false // a private or a symmetric one
}
