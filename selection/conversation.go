package selection

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"tooldex/tool"
)

// The most that is remembered of conversations.
const (
	maxConversations = 10_000
	maxRemembered    = 60 // tools of each
)

// conversations remember which tools each conversation has. One that was idle for too long is removed at the next
// lookup, so no goroutine is needed. They are safe for concurrent use.
type conversations struct {
	idle time.Duration

	mu     sync.Mutex
	recent *list.List // of *conversation, the last used first
	byKey  map[conversationKey]*list.Element
	used   map[tool.ID]time.Time // time of the last call, over all conversations
}

// conversationKey identifies a conversation, or a task within it, which has tools of its own. task is "" for the whole.
type conversationKey struct{ session, task string }

// conversation is what is remembered of one conversation, or of one task within it.
type conversation struct {
	key   conversationKey
	last  time.Time
	tools []tool.ID             // in the order in which they came
	need  map[tool.ID]time.Time // when each was last needed
}

// newConversations returns an empty memory that forgets a conversation after it was idle for that long.
func newConversations(idle time.Duration) *conversations {
	return &conversations{
		idle: idle, recent: list.New(), byKey: map[conversationKey]*list.Element{},
		used: map[tool.ID]time.Time{},
	}
}

// toolsOf returns the tools that a conversation has, in the order in which they came; nil if it has none or is not
// named. The slice belongs to the caller.
func (c *conversations) toolsOf(key conversationKey) []tool.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeIdle()
	if e := c.byKey[key]; e != nil && key.session != "" {
		one, _ := e.Value.(*conversation)
		return slices.Clone(one.tools)
	}
	return nil
}

// updateTools adds the tools of this turn to a conversation, and notes which of them it needed. Using a task keeps the
// whole conversation alive.
func (c *conversations) updateTools(key conversationKey, tools []tool.ID, needed func(tool.ID) bool) {
	if key.session == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	e := c.byKey[key]
	if e == nil {
		e = c.recent.PushFront(&conversation{key: key, need: map[tool.ID]time.Time{}})
		c.byKey[key] = e
	}
	c.recent.MoveToFront(e)
	one, _ := e.Value.(*conversation)
	one.last = now
	if whole := c.byKey[conversationKey{session: key.session}]; whole != nil { // it lasts as long as its tasks
		of, _ := whole.Value.(*conversation)
		of.last = now
		c.recent.MoveToFront(whole)
	}
	for _, id := range tools {
		if needed(id) {
			one.need[id] = now
		}
	}
	one.tools = mergeTools(one.tools, tools, one.need)
	for id := range one.need {
		if !slices.Contains(one.tools, id) {
			delete(one.need, id)
		}
	}
	for len(c.byKey) > maxConversations {
		c.removeConversation(c.recent.Back())
	}
}

// mergeTools appends new tools to have, and drops those not needed for longest if there are more than maxRemembered.
// The order of the others stays. It may change have in place.
func mergeTools(have, now []tool.ID, need map[tool.ID]time.Time) []tool.ID {
	for _, id := range now {
		if !slices.Contains(have, id) {
			have = append(have, id)
		}
	}
	if len(have) <= maxRemembered {
		return have
	}
	byNeed := slices.Clone(have)
	slices.SortStableFunc(byNeed, func(a, b tool.ID) int { return need[b].Compare(need[a]) })
	kept := byNeed[:maxRemembered]
	return slices.DeleteFunc(have, func(id tool.ID) bool { return !slices.Contains(kept, id) })
}

// mostRecent returns tools sorted by when the conversation last needed them, the latest first.
func (c *conversations) mostRecent(key conversationKey, tools []tool.ID) []tool.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(tools)
	if e := c.byKey[key]; e != nil {
		one, _ := e.Value.(*conversation)
		slices.SortStableFunc(out, func(a, b tool.ID) int { return one.need[b].Compare(one.need[a]) })
	}
	return out
}

// recordCall records that a tool was called, for its conversation and for all, and removes calls that are too old.
func (c *conversations) recordCall(key conversationKey, id tool.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.used[id] = now
	if e := c.byKey[key]; e != nil {
		one, _ := e.Value.(*conversation)
		one.last, one.need[id] = now, now
		one.tools = mergeTools(one.tools, []tool.ID{id}, one.need)
		c.recent.MoveToFront(e)
	}
	for id, at := range c.used {
		if now.Sub(at) > c.idle {
			delete(c.used, id)
		}
	}
}

// recentlyCalled returns the tools that were called within the idle time, in any conversation.
func (c *conversations) recentlyCalled() map[tool.ID]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[tool.ID]bool, len(c.used))
	for id, at := range c.used {
		if time.Since(at) <= c.idle {
			out[id] = true
		}
	}
	return out
}

// removeIdle removes the conversations that were idle for too long. The caller holds the lock.
func (c *conversations) removeIdle() {
	for e := c.recent.Back(); e != nil; e = c.recent.Back() {
		one, _ := e.Value.(*conversation)
		if time.Since(one.last) <= c.idle {
			return
		}
		c.removeConversation(e)
	}
}

// removeConversation forgets one conversation. The caller holds the lock.
func (c *conversations) removeConversation(e *list.Element) {
	one, _ := c.recent.Remove(e).(*conversation)
	delete(c.byKey, one.key)
}
