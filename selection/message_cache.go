package selection

import (
	"container/list"
	"sync"
	"time"

	"tooldex/internal/vector"
	"tooldex/tool"
)

// searchOutcome is the result of the search for one message. It is shared by the cache, so it must not be changed.
type searchOutcome struct {
	hits      []tool.Hit
	groups    [][]tool.ID // the tools of each need, where the message has several
	confident bool
	advice    *tool.Advice
	degraded  string
}

// messageCache remembers search results by message, and finds them again by text or by meaning. The least recently used
// are dropped. It is safe for concurrent use.
type messageCache struct {
	most  int           // entries; none are kept if it is not positive
	least float32       // two messages with a higher cosine mean the same
	age   time.Duration // after which an entry is forgotten

	mu     sync.Mutex
	set    *tool.Set // whose tools the entries are of
	recent *list.List
	byText map[string]*list.Element
}

// cachedMessage is one remembered message with what the search for it found.
type cachedMessage struct {
	text   string
	key    string    // its words that distinguish tools
	vector []float32 // of unit length; nil where it is not known
	found  *searchOutcome
	at     time.Time
}

// newCache returns a cache of at most `most` messages, none if that is less than one. A message is found again by its
// text, or by a vector whose cosine with its own is above `least`, until it is older than age.
func newCache(most int, least float64, age time.Duration) *messageCache {
	return &messageCache{
		most: most, least: float32(least), age: age, recent: list.New(), byText: map[string]*list.Element{},
	}
}

// lookupMessage returns the result for the same message or one that means the same, or nil. A different set empties the
// cache.
func (c *messageCache) lookupMessage(set *tool.Set, text, key string, v []float32) *searchOutcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != set {
		c.set = set
		c.recent.Init()
		clear(c.byText)
		return nil
	}
	e := c.byText[text]
	if e == nil && v != nil {
		e = c.nearestMessage(key, v)
	}
	if e == nil {
		return nil
	}
	one, _ := e.Value.(*cachedMessage)
	if time.Since(one.at) > c.age {
		c.evictMessage(e)
		return nil
	}
	c.recent.MoveToFront(e)
	return one.found
}

// nearestMessage returns the remembered message of the same key whose vector is nearest to v, or nil if none is near
// enough. The caller holds the lock.
func (c *messageCache) nearestMessage(key string, v []float32) *list.Element {
	var best *list.Element
	most := c.least
	for e := c.recent.Front(); e != nil; e = e.Next() {
		one, _ := e.Value.(*cachedMessage)
		if one.key != key || len(one.vector) != len(v) {
			continue
		}
		if like := vector.Dot(one.vector, v); like > most {
			best, most = e, like
		}
	}
	return best
}

// storeMessage remembers the result for a message, unless the set has changed meanwhile. It keeps v and f.
func (c *messageCache) storeMessage(set *tool.Set, text, key string, v []float32, f *searchOutcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most <= 0 || c.set != set {
		return
	}
	if old := c.byText[text]; old != nil {
		c.evictMessage(old)
	}
	c.byText[text] = c.recent.PushFront(&cachedMessage{text: text, key: key, vector: v, found: f, at: time.Now()})
	for c.recent.Len() > c.most {
		c.evictMessage(c.recent.Back())
	}
}

// evictMessage removes one message. The caller holds the lock.
func (c *messageCache) evictMessage(e *list.Element) {
	one, _ := c.recent.Remove(e).(*cachedMessage)
	delete(c.byText, one.text)
}
