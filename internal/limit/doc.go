// Package limit lets so many in at once, has so many wait for a while, and refuses the rest.
package limit
