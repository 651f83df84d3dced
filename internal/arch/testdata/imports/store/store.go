package store

import _ "tooldex/tool"
