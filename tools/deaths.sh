#!/usr/bin/env bash
# Writes docs/deaths.md from the logs of "make soak": go test -v, below a line with the commit and the date.
set -euo pipefail
echo "# Killed processes, failing disks, and four processes at once"
echo
echo "Written by \`make soak\`. Each test kills the built command, or makes an operation on its files fail, and checks that every"
echo "acknowledged write is there, every other write is absent as a whole, and \`tooldex doctor\` and \`tooldex index verify\` find no"
echo "fault. One test has four processes share a data directory, and counts their work. Another makes random changes to a store"
echo "and to a model of it in memory, with deaths and losses of power between, and compares them."
for log in "$@"; do
	echo
	head -n 1 "$log"
	echo
	echo '```text'
	grep -E '^ +[a-z_]+_test\.go:[0-9]+: .*(killed|stored|spoiled|lost|searches|calls|runs)|^--- (PASS|FAIL): Test' "$log" | sed -E 's/^ +[a-z_]+_test\.go:[0-9]+: /    /' || true
	tail -n 1 "$log"
	echo '```'
done
