package platforms

// Any has what one platform has not.
func Any() int { return onlyUnix }
