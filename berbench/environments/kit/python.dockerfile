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
    python=$($tools/python -c 'import sys; print(sys._base_executable)'); \
    minor=$($tools/python -c 'import sys; print(sys.version_info[1])'); \
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
    own_all() { \
        is_package='^\[(project|build-system|tool\.(poetry|flit).*)\]'; \
        [ -z "$moved" ] || put_back; \
        if [ -f setup.py ] || grep -qsE "$is_package" pyproject.toml; then own; \
        else \
            for file in $(find . -mindepth 2 -maxdepth 3 \( -name setup.py -o -name pyproject.toml \) -not -path '*/[.td]*/*' | sort); do \
                case "$file" in */setup.py) ;; *) grep -qE "$is_package" "$file" || continue;; esac; \
                ( cd "${file%/*}" && own ); \
            done; \
        fi; \
        editable=$($tools/uv pip list --editable 2>/dev/null | wc -l); \
    }; \
    # A tool that itself needs the tree's package replaces it by a released one: the tree's own comes back.
    own_again() { [ "$($tools/uv pip list --editable 2>/dev/null | wc -l)" = "$editable" ] || own_all; }; \
    prepare() { \
        day="$1"; failed=0; rm -rf "$plan"; \
        $tools/uv venv --quiet --clear --seed ${day:+--exclude-newer "$day"} --python "$python" /opt/berbench/venv || return 1; \
        own_all; \
        $tools/python /opt/berbench/read_python.py . "$(echo /opt/berbench/venv/lib/python3*/site-packages)" "$plan" "3.$minor"; \
        # Exact pins and locks are of the landing: they go when the day does.
        end=.txt; [ "$day" = "$BERBENCH_AS_OF" ] || end=.loose; \
        install -c "$plan/constraints.txt" -r "$plan/all$end" || install -r "$plan/all$end" || { \
            note "one set for all lists fails as of ${day:-today}, installing list by list"; \
            for list in "$plan"/[0-9]*.txt; do \
                install -r "${list%.txt}$end" || install -r "${list%.txt}.loose" || while read -r line; do \
                    install "$line" </dev/null || ( day=$(later "$era" "$day"); install "$line" </dev/null ) || \
                    ( day=""; install "$line" </dev/null ) || \
                    { note "not installed: $line"; case "$list" in */10-*) failed=$((failed + 1));; esac; }; \
                done < "${list%.txt}.loose"; \
            done; }; \
        own_again; \
    }; \
    # Sources older than the interpreter may ask for names that it has moved: they are put back when they are missed.
    moved=""; \
    put_back() { \
        site=$(echo /opt/berbench/venv/lib/python3*/site-packages); echo 'import moved_names' > "$site/moved_names.pth"; \
        printf '%s\n' 'import collections, inspect' 'from collections import abc' \
            'for name in abc.__all__:' '    if not hasattr(collections, name):' '        setattr(collections, name, getattr(abc, name))' \
            'if not hasattr(inspect, "getargspec"):' '    inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]' > "$site/moved_names.py"; \
    }; \
    # How many errors stand in the way of the tree's tests: 0 is fine; 500 and up when no test can be collected.
    collect() { timeout 300 python -m pytest --collect-only -q -p no:cacheprovider > "$plan.log" 2>&1; }; \
    errors() { \
        collect; code=$?; \
        if [ -z "$moved" ] && grep -qE "from 'collections'|module 'collections' has no|getargspec" "$plan.log"; then \
            moved=yes; put_back; note "names that Python 3.10 and 3.11 moved are put back"; collect; code=$?; \
        fi; \
        count=$(grep -cE '^ERROR ' "$plan.log"); \
        if [ "$count" = 0 ]; then case $code in 0|5|124) ;; 1) ! grep -qE '^Traceback|No module named pytest' "$plan.log" || count=1000;; *) count=500;; esac; fi; \
        total=$((count + failed)); \
    }; \
    upgrade() { install --upgrade pytest $($tools/uv pip freeze | grep -oE "^($1)=" | tr -d =); own_again; }; \
    attempt() { \
        case "$1" in \
            landing) prepare "$BERBENCH_AS_OF";; \
            tools) { [ "$state" = landing ] || prepare "$BERBENCH_AS_OF"; } && day="$era" && upgrade 'pytest-[^=]*|pluggy|py';; \
            more-tools) { [ "$state" = tools ] || prepare "$BERBENCH_AS_OF"; } && day="$era" && upgrade 'pytest-[^=]*|pluggy|py|hypothesis|coverage|mock|six';; \
            era) prepare "$era";; \
            today) prepare "";; \
        esac && state=$1; \
    }; \
    state=""; attempts=today; best=""; fewest=""; \
    if [ -n "$BERBENCH_AS_OF" ]; then \
        attempts="landing today"; \
        [ "$(later "$BERBENCH_AS_OF" "$era")" = "$BERBENCH_AS_OF" ] || attempts="landing tools more-tools era today"; \
    fi; \
    for name in $attempts; do \
        attempt $name || continue; \
        errors; count=$total; note "packages of $name (landing: $BERBENCH_AS_OF, era: $era): $count errors in collecting the tests"; \
        if [ "$count" != 0 ]; then grep -E '^E  ' "$plan.log" | sort | uniq -c | head; tail -n 12 "$plan.log"; fi; \
        if [ -z "$fewest" ] || [ "$count" -lt "$fewest" ]; then fewest=$count; best=$name; fi; \
        if [ "$count" = 0 ]; then break; fi; \
    done; \
    [ -n "$best" ] || exit 1; \
    if [ "$best" != "$name" ]; then attempt "$best"; fi; \
    case "$best" in landing) ;; *) note "packages are not all of the landing: kept the set named $best";; esac; \
    python -m compileall -q /opt/berbench/venv/lib >/dev/null 2>&1; \
    rm -rf /tmp/uv; $tools/uv pip list
