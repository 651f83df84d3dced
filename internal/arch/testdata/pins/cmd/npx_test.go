package cmd

var (
	loose  = []string{withNpx(), "@scope/loose"}
	ranged = "@scope/range@^1.0.0"
	joined = "@scope/" + loose[0] + "x"
	good   = []string{"@scope/good@1.2.3", "@scope/alpha@0.2.0-alpha.12", "@scope/" + loose[0] + serverVersion}
	table  = []struct{ pkg string }{
		{pkg: "also@1.2.3"},
		{pkg: "plain"},
	}
)

const serverVersion = "@1.2.3"
