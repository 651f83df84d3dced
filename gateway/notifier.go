package gateway

import "sync"

// maxMail bounds the undelivered notifications of a call. Beyond it the newest replaces the one before, so that a slow
// client still gets them in order, and the last one.
const maxMail = 256

// maxNotice bounds the text of a message that a server sends during a call, and maxMailBytes those of all that are
// undelivered, which count as maxMail then.
const (
	maxNotice    = 16 << 10
	maxMailBytes = 256 << 10
)

// notifier delivers the server's messages during a call to the call's client: in order, on one goroutine, and without
// blocking the server. newNotifier starts the goroutine, close ends it.
type notifier struct {
	mu     sync.Mutex
	items  []func() // waiting for delivery, oldest first; at most maxMail
	bytes  int      // of the texts of all items but the last
	last   int      // of the last
	closed bool
	wake   chan struct{} // has room for one signal, so that none is lost
	done   chan struct{} // closed when run has returned
}

func newNotifier() *notifier {
	m := &notifier{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go m.run()
	return m
}

// pushItem adds an item, whose text has size bytes, and returns at once. After close it does nothing.
func (m *notifier) pushItem(size int, deliver func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if n := len(m.items); n == maxMail || n > 0 && m.bytes+m.last+size > maxMailBytes {
		m.items[n-1] = deliver
	} else {
		m.items = append(m.items, deliver)
		m.bytes += m.last
	}
	m.last = size
	m.wakeRunner()
}

// close returns when the last item has been delivered. It must be called once.
func (m *notifier) close() {
	m.mu.Lock()
	m.closed = true
	m.wakeRunner()
	m.mu.Unlock()
	<-m.done
}

// wakeRunner wakes run. m.mu is held.
func (m *notifier) wakeRunner() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run delivers items in their order until close was called and none is left.
func (m *notifier) run() {
	defer close(m.done)
	for range m.wake {
		m.mu.Lock()
		// Items are delivered without the lock, so that pushItem does not wait for the client.
		items, closed := m.items, m.closed
		m.items, m.bytes, m.last = nil, 0, 0
		m.mu.Unlock()
		for _, deliver := range items {
			deliver()
		}
		if closed {
			return
		}
	}
}
