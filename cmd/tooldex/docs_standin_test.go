package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// packageMain is a server in the place of one from npm, as documents name them: it has the tools that they call, and
// reads and writes real files. Its arguments are those of npx.
func packageMain() {
	s := mcp.NewServer(&mcp.Implementation{Name: "package", Version: "1"}, nil)
	switch name := strings.Join(os.Args[1:], " "); {
	case strings.Contains(name, "server-filesystem"):
		mcp.AddTool(s, &mcp.Tool{
			Name: "read_text_file", Description: "Read the complete contents of a file as text.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		}, showFile)
		mcp.AddTool(s, &mcp.Tool{Name: "write_file", Description: "Create a new file or overwrite an existing one."},
			saveFile)
		mcp.AddTool(s, &mcp.Tool{
			Name: "list_directory", Description: "List the files and folders in a folder.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		}, showFile)
	case strings.Contains(name, "server-memory"):
		mcp.AddTool(s, &mcp.Tool{Name: "create_entities", Description: "Remember new people, places or things."},
			remember)
		mcp.AddTool(s, &mcp.Tool{
			Name: "search_nodes", Description: "Find what is remembered by words.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		}, shout)
	default:
		s = newUpstream()
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
	}
}

type fileArgs struct {
	Path    string `json:"path" jsonschema:"the file"`
	Content string `json:"content,omitempty" jsonschema:"what to write"`
	Head    int    `json:"head,omitempty" jsonschema:"only so many lines"`
}

func showFile(_ context.Context, _ *mcp.CallToolRequest, a fileArgs) (*mcp.CallToolResult, any, error) {
	b, err := os.ReadFile(a.Path)
	return text(string(b)), nil, err
}

func saveFile(_ context.Context, _ *mcp.CallToolRequest, a fileArgs) (*mcp.CallToolResult, any, error) {
	return text("written"), nil, os.WriteFile(a.Path, []byte(a.Content), 0o600)
}

func remember(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
	return text("remembered"), nil, nil
}

// docModels speaks what documents ask of Ollama and of a service with OpenAI's API: embeddings, and utterances for a
// tool. It has every model.
func docModels(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Model    string
		Input    any
		Messages []struct{ Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&ask)
	inputs := 1
	if list, ok := ask.Input.([]any); ok {
		inputs = len(list)
	}
	answer := map[string]any{"model": ask.Model}
	switch r.URL.Path {
	case "/api/tags":
		var models []map[string]any
		for _, name := range []string{"nomic-embed-text", "llama3.2", "embeddinggemma", "qwen3-embedding"} {
			models = append(models, map[string]any{
				"name": name + ":latest", "model": name + ":latest",
				"digest": "abc123",
			})
		}
		answer["models"] = models
	case "/api/embed":
		vectors := make([][]float64, inputs)
		for i := range vectors {
			vectors[i] = []float64{1, float64(i + 1), .5}
		}
		answer["embeddings"] = vectors
	case "/v1/embeddings":
		data := make([]map[string]any, inputs)
		for i := range data {
			data[i] = map[string]any{"index": i, "embedding": []float64{1, float64(i + 1), .5}}
		}
		answer["data"] = data
	case "/v0.1/servers": // a registry of servers, which is at the same address
		answer["servers"] = []any{map[string]any{"server": map[string]any{
			"name": "io.example/weather", "description": "Forecasts", "version": "1.0.0",
			"remotes": []any{map[string]any{"type": "streamable-http", "url": "https://weather.example/mcp"}},
		}}}
	case "/api/chat":
		of := "x/y"
		for _, m := range ask.Messages {
			if found := regexp.MustCompile(`[\w-]+/[\w-]+`).FindString(m.Content); found != "" {
				of = found
			}
		}
		content, _ := json.Marshal(map[string]any{"tool": of, "utterances": []string{
			"polish my doodad until it hums",
			"the doodad squeaks at night",
		}, "synonyms": []string{"doodad"}})
		answer["message"], answer["done"] = map[string]string{"role": "assistant", "content": string(content)}, true
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
