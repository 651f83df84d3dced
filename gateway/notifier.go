package gateway

import "sync"

// maxMail is how many undelivered notifications a call may have. Beyond it the newest replaces the one before, so that
// a slow client still sees them in order and the last one.
const maxMail = 256

// notifier delivers what a server says during a call to the call's client: in order, on one goroutine, and without the
// server waiting for it.
type notifier struct {
	mu     sync.Mutex
	items  []func()
	closed bool
	wake   chan struct{}
	done   chan struct{}
}

func newNotifier() *notifier {
	m := &notifier{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go m.run()
	return m
}

// push leaves an item. One that comes after close is dropped.
func (m *notifier) push(deliver func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if len(m.items) == maxMail {
		m.items[maxMail-1] = deliver
	} else {
		m.items = append(m.items, deliver)
	}
	m.signal()
}

// close returns when the last item has been delivered.
func (m *notifier) close() {
	m.mu.Lock()
	m.closed = true
	m.signal()
	m.mu.Unlock()
	<-m.done
}

func (m *notifier) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *notifier) run() {
	defer close(m.done)
	for range m.wake {
		m.mu.Lock()
		items, closed := m.items, m.closed
		m.items = nil
		m.mu.Unlock()
		for _, deliver := range items {
			deliver()
		}
		if closed {
			return
		}
	}
}
