#!/usr/bin/env bash
# Builds and runs what `viewlog example dockerfile` and `compose` print: with buildah, podman-compose
# and runc, on a base made by debootstrap. As root, on Debian with the network:
#   apt-get install buildah debootstrap podman runc && pip install podman-compose
#   npm run compile && test/real/container.sh
set -euo pipefail
dist=$(realpath "$(dirname "$0")/../../dist")
work=$(mktemp -d /var/tmp/viewlog-container-XXXX)
data="$work/data"
node=$(realpath "$(command -v node)")
ulimit -n "$(ulimit -Hn)"
# A machine without systemd has no timers for health checks, and runc raises no limits there.
limits="--ulimit nofile=$(ulimit -Hn):$(ulimit -Hn) --ulimit nproc=1000:1000"
as_docker="$limits --no-healthcheck --read-only-tmpfs=false"
store=(--storage-driver vfs --root "$work/storage" --runroot "$work/run")
cat > "$work/podman" <<END
#!/bin/bash
exec /usr/bin/podman ${store[@]} --runtime runc --cgroup-manager cgroupfs "\$@"
END
chmod +x "$work/podman"
podman() { "$work/podman" "$@"; }
compose() { podman-compose --podman-path "$work/podman" --podman-run-args="$as_docker" "$@" 2>&1; }
finish() { (cd "$work/image" && compose down || true) >/dev/null; rm -rf "$work"; }
trap finish EXIT

base() {
  debootstrap --variant=minbase --include=libstdc++6,libatomic1 bookworm "$work/root" > "$work/log"
  install "$node" "$work/root/usr/local/bin/node"
  local container; container=$(buildah "${store[@]}" from scratch)
  buildah "${store[@]}" add -q "$container" "$work/root" / > /dev/null
  buildah "${store[@]}" commit -q "$container" localhost/base > /dev/null
}

# As the files' own heads say; $@ is how this viewlog is started.
build() {
  rm -rf "$work/image" && mkdir "$work/image" && cd "$work/image"
  "$@" example dockerfile --data "$data" > Dockerfile
  "$@" example compose --data "$data" > compose.yaml
  sed -n 's/^#   \(cp\|printf\)/\1/p' Dockerfile | sh -e
  sed -n 's/^#   \(openssl .*\)sudo \(.*\)/\1\2/p' compose.yaml | sh -e
  buildah "${store[@]}" build --isolation chroot --format docker --from localhost/base \
    --tag localhost/image_viewlog . > "$work/log" 2>&1
  [[ $(ls -A) == *.dockerignore* && -s $data/status-token ]]
  buildah "${store[@]}" inspect --type image localhost/image_viewlog |
    jq -e '.Docker.config.Healthcheck.Test[3] | contains("readyz")'
}

post() {
  curl -s --max-time 3 http://127.0.0.1:8080/view -H 'Content-Type: application/json' \
    -d '{"p":"1000001","pid":"x","url":"/","ld":"2026-01-31T12:00:00.000Z"}'
}
ready() {
  for _ in $(seq 200); do
    if curl -sf --max-time 1 http://127.0.0.1:8081/readyz > /dev/null; then return; fi
    sleep 0.1
  done
  podman logs image_viewlog_1 && exit 1
}
health() {
  local check; check=$(sed -n 's/^HEALTHCHECK.* CMD //p' Dockerfile | jq -r '.[2]')
  podman exec image_viewlog_1 bash -c "$check" && echo healthy
}

run() {
  compose up -d --no-build > "$work/log" || { cat "$work/log"; exit 1; }
  ready && health
  podman exec image_viewlog_1 bash -c 'grep -E "Cap(Eff|Bnd)|NoNewPrivs" /proc/1/status; id -u
    ! touch /x /tmp/x /usr/local/bin/viewlog 2>/dev/null && echo read-only; viewlog check'
  # Under load it is killed, and started again: what was answered is there.
  : > "$work/ids"
  for _ in $(seq 4); do (for _ in $(seq 150); do post; echo; done >> "$work/ids") & done
  sleep 0.5
  podman kill -s KILL image_viewlog_1 > /dev/null && podman start image_viewlog_1 > /dev/null
  ready && wait
  time podman stop -t 15 image_viewlog_1 > /dev/null
  echo "exit $(podman inspect image_viewlog_1 --format '{{.State.ExitCode}}')"
  grep -oE '[0-9a-f-]{36}' "$work/ids" | sort -u > "$work/answered"
  cat "$data"/views-*.ndjson | grep -oE '"id":"[0-9a-f-]{36}' | cut -c7- | sort -u > "$work/stored"
  echo "$(wc -l < "$work/answered") answered, $(comm -23 "$work/answered" "$work/stored" | wc -l) of them lost"
  [[ -s "$work/answered" && -z $(comm -23 "$work/answered" "$work/stored") ]]
  compose down > /dev/null
}

install -d -o 1234 -g 1235 -m 750 "$data"
"$dist/viewlog" activate 1000001 --data "$data" > /dev/null 2>&1
sed -i 's/6000/600000/' "$data/projects.json"
base
for program in "$node $dist/viewlog.mjs" "$dist/viewlog"; do
  echo "== $program"
  build $program
  run
done
echo 'The container works'
