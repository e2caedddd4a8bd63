# npm runs on the base's own node, whatever node the tests run on; both are first on PATH.
ENV PATH=/opt/berbench/bin:/opt/berbench/node/node_modules/.bin:$PATH
RUN mkdir -p /opt/berbench/bin && \
    node_path=$(readlink -f "$(command -v node)") && cp "$node_path" /opt/berbench/node-of-npm && \
    for tool in npm npx; do \
        cli="$(dirname "$(readlink -f "$(command -v npm)")")/$tool-cli.js"; \
        printf '#!/bin/sh\nexec /opt/berbench/node-of-npm "%s" "$@"\n' "$cli" > "/opt/berbench/bin/$tool"; \
        chmod +x "/opt/berbench/bin/$tool"; \
    done
ENV npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error \
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
    npm_install() { \
        npm install --no-package-lock $peers $before || \
        { note "npm install as of the landing failed, trying without scripts"; false; } || \
        npm install --no-package-lock --legacy-peer-deps --ignore-scripts $before || \
        { note "packages are of today, not of the landing"; false; } || \
        npm install --no-package-lock --legacy-peer-deps || npm install --no-package-lock --force --ignore-scripts; \
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
            npm ci $peers || { note "npm ci failed"; npm_install; }; \
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
