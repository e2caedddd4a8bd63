# Everything is fetched and compiled here: trials have no network.
ENV GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
WORKDIR /repo
COPY --chown=berbench . .
RUN set -u; \
    note() { echo "berbench: NOTE: $*"; }; \
    go version; \
    files=$(find . -name go.mod -not -path '*/testdata/*' -not -path '*/vendor/*' | sort); \
    [ -n "$files" ] || note "no go.mod: this tree is from before modules"; \
    for file in $files; do \
        ( cd "${file%/*}" && \
          { [ -d vendor ] || go mod download || note "go mod download failed in $PWD"; } && \
          { go test -run '^$' ./... >/tmp/go.log 2>&1 || { tail -n 20 /tmp/go.log; note "not every package of $PWD compiles"; }; } ); \
    done
