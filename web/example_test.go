package web_test

import (
	"fmt"
	"net/http/httptest"

	"tooldex/web"
)

func Example() {
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
