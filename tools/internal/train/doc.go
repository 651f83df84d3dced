// Package train makes the table that package embed ships: it learns rows for words from requests and the tools that
// answer them.
//
// Training is contrastive. A batch holds requests, for each the tool that answers it, and tools of the same servers
// that do not; every request must be nearer to its own tool than to all others. Rows start where a teacher's table has
// the token's string and are pulled back there, so that what training never sees keeps its meaning. Several runs from
// one start, on other batches each, are averaged. The result is a function of the data, the options and the seed: the
// same bytes on any number of processors of one architecture.
package train
