# Everything is fetched and compiled here: trials have no network. Cargo has no lists of a day: without a
# Cargo.lock the newest crates are taken.
WORKDIR /repo
COPY --chown=berbench . .
ENV CARGO_HOME=/opt/berbench/cargo
RUN set -u; \
    note() { echo "berbench: NOTE: $*"; }; \
    cargo --version; \
    if [ -f Cargo.lock ]; then cargo fetch --locked || cargo fetch; else note "no Cargo.lock: crates are of today"; cargo fetch; fi; \
    cargo test --workspace --no-run --offline || cargo test --no-run --offline || note "the tests do not compile"
ENV CARGO_NET_OFFLINE=true
