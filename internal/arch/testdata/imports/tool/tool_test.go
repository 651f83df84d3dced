package tool

import _ "tooldex/store" // tests may
