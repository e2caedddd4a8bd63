#!/bin/sh
# Makes the small image that the demo and the tests build on: Debian with Python, pip, venv, git, pytest, libfaketime, and
# the host's certificates, so that `pip install` works behind a proxy that inspects TLS.
#
# usage: base-image.sh [--suite bookworm] [--tag NAME]
#
# Instant when the image is there and nothing that decides it has changed. The system underneath is pulled where
# a registry answers, else made from Debian's packages. DEBIAN_MIRROR names another mirror.
set -eu

SUITE=bookworm
TAG=
MIRROR=${DEBIAN_MIRROR:-}
PACKAGES=python3,python3-pip,python3-venv,git,ca-certificates,libfaketime
PULL_S=20

say() { printf 'base: %s\n' "$*"; }
fail() {
    printf 'base: %s\n' "$1" >&2
    shift
    for line; do printf '    %s\n' "$line" >&2; done
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --suite) SUITE=${2:?--suite needs a name, such as bullseye} && shift 2 ;;
    --tag) TAG=${2:?--tag needs a name} && shift 2 ;;
    *) fail "unknown option $1" "usage: base-image.sh [--suite bookworm] [--tag NAME]" ;;
    esac
done
if [ -z "$TAG" ]; then
    TAG=berbench/base
    [ "$SUITE" = bookworm ] || TAG=berbench/base:$SUITE
fi

bundle() { # the host's certificates, if it has any in one file
    for file in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
        /etc/ssl/cert.pem; do
        if [ -n "$file" ] && [ -s "$file" ]; then
            echo "$file"
            return
        fi
    done
}

digest() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; else shasum -a 256; fi | cut -c1-32; }

BUNDLE=$(bundle)
RECIPE=$({
    cat "$0"
    echo "$SUITE"
    [ -z "$BUNDLE" ] || cat "$BUNDLE"
} | digest)
LABEL='{{index .Config.Labels "berbench.base"}}'
if [ "$(docker image inspect --format "$LABEL" "$TAG" 2>/dev/null)" = "$RECIPE" ]; then
    say "$TAG is there"
    exit 0
fi

ROOM=$(mktemp -d "${TMPDIR:-/tmp}/berbench-base.XXXXXX")
SYSTEM=berbench/system:$SUITE
trap 'rm -rf "$ROOM"; docker image rm "$SYSTEM" >/dev/null 2>&1 || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

limited() { if command -v timeout >/dev/null 2>&1; then timeout "$@"; else shift; "$@"; fi; }

pull_system() {
    image=debian:$SUITE-slim
    docker image inspect "$image" >/dev/null 2>&1 ||
        limited "$PULL_S" docker pull -q "$image" >/dev/null 2>&1 || return 1
    docker tag "$image" "$SYSTEM"
    say "the system is $image"
}

as_root_on_debian() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

make_system() {
    if ! command -v mmdebstrap >/dev/null 2>&1 && ! command -v debootstrap >/dev/null 2>&1; then
        as_root_on_debian || fail "no registry answers, and there is no mmdebstrap to make a system with. Run:" \
            "sudo apt-get install -y mmdebstrap" "make base"
        say "installing mmdebstrap"
        apt-get update >/dev/null 2>&1 || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends mmdebstrap \
            >"$ROOM/log" 2>&1 </dev/null || {
            tail -n 15 "$ROOM/log" >&2
            fail "mmdebstrap could not be installed. Run, and see why:" "apt-get install -y mmdebstrap"
        }
    fi
    say "no registry answers; making Debian $SUITE from its packages"
    if command -v mmdebstrap >/dev/null 2>&1; then
        mmdebstrap --variant=minbase --include="$PACKAGES" --aptopt='Acquire::Retries "3"' \
            "$SUITE" "$ROOM/system.tar" ${MIRROR:+"$MIRROR"} >"$ROOM/log" 2>&1 || made_nothing
    else
        [ "$(id -u)" = 0 ] || fail "debootstrap needs root. Run:" "sudo make base"
        debootstrap --variant=minbase --include="$PACKAGES" "$SUITE" "$ROOM/root" ${MIRROR:+"$MIRROR"} >"$ROOM/log" 2>&1 ||
            made_nothing
        tar -C "$ROOM/root" --exclude=./dev/* -cf "$ROOM/system.tar" .
    fi
    docker import "$ROOM/system.tar" "$SYSTEM" >/dev/null
}

made_nothing() {
    tail -n 15 "$ROOM/log" >&2
    fail "Debian $SUITE could not be made from ${MIRROR:-its own mirror}; its last lines are above." \
        "DEBIAN_MIRROR=http://… make base   # another mirror"
}

pull_system || make_system

CONTEXT=$ROOM/context
mkdir -p "$CONTEXT/local"
if [ -n "$BUNDLE" ]; then cat "$BUNDLE" >"$CONTEXT/ca.crt"; else : >"$CONTEXT/ca.crt"; fi
cp /usr/local/share/ca-certificates/*.crt "$CONTEXT/local/" 2>/dev/null || true
: >"$CONTEXT/local/none"
cat >"$CONTEXT/Dockerfile" <<END
FROM $SYSTEM
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
    LANG=C.UTF-8 \\
    PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \\
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt \\
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \\
    REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt \\
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN command -v git && command -v pip3 || { apt-get update && DEBIAN_FRONTEND=noninteractive \\
    apt-get install -y --no-install-recommends $(echo "$PACKAGES" | tr , ' ') && rm -rf /var/lib/apt/lists/*; }
COPY local /usr/local/share/ca-certificates/
COPY ca.crt /tmp/ca.crt
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
RUN if [ -s /tmp/ca.crt ]; then cat /tmp/ca.crt >/etc/ssl/certs/ca-certificates.crt; fi; \\
    rm -f /tmp/ca.crt /usr/local/share/ca-certificates/none; \\
    [ -e /usr/local/bin/python ] || ln -s /usr/bin/python3 /usr/local/bin/python; \\
    python3 -m pip install --no-cache-dir pytest || { apt-get update && DEBIAN_FRONTEND=noninteractive \\
    apt-get install -y --no-install-recommends python3-pytest && rm -rf /var/lib/apt/lists/*; }
LABEL berbench.base=$RECIPE
CMD ["/bin/bash"]
END
set -- --tag "$TAG" --force-rm
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL; do
    eval "value=\${$name:-}"
    [ -z "$value" ] || set -- "$@" --build-arg "$name"
done
say "adding pytest and this host's certificates"
tar -C "$CONTEXT" -cf "$ROOM/context.tar" .
# The classic builder is always there, but for clients that have dropped it.
DOCKER_BUILDKIT=0 docker build "$@" - <"$ROOM/context.tar" >"$ROOM/log" 2>&1 ||
    docker build "$@" - <"$ROOM/context.tar" >>"$ROOM/log" 2>&1 || {
    tail -n 20 "$ROOM/log" >&2
    fail "$TAG could not be built; the last lines are above."
}
say "$TAG is ready"
