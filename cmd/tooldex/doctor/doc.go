// Package doctor checks an installation: the configuration, the data directory, the index and the embedding model, the
// servers and the files of clients, and how well tools can be told apart. Each finding comes with its remedy.
package doctor
