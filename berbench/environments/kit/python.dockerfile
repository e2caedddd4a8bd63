# uv and its reader live apart from the tree's packages, and are always the newest.
RUN python3 -m venv /opt/berbench/tools && \
    /opt/berbench/tools/bin/python -m pip install --quiet --upgrade pip && \
    /opt/berbench/tools/bin/python -m pip install --quiet uv packaging "tomli; python_version < '3.11'"
ENV VIRTUAL_ENV=/opt/berbench/venv PATH=/opt/berbench/venv/bin:$PATH:/opt/berbench/tools/bin

# Lists what the manifests of a tree ask for: package, extras and groups for tests, requirement files, tox, nox,
# CI, the plug-ins that pytest's settings name. It installs nothing; change the lists after it instead.
RUN printf '%s\n' \
{{reader}}
    > /opt/berbench/read_python.py

WORKDIR /repo
COPY --chown=berbench . .

# Packages as of the landing, since old trees fail on today's. When the tests can't even be collected with them
# (tools of that day may not run on this Python), test tools of the days when this Python was new are tried, then
# all packages of those days, then today's; the set with the fewest errors stays. The log says which.
ARG BERBENCH_AS_OF=""
ARG BERBENCH_VERSION=""
RUN set -u; \
    export UV_LINK_MODE=copy UV_NO_PROGRESS=1 UV_CACHE_DIR=/tmp/uv PYTHONDONTWRITEBYTECODE=1; \
    export SSL_CERT_FILE="${SSL_CERT_FILE:-${PIP_CERT:-}}"; [ -n "$SSL_CERT_FILE" ] || unset SSL_CERT_FILE; \
    note() { echo "berbench: NOTE: $*"; }; \
    tools=/opt/berbench/tools/bin; plan=/opt/berbench/plan; \
    # There is no .git in here: version plug-ins are told the version.
    version=$(printf %s "$BERBENCH_VERSION" | sed 's/^[^0-9]*//; s/_/./g'); \
    $tools/python -c 'import sys; from packaging.version import Version as V; V(sys.argv[1])' "$version" 2>/dev/null || version=0.0.0; \
    for name in SETUPTOOLS_SCM_PRETEND_VERSION PDM_BUILD_SCM_VERSION POETRY_DYNAMIC_VERSIONING_BYPASS \
        UV_DYNAMIC_VERSIONING_BYPASS PBR_VERSION; do export "$name=$version"; done; \
    minor=$(python3 -c 'import sys; print(sys.version_info[1])'); \
    case "$minor" in {{eras}} *) era="";; esac; \
    later() { printf '%s\n' "$@" | sort | tail -n 1; }; \
    install() { $tools/uv pip install --quiet ${day:+--exclude-newer "$day"} "$@"; }; \
    # The tree's own package, editable. Its build tools are of that day too, unless they can't do it.
    own() { \
        install --no-deps -e . || \
        { note "build tools as of ${day:-today} failed for $PWD, trying later ones"; false; } || \
        ( day=$(later "$era" "$day" 2022-11-01); install --no-deps -e . ) || ( day=""; install --no-deps -e . ) || \
        { [ -f setup.py ] && install setuptools wheel && python setup.py -q develop --no-deps; } || \
        { note "$PWD could not be installed, only its sources are on the path"; \
          for dir in "$PWD" "$PWD/src"; do [ ! -d "$dir" ] || echo "$dir" >> "$(echo /opt/berbench/venv/lib/python3*/site-packages)/berbench.pth"; done; }; \
    }; \
    prepare() { \
        day="$1"; failed=0; rm -rf "$plan"; \
        $tools/uv venv --quiet --clear --seed ${day:+--exclude-newer "$day"} --python "$(command -v /usr/local/bin/python3 || echo /usr/bin/python3)" /opt/berbench/venv || return 1; \
        is_package='^\[(project|build-system|tool\.(poetry|flit).*)\]'; \
        if [ -f setup.py ] || grep -qsE "$is_package" pyproject.toml; then own; \
        else \
            for file in $(find . -mindepth 2 -maxdepth 3 \( -name setup.py -o -name pyproject.toml \) -not -path '*/[.td]*/*' | sort); do \
                case "$file" in */setup.py) ;; *) grep -qE "$is_package" "$file" || continue;; esac; \
                ( cd "${file%/*}" && own ); \
            done; \
        fi; \
        $tools/python /opt/berbench/read_python.py . "$(echo /opt/berbench/venv/lib/python3*/site-packages)" "$plan" "3.$minor"; \
        # Exact pins and locks are of the landing: they go when the day does.
        end=.txt; [ "$day" = "$BERBENCH_AS_OF" ] || end=.loose; \
        install -c "$plan/constraints.txt" -r "$plan/all$end" || install -r "$plan/all$end" || { \
            note "one set for all lists fails as of ${day:-today}, installing list by list"; \
            for list in "$plan"/[0-9]*.txt; do \
                install -r "${list%.txt}$end" || install -r "${list%.txt}.loose" || while read -r line; do \
                    install "$line" </dev/null || { note "not installed: $line"; case "$list" in */10-*) failed=$((failed + 1));; esac; }; \
                done < "${list%.txt}.loose"; \
            done; }; \
    }; \
    # How many errors stand in the way of the tree's tests: 0 is fine, 500 when pytest itself does not run.
    errors() { \
        timeout 300 python -m pytest --collect-only -q -p no:cacheprovider > "$plan.log" 2>&1; code=$?; \
        count=$(grep -cE '^ERROR ' "$plan.log"); \
        if [ "$count" = 0 ]; then case $code in 0|5|124) ;; 1) ! grep -q '^Traceback' "$plan.log" || count=500;; *) count=500;; esac; fi; \
        echo $((count + failed)); \
    }; \
    attempt() { \
        case "$1" in \
            landing) prepare "$BERBENCH_AS_OF";; \
            tools) prepare "$BERBENCH_AS_OF" && day="$era" && install --upgrade pytest $($tools/uv pip freeze | grep -oE '^(pytest-[^= ]*|pluggy|py|hypothesis|coverage)=' | tr -d =) ;; \
            era) prepare "$era";; \
            today) prepare "";; \
        esac; \
    }; \
    attempts=today; best=""; fewest=""; \
    if [ -n "$BERBENCH_AS_OF" ]; then \
        attempts="landing today"; \
        [ "$(later "$BERBENCH_AS_OF" "$era")" = "$BERBENCH_AS_OF" ] || attempts="landing tools era today"; \
    fi; \
    for name in $attempts; do \
        attempt $name || continue; \
        count=$(errors); note "packages: $name (landing $BERBENCH_AS_OF, tools of $era, today): $count errors in collecting the tests"; \
        if [ "$count" != 0 ]; then tail -n 15 "$plan.log"; fi; \
        if [ -z "$fewest" ] || [ "$count" -lt "$fewest" ]; then fewest=$count; best=$name; fi; \
        if [ "$count" = 0 ]; then break; fi; \
    done; \
    [ -n "$best" ] || exit 1; \
    if [ "$best" != "$name" ]; then attempt "$best"; fi; \
    case "$best" in landing) ;; *) note "packages are not all of the landing: kept the set named $best";; esac; \
    python -m compileall -q /opt/berbench/venv/lib >/dev/null 2>&1; \
    rm -rf /tmp/uv; $tools/uv pip list
