#!/usr/bin/env bash
# Boots systemd and has systemd run the unit that `viewlog example systemd` prints, in separate
# namespaces, on a copy of this machine's files in memory. Needs root, systemd and curl.
# RUNTIME=PROGRAM: another Node, Deno, Bun, or dist/viewlog itself.
set -euo pipefail
dist=$(realpath "$(dirname "$0")/../../../dist")
work=$(mktemp -d /tmp/viewlog-systemd-XXXX)
root=$work/root
mount -t tmpfs viewlog-test "$work"
mkdir "$root" "$work/upper" "$work/work"
mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" viewlog-test "$root"
own=/sys/fs/cgroup/systemd/viewlog-test
[[ -d /sys/fs/cgroup/systemd ]] || own=/sys/fs/cgroup/viewlog-test
init=
finish() {
  rm -f "$work/load"
  [[ -z $init ]] || { kill -KILL "$init" && sleep 1; } || true
  rmdir "$own" 2> /dev/null || true
  umount --lazy "$root" "$work"
  rmdir "$work"
}
trap finish EXIT

boot() {
  mkdir -p "$own"
  cat > "$work/boot" <<'END'
set -e
echo $$ > "$2/cgroup.procs"
exec unshare --fork --pid --mount --uts --ipc --net --cgroup --propagation private bash -ec '
  mount --bind "$1" "$1" && cd "$1"
  mount -t proc proc proc && mount -t sysfs -o ro sysfs sys
  if [[ $2 == /sys/fs/cgroup/systemd/* ]]; then
    mount -t tmpfs tmpfs sys/fs/cgroup && mkdir sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
  else
    mount -t cgroup2 cgroup2 sys/fs/cgroup
  fi
  mount -t tmpfs -o mode=755 tmpfs dev && mkdir dev/pts dev/shm && mount -t devpts -o ptmxmode=666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx && mknod -m 666 dev/tty c 5 0
  for node in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do mknod -m 666 dev/${node% *} c 1 ${node#* }; done
  mount -t tmpfs tmpfs run && mount -t tmpfs tmpfs tmp
  mkdir -p old && pivot_root . old && umount -l old
  exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=basic.target
' boot "$1" "$2"
END
  bash "$work/boot" "$root" "$own" > "$work/log" 2>&1 &
  until init=$(pgrep -P $!); do sleep 0.1; done
  until inside systemctl is-system-running 2> /dev/null | grep -E 'running|degraded'; do sleep 0.5; done
}
inside() { nsenter --target "$init" --all --wdns=/ env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

post() {
  inside curl -s --max-time 5 http://127.0.0.1:8080/view -H 'Content-Type: application/json' \
    -d '{"p":"1000001","pid":"x","url":"/","ld":"2026-01-31T12:00:00.000Z"}'
}
ready() {
  timeout 60 bash -c 'until inside curl -sf http://127.0.0.1:8081/readyz > /dev/null; do sleep 0.1; done' ||
    { inside journalctl -u viewlog --no-pager -o cat | tail -n 20; exit 1; }
}
state() { inside systemctl show viewlog --property "$1" --value; }
# Waits until a command prints that value.
comes() { timeout 30 bash -c "until [[ \$($1) == \"$2\" ]]; do sleep 0.2; done" || { echo "no $2"; exit 1; }; }
export -f inside state; export init

runtime=$(realpath "${RUNTIME:-$(command -v node)}")
name=$(basename "$runtime" .exe)
install "$runtime" "$root/usr/local/bin/$name"
install "$dist/viewlog.mjs" "$root/usr/local/bin/viewlog.mjs"
case $name in
  viewlog) run=(/usr/local/bin/viewlog) ;;
  deno) run=(/usr/local/bin/deno run --allow-all /usr/local/bin/viewlog.mjs) ;;
  *) run=("/usr/local/bin/$name" /usr/local/bin/viewlog.mjs) ;;
esac
boot
inside systemctl --version | head -1

try() {
  local data=$1
  echo "== $data"
  inside useradd --system --home-dir "$data" --shell /usr/sbin/nologin viewlog 2> /dev/null || true
  inside install -d -o viewlog -g viewlog -m 750 "$data"
  inside "${run[@]}" activate 1000001 --data "$data" &> "$work/log" || { cat "$work/log"; exit 1; }
  inside sed -i 's/6000/600000/' "$data/projects.json"
  inside "${run[@]}" example systemd --data "$data" > "$root/etc/systemd/system/viewlog.service"
  inside systemctl daemon-reload
  inside systemctl start viewlog
  ready
  inside stat -c '%U %a %n' "$data"/*.ndjson "$data/projects.json" 2> /dev/null || true

  # Under load: a restart, a reload, kill -9. Every acknowledged view is stored.
  : > "$work/ids"
  touch "$work/load"
  local load=()
  for _ in 1 2 3 4; do (while [[ -e $work/load ]]; do post || true; echo; done >> "$work/ids") & load+=($!); done
  sleep 1
  inside systemctl restart viewlog && ready && sleep 0.5
  inside systemctl reload viewlog && sleep 0.5
  inside systemctl kill --signal KILL viewlog && sleep 0.5
  ready && sleep 1
  [[ $(state NRestarts) == 1 ]]
  rm "$work/load"; wait "${load[@]}"
  grep -oE '[0-9a-f-]{36}' "$work/ids" | sort -u > "$work/answered"
  cat "$root$data"/views-*.ndjson | grep -oE '"id":"[0-9a-f-]{36}' | cut -c7- | sort -u > "$work/stored"
  echo "$(wc -l < "$work/answered") answered, $(comm -23 "$work/answered" "$work/stored" | wc -l) lost"
  [[ -s $work/answered && -z $(comm -23 "$work/answered" "$work/stored") ]]

  # A faulty projects file: the reload fails with the reason, and viewlog keeps running with the
  # old list.
  inside cp -p "$data/projects.json" "$data/good.json"
  inside sed -i 's/"id"/"idd"/' "$data/projects.json"
  if inside systemctl reload viewlog 2> /dev/null; then echo 'reloaded a faulty file'; exit 1; fi
  inside journalctl -u viewlog --no-pager -o cat | grep 'idd' | tail -n 1
  [[ $(state ActiveState) == active && $(post) == *id* ]]
  inside mv "$data/good.json" "$data/projects.json"
  inside systemctl reload viewlog

  # systemd doesn't retry a fault that only the operator can fix.
  inside systemctl stop viewlog
  [[ $(state Result) == success ]]
  inside mv "$data/projects.json" "$data/away.json"
  inside systemctl start viewlog; comes 'state ActiveState' failed
  echo "without a projects file: exit $(state ExecMainStatus), $(state NRestarts) restarts"
  [[ $(state ExecMainStatus) == 78 && $(state NRestarts) == 0 ]]
  inside mv "$data/away.json" "$data/projects.json"
  inside setpriv --reuid viewlog --clear-groups --regid viewlog "${run[@]}" --port 0 --status off --data "$data" > "$work/log" &
  until grep -q listening "$work/log"; do sleep 0.1; done
  inside systemctl start viewlog; comes 'state ActiveState' failed
  echo "beside another: exit $(state ExecMainStatus), $(state NRestarts) restarts"
  [[ $(state ExecMainStatus) == 73 && $(state NRestarts) == 0 ]]
  inside pkill -TERM -u viewlog; wait %% || true

  # A reload before viewlog has installed its signal handlers may end viewlog: systemd restarts it.
  inside systemctl reset-failed viewlog
  inside systemctl start viewlog && inside systemctl kill --signal HUP viewlog
  ready
  echo "SIGHUP at the start: $(state NRestarts) restarts"
  inside systemctl stop viewlog
}

try /var/lib/viewlog
inside systemd-analyze security viewlog --no-pager | tail -n 1
inside userdel viewlog
try /home/views/data
echo 'systemd runs it'
