#!/usr/bin/env bash
# Prints the measures of docs/code.md for the checkout in the current folder: shipped code without tests, tools and
# testdata.
set -euo pipefail
shipped() { git ls-files '*.go' | grep -v -e _test.go -e '^tools/' -e /testdata/; }
count() { awk '/^[ \t]*\/\//{c++;next} /^[ \t]*$/{next} {n++} END{printf "%.1f %% (%d of %d)\n", 100*c/n, c, n}'; }
echo "shipped lines: $(shipped | xargs cat | wc -l)"
echo "cmd/tooldex: $(ls cmd/tooldex/*.go | grep -v _test.go | xargs cat | wc -l)"
echo "comments to code: $(shipped | xargs cat | count)"
echo "lines over 120 columns: $(shipped | xargs cat | expand -t4 | LC_ALL=C.UTF-8 awk 'length($0)>120{c++} END{printf "%.2f %% (%d of %d)\n", 100*c/NR, c, NR}')"
echo "functions: $(shipped | xargs grep -hoE '^func (\([^)]*\) )?[A-Za-z0-9_]+' | sed -E 's/.* //' | awk '{l+=length($0); if ($0 !~ /[a-z][A-Z]/) one++} END{printf "names of %.1f letters, %.0f %% of one word\n", l/NR, 100*one/NR}')"
echo "reads of the environment outside config: $(shipped | grep -v '^config/' | xargs grep -lE '\bos\.(Getenv|LookupEnv|Environ)\b' | wc -l)"
