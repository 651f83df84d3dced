package metrics

import "time"

// Metrics is what was done within a window of time, by all processes that share a data directory.
type Metrics struct {
	Window string    `json:"window"`
	Since  time.Time `json:"since,omitzero"` // when the window begins; zero for all time

	TotalRequests    int64   `json:"totalRequests"` // searches and selections that were answered
	Searches         int64   `json:"searches"`
	Selections       int64   `json:"selections"`
	AverageToolsUsed float64 `json:"averageToolsUsed"` // tools handed out with each of them
	TokensUsed       int64   `json:"tokensUsed"`       // what the answers cost to read
	// What listing all tools instead of each answer would have cost more.
	TokenSavings  int64   `json:"tokenSavings"`
	CacheHits     int64   `json:"cacheHits"`    // selections that the cache answered
	CacheHitRate  float64 `json:"cacheHitRate"` // their share of all selections, 0 to 1
	Degraded      int64   `json:"degraded"`     // searches by words only
	FoundNothing  int64   `json:"foundNothing"` // searches to which no tool was said to fit
	SearchLatency Latency `json:"searchLatency"`

	Calls           int64   `json:"calls"`
	Errors          int64   `json:"errors"`          // calls that failed, or whose tool reported an error
	ToolsByCategory []Tally `json:"toolsByCategory"` // handed out; the most first
	MostUsedTools   []Tally `json:"mostUsedTools"`   // called, by ID; the most first
	// Of which tools were called; those with most errors first, then the slowest.
	Servers []ServerUse `json:"servers"`
	// The texts of FoundNothing that this process remembers; the most frequent first.
	Fruitless []Tally `json:"fruitless"`
	// The window in equal steps, oldest first; steps without any use are left out.
	Series []Point `json:"series"`
}

// Tally counts what has a name.
type Tally struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Use is how often a tool was called.
type Use struct {
	Calls int64
	Last  time.Time // when the last call began, to the second; zero if that was not counted yet
}

// Latency is how long something took. The percentiles are upper bounds, from a histogram.
type Latency struct {
	Mean float64 `json:"meanMs"`
	P50  float64 `json:"p50Ms"`
	P99  float64 `json:"p99Ms"`
}

// ServerUse is how the calls of a server's tools went.
type ServerUse struct {
	Server    string  `json:"server"`
	Calls     int64   `json:"calls"`
	Errors    int64   `json:"errors"`
	ErrorRate float64 `json:"errorRate"` // 0 to 1
	Latency   Latency `json:"latency"`
}

// Point is one step of a window.
type Point struct {
	Time         time.Time `json:"time"` // when it begins
	Requests     int64     `json:"requests"`
	Calls        int64     `json:"calls"`
	Errors       int64     `json:"errors"`
	FoundNothing int64     `json:"foundNothing"`
	TokenSavings int64     `json:"tokenSavings"`
}
