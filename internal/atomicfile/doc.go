// Package atomicfile replaces files whole: a reader sees the old or the new content, also after the power is
// lost.
//
// What is new is written beside the file, brought to the disk, and renamed. When a function returns nil, the change is
// on the disk; when it returns an error, what was there is there still. Only where bringing the new name to the disk
// fails may the new content stand although the error says otherwise.
package atomicfile
