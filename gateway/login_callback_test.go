package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestAnswersOfOthersDoNotEndALogin has somebody who guessed the port answer before the browser does.
func TestAnswersOfOthersDoNotEndALogin(t *testing.T) {
	c, err := listenForCode()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	get := func(address, host string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := get(c.url+"?code=early", ""); got != http.StatusBadRequest {
		t.Errorf("before the login was begun: %d", got)
	}
	c.expect("https://login.example/authorize?state=right&redirect_uri=" + url.QueryEscape(c.url))
	for _, query := range []string{"?code=x&state=wrong", "?code=x", "?error=access_denied", "?error=x&state=wrong"} {
		if got := get(c.url+query, ""); got != http.StatusBadRequest {
			t.Errorf("%s: %d", query, got)
		}
	}
	if got := get(c.url+"?code=x&state=right", "evil.example"); got != http.StatusBadRequest {
		t.Errorf("for another host: %d", got)
	}
	if got := get(c.url+"?code=good&state=right", ""); got != http.StatusOK {
		t.Errorf("the answer: %d", got)
	}
	res, err := c.waitForCode(context.Background())
	if err != nil || res.Get("code") != "good" || !strings.HasPrefix(c.url, "http://127.0.0.1:") {
		t.Errorf("%+v, %v", res, err)
	}
}
