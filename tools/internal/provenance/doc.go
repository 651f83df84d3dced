// Package provenance describes how a page of figures was made: command, date, commit, machine, and its load.
package provenance
