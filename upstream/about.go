package upstream

// About is what a server says of itself when a client connects. It is text of the server: hostile until it is cleaned
// and scanned.
type About struct {
	Title        string `json:"title,omitempty"`
	Description  string `json:"description,omitempty"`
	Instructions string `json:"instructions,omitempty"` // for models, about how its tools are used
}
