// Package redact hides secrets that people wrote into texts: behind the names that they are given, by the forms of
// known tokens, and in addresses.
//
// [Text] cleans a text of unknown origin, such as a log line. [Args] and [URL] clean what is shown of a server's
// configuration. [Values] returns the secrets of a configuration, to be replaced wherever they appear. Nothing here
// finds every secret: a password without a name beside it and without a known form looks like any word.
package redact
