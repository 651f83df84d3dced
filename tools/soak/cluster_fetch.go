package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// clients is how all requests are sent. Connections are kept, as those of clients are.
var clients = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512, MaxIdleConns: 2048}}

// fetch sends a request with a token and returns the status and the body.
func fetch(ctx context.Context, method, url, token string, body any) (int, []byte, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := clients.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	return res.StatusCode, b.Bytes(), err
}

// value reads one value of an answer of a replica.
func value(ctx context.Context, base, path, token string, of func(map[string]any) string) (string, error) {
	status, body, err := fetch(ctx, http.MethodGet, base+path, token, nil)
	if err != nil {
		return "", err
	}
	got := map[string]any{}
	if status != http.StatusNotFound && status != http.StatusForbidden { // a tool that is held is forbidden
		if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
			return "", fmt.Errorf("%s: status %d: %.200s", path, status, body)
		}
	}
	return of(got), nil
}

// send makes a change over HTTP by way of the balancer.
func (c *cluster) send(ctx context.Context, method, path, token string, body any) error {
	status, answer, err := fetch(ctx, method, c.base+path, token, body)
	switch {
	case err != nil:
		return err
	case status == http.StatusOK:
		return nil
	case status == http.StatusServiceUnavailable:
		return refused{fmt.Errorf("%.200s", answer)}
	default:
		return &refusal{status, string(answer)}
	}
}
