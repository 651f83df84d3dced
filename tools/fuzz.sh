#!/usr/bin/env bash
# Runs every fuzz target of our modules, or those whose names match $ONLY, for $FUZZTIME each, $JOBS at a time.
# The first failure ends the run and leaves its input in the package's testdata/fuzz. KEEP=n also keeps the n smallest inputs
# that reached new code, for every run of "go test".
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go} FUZZTIME=${FUZZTIME:-10s} JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)} ONLY=${ONLY:-.} KEEP=${KEEP:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work FUZZTIME KEEP cache="$($GO env GOCACHE)/fuzz"

# Compile each package once for all of its targets; go test would compile it for each. Compilers that collect less garbage, and no
# information for debuggers, save a quarter of the time.
grep -rlE '^func Fuzz[A-Z0-9_]' --include='*_test.go' . | grep -v /testdata/ | xargs -n1 dirname | sort -u | while read -r dir; do
	names=$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | cut -d' ' -f2 | grep -E "$ONLY") || continue
	binary="$work/$(tr / _ <<<"${dir#./}").test"
	(cd "$dir" && GOGC=400 $GO test -c -fuzz=. -ldflags='-s -w' -o "$binary" .) # a folder may be in another module
	for name in $names; do echo "$binary $dir $name"; done
done >"$work/targets"

one() {
	local binary=$1 dir=$2 name=$3 try
	local log="$work/${dir//\//_}.$name.log" kept="$cache/$(cd "$dir" && ${GO:-go} list .)"
	for try in 1 2 3; do
		if (cd "$dir" && "$binary" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$FUZZTIME" -test.fuzzcachedir "$kept" -test.parallel 1) >"$log" 2>&1 </dev/null; then
			echo "fuzz $dir $name: $(grep -o 'execs: [0-9]*' "$log" | tail -1)"
			if [ "$KEEP" -gt 0 ] && [ -d "$kept/$name" ]; then
				mkdir -p "$dir/testdata/fuzz/$name"
				find "$kept/$name" -type f -size -2k -printf '%s %p\n' | sort -n | head -n "$KEEP" | cut -d' ' -f2- | xargs -r cp -n -t "$dir/testdata/fuzz/$name"
				rmdir --ignore-fail-on-non-empty "$dir/testdata/fuzz/$name"
			fi
			return 0
		fi
		# Go's fuzzer sometimes reports the end of its time as a failure, without a failing input.
		if ! grep -q 'context deadline exceeded' "$log" || grep -q 'Failing input' "$log"; then break; fi
	done
	echo "fuzz $dir $name: FAILED"
	cat "$log"
	return 255 # which ends xargs
}
export -f one
xargs -P "$JOBS" -L 1 bash -c 'one "$@"' _ <"$work/targets"
