// Package web serves the control panel, a static application compiled into the binary.
//
// [Handler] answers the page at / and the files that it is made of below /panel/. They are HTML, one style sheet and
// JavaScript modules as they stand in the folder static: nothing builds them, and they load nothing from elsewhere. The
// page talks to the API of package httpapi, relative to its own address, and holds no data by itself, so that it may be
// served to anybody; where the API wants a token, the page asks for it and keeps it for as long as its tab is open.
//
// Every answer carries a Content-Security-Policy that allows this origin alone and no inline script.
package web
