#!/bin/sh
# Makes sure that a container engine answers. Instant when one does.
#
# As root on Debian or a kin of it, with no engine: installs docker.io and iptables and starts dockerd, also
# where there is no systemd, and where a killed daemon left its pid file and socket. Anyone else is told the
# lines to run. Exit code 0: an engine answers; 1: none does, and standard error says what to do.
set -eu

# Tests put other places here.
RUN_DIR=${BERBENCH_ENGINE_RUN_DIR:-/var/run}
LOG=${BERBENCH_ENGINE_LOG:-/var/log/berbench-dockerd.log}
PROC=${BERBENCH_ENGINE_PROC:-/proc}

PIDFILE=$RUN_DIR/docker.pid
SOCKET=$RUN_DIR/docker.sock
PATIENCE=300 # looks, a fifth of a second apart

say() { printf 'engine: %s\n' "$*"; }
fail() {
    printf 'engine: %s\n' "$1" >&2
    shift
    for line; do printf '    %s\n' "$line" >&2; done
    exit 1
}

limited() { # SECONDS COMMAND...: a client may hang on a daemon that hangs
    if command -v timeout >/dev/null 2>&1; then timeout "$@"; else shift; "$@"; fi
}

answers() {
    command -v docker >/dev/null 2>&1 || return 1
    version=$(limited 20 docker version --format '{{.Server.Version}}' 2>/dev/null) && [ -n "$version" ]
}

running() { # whether a dockerd is there, answering or not
    for comm in "$PROC"/[0-9]*/comm; do
        read -r name <"$comm" 2>/dev/null && [ "$name" = dockerd ] && return 0
    done
    return 1
}

wait_for_answer() { # PID: until the engine answers, or that process is gone
    left=$PATIENCE
    while [ "$left" -gt 0 ]; do
        if answers; then return 0; fi
        if [ -n "$1" ] && ! kill -0 "$1" 2>/dev/null; then return 1; fi
        sleep 0.2 2>/dev/null || sleep 1
        left=$((left - 1))
    done
    return 1
}

told_by_system() { # ID and ID_LIKE of the distribution
    # shellcheck source=/dev/null
    (. /etc/os-release 2>/dev/null && printf '%s %s' "${ID:-}" "${ID_LIKE:-}") || true
}

how_to_install() {
    case " $(told_by_system) " in
    *" debian "* | *" ubuntu "*) echo "apt-get install -y --no-install-recommends docker.io iptables" ;;
    *" fedora "* | *" rhel "* | *" centos "*) echo "dnf install -y moby-engine || dnf install -y docker-ce" ;;
    *" alpine "*) echo "apk add docker && rc-service docker start" ;;
    *" arch "*) echo "pacman -S --noconfirm docker" ;;
    *" suse "* | *" opensuse "*) echo "zypper install -y docker" ;;
    *) echo "install Docker 20.10 or newer (https://docs.docker.com/engine/install/)" ;;
    esac
}

install_engine() {
    case " $(told_by_system) " in
    *" debian "* | *" ubuntu "*) ;;
    *) fail "there is no container engine. Run:" "$(how_to_install)" "sh docker/ensure-engine.sh" ;;
    esac
    say "installing docker.io and iptables"
    log=$(mktemp)
    apt-get update >"$log" 2>&1 || true
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends docker.io iptables \
        >>"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        fail "docker.io could not be installed. Run, and see why:" "apt-get update" "$(how_to_install)"
    fi
    rm -f "$log"
}

