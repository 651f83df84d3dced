package search

import (
	_ "tooldex/embed"
	_ "tooldex/internal/faultfs"
)
