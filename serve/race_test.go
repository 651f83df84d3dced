//go:build race

package serve

// raceEnabled tells whether the tests run under the race detector.
const raceEnabled = true
