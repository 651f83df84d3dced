package search

import (
	_ "tooldex"
	_ "tooldex/embed"
	_ "tooldex/internal/faultfs"
)
