#!/usr/bin/env bash
# Builds the Dockerfile with buildah and runs the program it makes, on a machine without a container engine.
#
# No registry is needed: in place of the image with Go, the build stage runs on busybox, with this machine's Go, module cache and
# build cache mounted. Everything else is the Dockerfile as it is. It checks
#   - that each instruction of both images runs, for this machine's platform;
#   - the size, the user, the entry point, the volume and the health check of the image;
#   - that the program in the image has the bits of the one that "make release" publishes;
#   - that the health check fails while nothing serves, and that serve refuses to start without a token;
#   - that the volume can be written to and /usr cannot; that search needs the token; that SIGTERM ends the program with status 0.
# It does not check the pinned base images, other platforms, a read-only root, and a separate network. deploy/smoke.sh checks these, but
# for other platforms, where there is an engine. Buildah's chroot isolation needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:-dev}

for program in buildah busybox curl; do
	command -v "$program" >/dev/null || { echo "image-check needs $program: apt-get install buildah busybox-static curl"; exit 1; }
done
work=$(mktemp -d)
served=
cleanup() {
	[ -z "$served" ] || kill "$served" 2>/dev/null || true
	"${buildah[@]}" rm -a >/dev/null 2>&1 || true
	"${buildah[@]}" rmi -a -f >/dev/null 2>&1 || true
	rm -rf "$work"
}
export BUILDAH_ISOLATION=chroot BUILDAH_FORMAT=docker # HEALTHCHECK is no part of the OCI format
buildah=(buildah --storage-driver vfs --root "$work/root" --runroot "$work/run")
trap cleanup EXIT
fail() { echo "image-check: $*" >&2; exit 1; }
passed() { echo "ok  $*"; }

base=$("${buildah[@]}" from scratch)
"${buildah[@]}" copy -q "$base" "$(command -v busybox)" /bin/busybox >/dev/null
"${buildah[@]}" copy -q "$base" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ >/dev/null
"${buildah[@]}" run "$base" -- /bin/busybox sh -c "busybox mkdir -m 1777 /tmp && busybox --install -s /bin"
"${buildah[@]}" config --env PATH=/usr/local/go/bin:/bin --env GOPATH=/go --env GOTOOLCHAIN=local "$base"
"${buildah[@]}" commit -q "$base" localhost/base >/dev/null

go mod download
go -C tools mod download
for target in with-node tooldex; do
	"${buildah[@]}" build --quiet --layers --pull-never --target "$target" -t "localhost/$target" \
		--build-arg BUILDER=localhost/base --build-arg NODE=localhost/base \
		--build-arg TARGETPLATFORM="linux/$(go env GOARCH)" --build-arg BUILDPLATFORM="linux/$(go env GOARCH)" \
		--build-arg VERSION="$version" --build-arg COMMIT=none --env GOPROXY=off \
		-v "$(go env GOROOT):/usr/local/go:ro" -v "$(go env GOMODCACHE):/go/pkg/mod:ro" \
		-v "$(go env GOCACHE):/root/.cache/go-build" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail "stage $target"; }
	passed "the Dockerfile builds stage $target"
done

image=$("${buildah[@]}" from --pull-never localhost/tooldex)
files=$("${buildah[@]}" mount "$image")
bytes=$(du -sb "$files" | cut -f1)
[ "$bytes" -lt 66000000 ] || fail "the image has $bytes bytes, want less than 66000000"
passed "the image has $bytes bytes"

config() { "${buildah[@]}" inspect --type image --format "{{.Docker.Config.$1}}" localhost/tooldex; }
while read -r key value; do
	[ "$(config "$key")" = "$value" ] || fail "$key is $(config "$key"), want $value"
done <<'EOF'
User 65532:65532
Entrypoint [/usr/local/bin/tooldex]
Cmd [serve --listen 0.0.0.0:8733]
Volumes map[/data:{}]
Healthcheck.Test [CMD /usr/local/bin/tooldex health]
EOF
passed "user, entry point, command, volume and health check"

${GO:-go} -C tools build -o "$work/release" ./release
SOURCE_DATE_EPOCH=0 "$work/release" binary -version "$version" -commit none -o "$work/tooldex"
cmp "$work/tooldex" "$files/usr/local/bin/tooldex" || fail "the program in the image has other bits than the published one"
for file in LICENSE NOTICE; do cmp "$file" "$files/usr/share/doc/tooldex/$file"; done
passed "the program has the bits of a release"

[ "$(stat -c %u:%g "$files/data")" = 65532:65532 ] || fail "/data belongs to $(stat -c %u:%g "$files/data")"
run() { "${buildah[@]}" run --cap-drop ALL --user 65532:65532 -v "$PWD/tools/testdata:/tmp/testdata:ro" "${env[@]}" "$image" -- /usr/local/bin/tooldex "$@"; }
# refuses STATUS ARGUMENTS: the program must end with that status.
refuses() {
	local status=0 want=$1
	shift
	run "$@" >"$work/said" 2>&1 || status=$?
	[ $status = "$want" ] || fail "tooldex $* ends with status $status, want $want: $(cat "$work/said")"
}
env=()
refuses 1 health
passed "the health check fails while nothing serves"
refuses 2 serve --listen 0.0.0.0:8733
passed "serve does not start without a token"

run import /tmp/testdata/notes.json >/dev/null
refuses 1 --data-dir /usr/elsewhere import /tmp/testdata/notes.json
passed "the volume can be written to, /usr cannot"

env=(--env TOOLDEX_TOKEN=image-check --env TZ=Asia/Tokyo)
run serve --listen 127.0.0.1:8733 >"$work/serve.log" 2>&1 &
served=$!
for _ in $(seq 60); do
	if run health >/dev/null 2>&1; then break; fi
	kill -0 "$served" 2>/dev/null || { cat "$work/serve.log"; fail "serve ended"; }
	sleep 1
done
run health >/dev/null || { cat "$work/serve.log"; fail "the health check fails while it serves"; }
passed "it serves and the health check passes"

pid=$(pgrep -n -f '^/usr/local/bin/tooldex serve --listen 127.0.0.1:8733')
grep -qE '^CapEff:\s+0+$' "/proc/$pid/status" || fail "the program has capabilities: $(grep CapEff "/proc/$pid/status")"
grep -qE '^Uid:\s+65532\s' "/proc/$pid/status" || fail "the program runs as $(grep Uid "/proc/$pid/status")"
passed "it runs as user 65532 without capabilities"
status() { curl -s -o "$work/answer" -w '%{http_code}' "$@" 'http://127.0.0.1:8733/search?q=write+something+down'; }
[ "$(status)" = 401 ] || fail "a search without a token is answered with $(status)"
[ "$(status -H 'Authorization: Bearer another')" = 401 ] || fail "a search with another token is answered"
[ "$(status -H 'Authorization: Bearer image-check')" = 200 ] || fail "a search with the token is refused"
grep -q add_note "$work/answer" || fail "the search does not find add_note: $(cat "$work/answer")"
passed "a search needs the token"
kill -TERM "$pid"
wait "$served" || fail "after SIGTERM it ends with status $?: $(cat "$work/serve.log")"
served=
passed "SIGTERM ends it with status 0"