clear_stale() { # what a killed daemon left: nothing here belongs to a live one
    if running; then return 0; fi
    rm -f "$PIDFILE" "$SOCKET"
    # Left alone it is taken over; left by a killed one, its pid may be another process's by now.
    held=$RUN_DIR/docker/containerd/containerd.pid
    if [ -f "$held" ]; then
        pid=$(cat "$held" 2>/dev/null || echo 0)
        name=$(cat "$PROC/$pid/comm" 2>/dev/null || true)
        case "$name" in containerd*) ;; *) rm -f "$held" "${held%/*}"/*.sock* ;; esac
    fi
}

mount_cgroups() { # a bare machine or container may have none
    if [ -d /sys/fs/cgroup ] && [ -z "$(ls -A /sys/fs/cgroup 2>/dev/null)" ]; then
        mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || true
    fi
}

start_dockerd() { # OPTIONS...: one attempt, detached from this terminal
    clear_stale
    printf '\n== dockerd %s\n' "$*" >>"$LOG"
    setsid dockerd "$@" >>"$LOG" 2>&1 </dev/null 9>&- &
    pid=$!
    if wait_for_answer "$pid"; then return 0; fi
    kill "$pid" 2>/dev/null || true
    for _ in 1 2 3 4 5; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 1
    done
    kill -9 "$pid" 2>/dev/null || true
    return 1
}

use_legacy_iptables() {
    [ -x /usr/sbin/iptables-legacy ] || return 1
    update-alternatives --set iptables /usr/sbin/iptables-legacy >/dev/null 2>&1 || return 1
    update-alternatives --set ip6tables /usr/sbin/ip6tables-legacy >/dev/null 2>&1 || true
}

start_engine() {
    if [ -d /run/systemd/system ] && [ "$RUN_DIR" = /var/run ]; then
        say "starting docker by systemd"
        systemctl start docker >/dev/null 2>&1 || true
        if wait_for_answer ""; then return 0; fi
        journalctl -u docker -n 20 --no-pager >&2 2>/dev/null || true
        fail "docker.service does not start. See above, then run:" "systemctl restart docker"
    fi
    if running; then
        say "a dockerd is there and does not answer yet; waiting"
        if wait_for_answer ""; then return 0; fi
        if running; then
            fail "the dockerd that is running does not answer. End it, then try again:" \
                "kill $(cat $PIDFILE 2>/dev/null || echo 'its process')" "sh docker/ensure-engine.sh"
        fi
    fi
    if ! (: >"$LOG") 2>/dev/null; then LOG=$(mktemp); fi
    mount_cgroups
    say "starting dockerd, log in $LOG"
    if start_dockerd; then return 0; fi
    if grep -qiE 'iptables|nf_tables|netfilter' "$LOG" && use_legacy_iptables; then
        say "trying again with iptables-legacy"
        if start_dockerd; then return 0; fi
    fi
    if grep -qiE 'storage.?driver|graphdriver|overlay|snapshotter' "$LOG"; then
        say "trying again with the vfs storage driver: slower, and it needs more disk"
        if start_dockerd --storage-driver=vfs; then return 0; fi
    fi
    if grep -qiE 'iptables|nf_tables|netfilter' "$LOG"; then
        say "trying again without iptables: builds will have no network"
        if start_dockerd --iptables=false; then return 0; fi
        if start_dockerd --iptables=false --storage-driver=vfs; then return 0; fi
    fi
    tail -n 25 "$LOG" >&2
    fail "dockerd does not start. Its last lines are above; all of them are in $LOG."
}

if answers; then
    say "Docker $version answers"
    exit 0
fi
if [ -n "${DOCKER_HOST:-}" ]; then
    fail "no engine answers at DOCKER_HOST=$DOCKER_HOST. Start it, or run:" "unset DOCKER_HOST" "make engine"
fi
if [ "$(uname -s)" != Linux ]; then
    fail "no engine answers. Install and start Docker Desktop, Colima or podman machine; then run:" "make engine"
fi
if [ "$(id -u)" != 0 ]; then
    if [ -S "$SOCKET" ] && [ ! -w "$SOCKET" ]; then
        fail "you may not use the engine's socket. Run, then log in again:" "sudo usermod -aG docker $(id -un)"
    fi
    fail "no engine answers, and starting one takes root. Run:" "sudo sh docker/ensure-engine.sh" \
        "sudo usermod -aG docker $(id -un)   # then log in again"
fi

# One at a time: a second caller waits, then finds the engine there.
exec 9>"$RUN_DIR/berbench-engine.lock"
if command -v flock >/dev/null 2>&1; then flock 9; fi
if ! answers; then
    command -v dockerd >/dev/null 2>&1 || install_engine
    answers || start_engine
fi
say "Docker $version answers"
