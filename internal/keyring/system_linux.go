package keyring

import (
	"os"
	"path/filepath"
	"strconv"
)

// hasSystem reports whether the keyring of the system may be asked. The library starts a bus of its own where none
// runs, which nobody would end.
func (r *Ring) hasSystem() bool {
	if !r.o.System {
		return false
	}
	if address, _ := r.o.LookupEnv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address != "autolaunch:"
	}
	_, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil
}
