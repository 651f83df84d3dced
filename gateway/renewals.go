package gateway

import "sync"

// renewalLocks has a lock for each user's login that is in use now: one renews its token at a time, since two that do
// may end the login. The zero value is ready for use.
type renewalLocks struct {
	mu  sync.Mutex
	all map[userKey]*renewalLock
}

// renewalLock is the lock of one login. Users counts who holds it or waits for it.
type renewalLock struct {
	sync.Mutex
	users int
}

// of returns the lock of a login. It takes no memory while nobody holds it.
func (r *renewalLocks) of(key userKey) sync.Locker { return keyedLock{r, key} }

// keyedLock is a lock of renewalLocks, which it makes when it is needed.
type keyedLock struct {
	of  *renewalLocks
	key userKey
}

// Lock implements sync.Locker.
func (l keyedLock) Lock() {
	l.of.mu.Lock()
	one := l.of.all[l.key]
	if one == nil {
		one = &renewalLock{}
		if l.of.all == nil {
			l.of.all = map[userKey]*renewalLock{}
		}
		l.of.all[l.key] = one
	}
	one.users++
	l.of.mu.Unlock()
	one.Lock()
}

// Unlock implements sync.Locker.
func (l keyedLock) Unlock() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	one := l.of.all[l.key]
	one.Unlock()
	if one.users--; one.users == 0 {
		delete(l.of.all, l.key)
	}
}
