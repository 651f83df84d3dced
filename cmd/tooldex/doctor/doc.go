// Package doctor checks an installation: the configuration, the data directory, the index and the embedding model, the
// servers and the files of clients, and how well tools can be told apart. Each finding comes with its remedy.
//
// [Run] makes the checks one after the other, each in a method of doctor that adds findings. A check that cannot be
// made is a finding too, and not an error. Without Options.Fix nothing is changed, except that a missing data directory
// is made.
//
// doctor.go orders the checks and collects findings. data.go checks what needs no stored tools: the configuration, the
// data directory, the model and the port. servers.go starts the servers and reads clients' files, search.go looks at
// names and at how tools are found, audit.go and trust.go at the audit log and at quarantined tools.
package doctor
