//go:build !linux

package keyring

// hasSystem reports whether the keyring of the system may be asked.
func (r *Ring) hasSystem() bool { return r.o.System }
