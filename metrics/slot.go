package metrics

import (
	"strconv"
	"time"
)

// slot is a piece of time whose counts are stored together. Each count is in one slot of each kind.
type slot struct {
	kind byte
	at   int64 // which minute or hour since 1970
}

// The kinds of slots.
const (
	byMinute byte = 'm'
	byHour   byte = 'h'
	forever  byte = 'a'
)

// How many slots of a kind are kept, including the current one.
const (
	keptMinutes = 61
	keptHours   = 7*24 + 1
)

// minuteOf returns the minute since 1970.
func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// slotsOf returns the slots that a minute's counts belong to.
func slotsOf(minute int64) [3]slot {
	return [3]slot{{byMinute, minute}, {byHour, minute / 60}, {forever, 0}}
}

// storeKey returns the key under which the slot is stored.
func (s slot) storeKey() string { return string(s.kind) + strconv.FormatInt(s.at, 10) }

// parseSlot is the inverse of storeKey. It returns false for keys that storeKey does not return, so that each slot has
// one key.
func parseSlot(key string) (slot, bool) {
	if len(key) < 2 {
		return slot{}, false
	}
	at, err := strconv.ParseInt(key[1:], 10, 64)
	s := slot{key[0], at}
	known := s.kind == byMinute || s.kind == byHour || s.kind == forever
	return s, err == nil && known && s.storeKey() == key
}

// lastSecond is the last that JSON can express, at the end of the year 9999.
const lastSecond = 253402300799

// startTime returns when the slot begins, at most lastSecond.
func (s slot) startTime() time.Time {
	switch s.kind {
	case byMinute:
		return time.Unix(min(s.at, lastSecond/60)*60, 0).UTC()
	case byHour:
		return time.Unix(min(s.at, lastSecond/3600)*3600, 0).UTC()
	}
	return time.Time{}
}

// isOld reports whether no window reaches back to the slot, or it comes from a clock that was wrong.
func (s slot) isOld(minute int64) bool {
	switch s.kind {
	case byMinute:
		return s.at <= minute-keptMinutes || s.at > lastSecond/60
	case byHour:
		return s.at <= minute/60-keptHours || s.at > lastSecond/3600
	}
	return false
}
