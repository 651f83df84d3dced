package confirm

// Unconfirmed is in the chain of errors, of code Denied, that refuse a call because no person confirmed it. It says why
// not.
type Unconfirmed string

// Why a call was not confirmed.
const (
	Unasked    Unconfirmed = "unasked"    // the client cannot be asked, and did not confirm by itself
	Declined   Unconfirmed = "declined"   // the answer was no
	Dismissed  Unconfirmed = "dismissed"  // the question was closed without an answer
	Unanswered Unconfirmed = "unanswered" // no answer came in time, or none that can be read
)

// Error returns the reason.
func (u Unconfirmed) Error() string { return "the call is not confirmed: " + string(u) }
