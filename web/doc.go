// Package web serves the control panel, a static application compiled into the binary.
//
// [Handler] answers the page at / and its files below /panel/. They are HTML, one style sheet and JavaScript modules,
// exactly as in the folder static: nothing builds them, and they load nothing from elsewhere. The page calls the API of
// package httpapi, relative to its own address. It holds no data itself, so it may be served to anybody; if the API
// requires a token, the page asks for it and keeps it as long as its tab is open.
//
// Every answer carries a Content-Security-Policy that allows only this origin and no inline script.
package web
