package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"tooldex/tool"
)

// Bounds of one request to the model.
const (
	answerTimeout = 5 * time.Minute  // a model on a processor without accelerator may need it for many tools
	maxAnswer     = 4 << 20          // bytes
	attempts      = 4                // where the service is busy
	longestPause  = 20 * time.Second // between attempts
)

// The parts of the chat completions API that are used.
type (
	chatRequest struct {
		Model    string            `json:"model"`
		Messages []chatMessage     `json:"messages"`
		Tools    []json.RawMessage `json:"tools,omitempty"`
	}
	chatMessage struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	chatAnswer struct {
		Choices []struct {
			Message struct {
				ToolCalls []chatCall `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	chatCall struct {
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
)

// calls returns the calls of the first choice.
func (c *chatAnswer) calls() []chatCall {
	if len(c.Choices) == 0 {
		return nil
	}
	return c.Choices[0].Message.ToolCalls
}

// busyError is the answer of a service that may answer later.
type busyError struct {
	status int
	pause  time.Duration // that it asks for; negative if it does not say
}

func (e *busyError) Error() string { return "status " + strconv.Itoa(e.status) }

// complete puts a request and its tools to the model. It tries again while the service is busy.
func (a *Agent) complete(ctx context.Context, text string, tools []json.RawMessage) (*chatAnswer, error) {
	body, err := json.Marshal(chatRequest{
		Model: a.o.Model, Tools: tools,
		Messages: []chatMessage{{Role: "system", Content: system}, {Role: "user", Content: text}},
	})
	if err != nil {
		return nil, fmt.Errorf("write chat request: %w", err)
	}
	for attempt := 1; ; attempt++ {
		answer, err := a.post(ctx, body)
		var busy *busyError
		if !errors.As(err, &busy) || attempt == attempts {
			return answer, a.explain(ctx, err)
		}
		pause := busy.pause
		if pause < 0 {
			pause = time.Second << (attempt - 1)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(min(pause, longestPause)):
		}
	}
}

// post sends one request. A *busyError means that a later attempt may succeed.
func (a *Agent) post(ctx context.Context, body []byte) (*chatAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if a.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+a.o.Key)
	}
	resp, err := a.o.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read: nothing can be lost
	switch {
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= http.StatusInternalServerError:
		busy := &busyError{resp.StatusCode, -1}
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds >= 0 { // or a date
			busy.pause = time.Duration(seconds) * time.Second
		}
		return nil, busy
	case resp.StatusCode != http.StatusOK:
		return nil, &statusError{resp.StatusCode}
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	var answer chatAnswer
	if len(b) > maxAnswer {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(b, &answer); err != nil || len(answer.Choices) == 0 {
		return nil, errors.New("the answer is not one of the chat completions API")
	}
	return &answer, nil
}

// statusError is an answer that another attempt would not change.
type statusError struct{ status int }

func (e *statusError) Error() string { return "status " + strconv.Itoa(e.status) }

// explain turns an error into one that names the model and what to do. It never quotes what the service answered, which
// may repeat the key.
func (a *Agent) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := &tool.Error{
		Code: tool.Unavailable, Op: "ask model", Msg: "the model " + a.o.Model + " does not answer", Err: err,
		Hint: "check that the service runs, and its address: OLLAMA_HOST or OPENAI_BASE_URL",
	}
	var status *statusError
	if errors.As(err, &status) {
		switch status.status {
		case http.StatusUnauthorized, http.StatusForbidden:
			e.Code, e.Msg = tool.Denied, "the service of the model "+a.o.Model+" refuses the key"
			e.Hint = "set OPENAI_API_KEY"
		case http.StatusNotFound:
			e.Code, e.Msg = tool.NotFound, "the service has no model "+a.o.Model
			e.Hint = "check the name; for Ollama: ollama pull " + a.o.Model
		case http.StatusBadRequest:
			e.Code, e.Msg = tool.Invalid, "the model "+a.o.Model+" refuses the request"
			e.Hint = "choose a model that can call tools"
		}
	}
	return e
}
