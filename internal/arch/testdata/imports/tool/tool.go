package tool

import _ "tooldex/store"
