"""Lists of installed packages, as the package managers print them, to `name==version` lines."""

from __future__ import annotations

import re

_LONGEST = 500  # characters of a line; no package's name and version take more

_FORMS = (
    re.compile(r"^(?P<name>[A-Za-z0-9][\w.\[\]-]*)==(?P<version>\S+)$"),  # pip freeze, uv pip freeze
    re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*) @ (?P<version>\S+)$"),  # pip freeze of an address
    re.compile(r"^[\s│├└─┬+|`-]*(?P<name>(?:@[\w.-]+/)?[\w.-]+)@(?P<version>\d\S*)(?: .*)?$"),  # npm ls
    re.compile(r"^(?P<name>[\w.-]+(?:/[\w.~-]+)+) (?P<version>v\d\S*)(?: .*)?$"),  # go list -m all
    re.compile(r"^[\s│├└─]*(?P<name>[\w-]+) v(?P<version>\d\S*)(?: .*)?$"),  # cargo tree
    re.compile(r"^(?:\[INFO\]\s+)?(?P<name>[\w.-]+:[\w.-]+):jar:(?P<version>[\w.-]+)(?::\w+)?.*$"),  # Maven
    re.compile(r"^(?P<name>[a-z0-9][a-z0-9+.-]+(?::\w+)?)\t(?P<version>\S+)$"),  # dpkg-query -W
    re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*)\s{2,}(?P<version>\d\S*)(?:\s+\S+)?$"),  # pip list
)


def parse_installed(text: str) -> tuple[str, ...]:
    """`name==version`, sorted and each once; lines of no known form are left out."""
    found = set()
    for line in text.splitlines():
        for form in _FORMS if len(line) <= _LONGEST else ():
            match = form.match(line.rstrip())
            if match:
                found.add(f"{match['name']}=={match['version']}")
                break
    return tuple(sorted(found, key=str.lower))
