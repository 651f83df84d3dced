// Package limit bounds how many run at once and how many wait for a while, and refuses the rest.
package limit
