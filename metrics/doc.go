// Package metrics counts what the service does, and keeps the counts across restarts and processes.
//
// A [Meter] wraps a Searcher and a Caller and counts what passes through; [Meter.Selected] counts selections.
// [Meter.Report] returns what was done in a window of time, and [Meter.ServeHTTP] serves Prometheus.
//
//	m := metrics.New(metrics.Options{Disk: disk, Catalog: catalog})
//	m.Start()
//	defer m.Close()
//	searcher := m.Searcher(engine, catalog, "")
//
// # What may be relied on
//
// Counting takes a lock for less than a microsecond and never waits for the disk. Counts are written every few seconds,
// by adding to what is stored in one transaction: processes that share a disk add up, none undoes another's counts, and
// a killed process loses only what came since its last write. Counts never fall.
//
// Counts are kept by the minute for an hour, by the hour for a week, and in total. The texts of searches are not
// stored: the process that answered them remembers a bounded number of those that found nothing.
//
// # Files
//
// wrap.go counts searches and calls, in slots of time (slot.go, counts.go, histogram.go). meter.go adds what was
// counted to the disk every few seconds. report.go and summary.go sum up a window of time, and prometheus.go writes
// what a scrape gets.
package metrics
