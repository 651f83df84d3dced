#!/bin/sh
# Runs an image as deploy/compose.yaml does and checks its answers; needs a container engine. Usage: smoke.sh IMAGE
set -eu
image=${1:?usage: smoke.sh IMAGE}
docker=${DOCKER:-docker}
name=tooldex-smoke-$$
trap '$docker rm -f "$name" >/dev/null 2>&1 || true' EXIT

size=$($docker image inspect --format '{{.Size}}' "$image")
[ "$size" -lt 66000000 ] || { echo "$image has $size bytes, want less than 66000000"; exit 1; }

$docker run -d --name "$name" --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
	-e TOOLDEX_TOKEN=smoke-0123456789abcdef-only -p 127.0.0.1::8733 "$image" >/dev/null
tries=0
until $docker exec "$name" /usr/local/bin/tooldex health; do
	tries=$((tries + 1))
	[ $tries -lt 20 ] || { $docker logs "$name"; exit 1; }
	sleep 1
done
address=$($docker port "$name" 8733 | head -n 1)
status() { curl -s -o /dev/null -w '%{http_code}' "$@" "http://$address/search?q=read+a+file"; }
[ "$(status)" = 401 ] || { echo "it answers without a token"; exit 1; }
[ "$(status -H 'Authorization: Bearer smoke-0123456789abcdef-only')" = 200 ] || { echo "it does not answer with the token"; exit 1; }
$docker stop -t 15 "$name" >/dev/null
[ "$($docker inspect --format '{{.State.ExitCode}}' "$name")" = 0 ] || { echo "it does not stop with status 0"; exit 1; }
echo "$image: $size bytes, ok"
