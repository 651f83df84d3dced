package faultfs

import _ "tooldex/tool"
