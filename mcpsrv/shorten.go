package mcpsrv

import (
	"encoding/json"
	"slices"
	"strings"

	"tooldex/internal/orderedjson"
)

// shorten returns a JSON value of the same form within about most bytes: its lists and texts end early, and long
// members of an object share what the short ones leave. Numbers and keys stay, so that the result may be somewhat
// longer.
func shorten(raw json.RawMessage, most int) json.RawMessage {
	if len(raw) <= most {
		return raw
	}
	switch orderedjson.Kind(raw) {
	case "string":
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return raw
		}
		for size := most - 2; ; size /= 2 { // escapes need more bytes than their characters
			if out := orderedjson.Encode(strings.ToValidUTF8(cutText(text, max(size, 0)), "")); len(out) <= max(most, 2) || size <= 0 {
				return out
			}
		}
	case "array":
		return shortenList(raw, most)
	case "object":
		return shortenObject(raw, most)
	}
	return raw
}

// shortenList keeps the first items that fit, and shortens the first one if it alone is too long.
func shortenList(raw json.RawMessage, most int) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || len(items) == 0 {
		return raw
	}
	const brackets = 2
	size, n := brackets, 0
	for n < len(items) && size+len(items[n])+1 <= most {
		size += len(items[n]) + 1
		n++
	}
	if n == 0 {
		items[0], n = shorten(items[0], most-brackets), 1
	}
	return joinArray(items[:n])
}

// shortenObject gives each member an equal share of most, and what short members leave to the longer ones.
func shortenObject(raw json.RawMessage, most int) json.RawMessage {
	o, err := orderedjson.ParseObject(raw)
	if err != nil || len(o) == 0 {
		return raw
	}
	left := most
	for _, m := range o {
		const quotes = 4 // and a colon and a comma
		left -= len(m.Key) + quotes
	}
	byLength := slices.Clone(o)
	slices.SortStableFunc(byLength, func(a, b orderedjson.Member[json.RawMessage]) int { return len(a.Value) - len(b.Value) })
	for i, m := range byLength {
		value := shorten(m.Value, max(left, 0)/(len(byLength)-i))
		left -= len(value)
		o = o.With(m.Key, value)
	}
	return o.Bytes()
}
