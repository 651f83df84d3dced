#!/usr/bin/env bash
# Makes docs/deaths.md of the logs that "make soak" leaves: go test -v, below a line that names the commit and the day.
set -euo pipefail
echo "# Deaths, spoiled disks, and four processes at once"
echo
echo "Written by \`make soak\`. Each test kills the built command, or has an operation on its files fail, and wants what was acknowledged to be there, the rest to be"
echo "wholly absent, and \`tooldex doctor\` and \`tooldex index verify\` to find no fault; or has four processes share one data directory, and counts."
for log in "$@"; do
	echo
	head -n 1 "$log"
	echo
	echo '```text'
	grep -E '^ +[a-z_]+_test\.go:[0-9]+: .*(killed|stored|spoiled|lost|searches|calls)|^--- (PASS|FAIL): Test' "$log" | sed -E 's/^ +[a-z_]+_test\.go:[0-9]+: /    /' || true
	tail -n 1 "$log"
	echo '```'
done
