package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"

	"tooldex/internal/sanitize"
)

// print writes v to stdout as JSON or YAML, or calls table with stdout. table may be nil for the other formats only.
func (a *app) print(v any, table func(io.Writer) error) error {
	switch a.format {
	case "json":
		return writeJSON(a.stdout, v)
	case "yaml":
		return writeYAML(a.stdout, v)
	}
	return table(a.stdout)
}

// writeJSON writes v with escapes for what a terminal would obey, which stands in texts of servers.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, sanitize.EscapeObeyed(b.String()))
	return err
}

// writeYAML converts v by way of JSON, so that both formats have the same names in the same order.
func writeYAML(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	node, err := yamlNode(dec)
	if err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(node), enc.Close()); err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	_, err = io.WriteString(w, sanitize.EscapeObeyed(out.String()))
	return err
}

// yamlNode reads the next JSON value. Members keep their order and numbers their digits, which a map and a float64
// would not preserve. The decoder must use json.Number.
func yamlNode(dec *json.Decoder) (*yaml.Node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{}
	switch v := token.(type) {
	case json.Number:
		node.Kind, node.Value = yaml.ScalarNode, v.String()
		return node, nil
	case json.Delim:
		node.Kind = yaml.SequenceNode
		if v == '{' {
			node.Kind = yaml.MappingNode
		}
		for dec.More() { // keys and values of an object alternate
			child, err := yamlNode(dec)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
		_, err := dec.Token()
		return node, err
	case string:
		if strings.IndexFunc(v, sanitize.IsObeyed) >= 0 { // escapes need quotation marks
			node.Kind, node.Tag, node.Value, node.Style = yaml.ScalarNode, "!!str", v, yaml.DoubleQuotedStyle
			return node, nil
		}
	}
	return node, node.Encode(token)
}

// writeColumns writes rows under an optional heading, aligned. Cells are made printable and put on one line, since
// names and texts come from servers.
func writeColumns(w io.Writer, heading []string, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	if len(heading) > 0 {
		fmt.Fprintln(tw, strings.Join(heading, "\t"))
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = strings.ReplaceAll(makePrintable(c), "\n", " ")
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// printing returns a table for print that is a text of many lines.
func printing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, makePrintable(text))
		return err
	}
}

// makePrintable drops what a terminal would obey.
func makePrintable(s string) string { return sanitize.Printable(s) }
