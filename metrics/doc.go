// Package metrics counts what the service does, and keeps the counts across restarts and processes.
//
// A [Meter] wraps a Searcher and a Caller and counts what passes through; selections are told to it ([Meter.Selected]).
// It answers with what was done in a window of time ([Meter.Report]), and to Prometheus ([Meter.ServeHTTP]).
//
//	m := metrics.New(metrics.Options{Disk: disk, Catalog: catalog})
//	m.Start()
//	defer m.Close()
//	searcher := m.Searcher(engine, catalog)
//
// # What may be relied on
//
// Counting takes a lock for less than a microsecond and never waits for the disk. What was counted is written every few
// seconds, by adding to what is stored in one transaction: processes that share a disk add up, none undoes another's
// counts, and one that is killed loses what came since its last write. Counts never fall.
//
// Counts are kept by the minute for an hour, by the hour for a week, and in all. The texts of searches are not stored:
// those that found nothing are remembered, a bounded number of them, by the process that answered them.
package metrics
