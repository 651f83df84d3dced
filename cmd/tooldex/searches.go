package main

import (
	"context"
	"errors"
	"runtime"
	"time"

	"tooldex/internal/limit"
	"tooldex/tool"
)

// How searches take turns. A search is work for one processor, so more at once than there are make each slower and none
// sooner; two for each keep them busy. Those for which another program embeds wait for that, mostly.
const (
	searchesEach    = 2 // for each processor
	searchesRemote  = 64
	searchesWaiting = 1024
	searchPatience  = 10 * time.Second
)

// inTurn bounds the searches of all clients together, over MCP and HTTP, so that a crowd of them leaves calls and
// health their share.
type inTurn struct {
	gate *limit.Gate
	next tool.Searcher
}

// newInTurn has next answer. Remote says that another program embeds.
func newInTurn(next tool.Searcher, remote bool) inTurn {
	most := searchesEach * runtime.GOMAXPROCS(0)
	if remote {
		most = max(most, searchesRemote)
	}
	return inTurn{limit.New(most, searchesWaiting, searchPatience), next}
}

// Search implements tool.Searcher.
func (s inTurn) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
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
