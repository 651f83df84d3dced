// Package provenance tells what made a page of figures: command, day, commit, machine, and how busy it was.
package provenance
