package tool

func Undocumented() {}

// Type is documented, its method is not.
type Type struct{}

func (Type) Method() {}

// Iface has two methods.
type Iface interface {
	Commented() // like this
	Field()
}

var (
	Bare = 1
	Told = 2 // here
)

type hidden struct{}

func (hidden) Exported() {}
