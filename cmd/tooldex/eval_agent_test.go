package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tooldex/eval"
)

// firstOffered is a chat model behind the chat completions API that calls the first tool it is offered.
func firstOffered(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	message := map[string]any{"role": "assistant", "content": "There is no tool for this."}
	if len(asked.Tools) > 0 {
		message["tool_calls"] = []any{map[string]any{"function": map[string]string{
			"name": asked.Tools[0].Function.Name, "arguments": "{}",
		}}}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that has gone fails its own test
		"choices": []any{map[string]any{"message": message}}, "usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 2},
	})
}

// A model that takes the first tool it is given is right wherever the selection begins with the right one.
func TestEvalAgent(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(firstOffered))
	defer web.Close()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), builtCommand(t), append([]string{"eval", "--sample", "20"}, args...)...)
		cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+t.TempDir(), "OLLAMA_HOST="+web.URL)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("--agent", "ollama:first", "--cases", "-o", "json")
	if err != nil {
		t.Fatal(out, err)
	}
	var r eval.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Agent == nil || r.Agent.Calls == 0 || r.Agent.Offered < r.Agent.Calls || r.Agent.PromptTokens != 200 || r.Mode != "" {
		t.Errorf("%+v, mode %q", r.Agent, r.Mode)
	}
	if got := r.All.Scores["hit@1"]; got < .5 || r.All.Scores["hit@10"] != got {
		t.Errorf("hit@1 %v, hit@10 %v: one tool is called for each request", got, r.All.Scores["hit@10"])
	}
	if out, err := run("--agent", "ollama:first"); err != nil || !strings.Contains(out, "agent   ollama:first called ") {
		t.Error(out, err)
	}
	for _, wrong := range []string{"claude", "openai:", "http://x"} {
		if out, err := run("--agent", wrong); err == nil || !strings.Contains(out, "hint: ") {
			t.Errorf("--agent %s: %s, %v", wrong, out, err)
		}
	}
}
