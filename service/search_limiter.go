package service

import (
	"context"
	"errors"
	"runtime"
	"time"

	"tooldex/internal/limit"
	"tooldex/tool"
)

// The limits of searches. A search keeps one processor busy, so more at once than there are processors make each of
// them slower and none faster; two for each keep all processors busy. Searches for which another program embeds mostly
// wait for that program.
const (
	searchesEach    = 2                // at once, for each processor
	searchesRemote  = 64               // at once at least, if another program embeds
	searchesWaiting = 1024             // beyond which a search is refused at once
	searchWait      = 10 * time.Second // after which a waiting one is refused
)

// searchLimiter bounds the searches of all clients together, over MCP and HTTP, so that a crowd of them leaves calls
// and health their share.
type searchLimiter struct {
	gate *limit.Gate
	next tool.Searcher
}

// newSearchLimiter returns a limiter before next. remote means that another program embeds the queries.
func newSearchLimiter(next tool.Searcher, remote bool) searchLimiter {
	most := searchesEach * runtime.GOMAXPROCS(0)
	if remote {
		most = max(most, searchesRemote)
	}
	return searchLimiter{limit.New(most, searchesWaiting, searchWait), next}
}

// Search implements tool.Searcher. Its own errors are Unavailable for too many searches, and Timeout if ctx ends while
// the search waits for its turn.
func (s searchLimiter) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	leave, err := s.gate.Enter(ctx)
	switch {
	case errors.Is(err, limit.ErrFull), errors.Is(err, limit.ErrLate):
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "search", Msg: "too many searches at once",
			Hint: "try again in a second", Err: err,
		}
	case err != nil:
		return nil, &tool.Error{
			Code: tool.Timeout, Op: "search", Msg: "the search did not get its turn in time",
			Hint: "try again", Err: err,
		}
	}
	defer leave()
	return s.next.Search(ctx, q)
}
