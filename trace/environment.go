package trace

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"tooldex/tool"
)

// settings are the values of the environment variables, with their defaults.
type settings struct {
	endpoint string            // full URL, with the path
	headers  map[string]string // sent with each batch; may hold secrets
	resource map[string]string // attributes of this program
	ratio    float64           // of traces that begin here
	parent   bool              // follow the client's decision if there is one
}

// FromEnvironment returns the Tracer that the standard variables ask for, or nil if they ask for none. It reads
// OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER (otlp or none), OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS and
// their forms for traces, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
// version is that of the program. Spans that cannot be sent are logged; log may be nil. The error, of code Invalid,
// names the variable that cannot be read. Close ends the Tracer.
func FromEnvironment(getenv func(string) string, version string, log *slog.Logger) (*Tracer, error) {
	s, on, err := readSettings(getenv, version)
	if err != nil || !on {
		return nil, err
	}
	return newTracer(s, log), nil
}

// readSettings reads the variables. on is false if they ask for no traces.
func readSettings(getenv func(string) string, version string) (s settings, on bool, err error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return s, false, nil
	}
	switch exporter := getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return s, false, nil
	default:
		return s, false, invalidSetting("OTEL_TRACES_EXPORTER", exporter, "use otlp or none")
	}
	s.endpoint = getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); s.endpoint == "" && base != "" {
		s.endpoint = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if s.endpoint == "" {
		return s, false, nil
	}
	if u, err := url.Parse(s.endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return s, false, invalidSetting("OTEL_EXPORTER_OTLP_ENDPOINT", s.endpoint,
			"use the address for HTTP, as http://localhost:4318")
	}
	headers := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	if s.headers, err = parsePairs("OTEL_EXPORTER_OTLP_HEADERS", headers); err != nil {
		return s, false, err
	}
	if s.resource, err = parsePairs("OTEL_RESOURCE_ATTRIBUTES", getenv("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return s, false, err
	}
	s.resource["service.name"] = cmp.Or(getenv("OTEL_SERVICE_NAME"), s.resource["service.name"], "tooldex")
	s.resource["service.version"] = cmp.Or(s.resource["service.version"], version)
	err = s.setSampler(cmp.Or(getenv("OTEL_TRACES_SAMPLER"), "parentbased_always_on"),
		getenv("OTEL_TRACES_SAMPLER_ARG"))
	return s, err == nil, err
}

// setSampler sets ratio and parent from a sampler's name and argument, as OpenTelemetry defines them.
func (s *settings) setSampler(name, arg string) error {
	kind, parent := strings.CutPrefix(name, "parentbased_")
	s.parent = parent
	switch kind {
	case "always_on":
		s.ratio = 1
	case "always_off":
		s.ratio = 0
	case "traceidratio":
		ratio, err := strconv.ParseFloat(cmp.Or(arg, "1"), 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			return invalidSetting("OTEL_TRACES_SAMPLER_ARG", arg, "use a number from 0 to 1")
		}
		s.ratio = ratio
	default:
		return invalidSetting("OTEL_TRACES_SAMPLER", name,
			"use always_on, always_off or traceidratio, with parentbased_ before it or not")
	}
	return nil
}

// parsePairs reads key=value pairs, separated by commas and escaped as in a URL. Its errors leave out the values, which
// may be secrets.
func parsePairs(variable, text string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, invalidSetting(variable, "…",
				"use key=value, separated by commas, with values escaped as in a URL")
		}
		out[key] = value
	}
	return out, nil
}

// invalidSetting returns an error that names a variable.
func invalidSetting(variable, value, hint string) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "read environment", Msg: fmt.Sprintf("%s is %.80q", variable, value),
		Hint: hint,
	}
}
