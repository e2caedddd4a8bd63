"""Lists of installed packages."""

from __future__ import annotations

import pytest

from berbench.environments import parse_installed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("attrs==23.1.0\npytest==7.4.0\nattrs==23.1.0\n", ("attrs==23.1.0", "pytest==7.4.0")),
        ("Package    Version\n---------- -------\nPyYAML     6.0.1\nclick      8.1.7   /repo\n",
         ("click==8.1.7", "PyYAML==6.0.1")),
        ("demo@1.0.0 /repo\n├── mocha@10.2.0\n└─┬ @scope/a@2.0.0\n  `-- ms@2.1.2 deduped\n",
         ("@scope/a==2.0.0", "demo==1.0.0", "mocha==10.2.0", "ms==2.1.2")),
        ("example.com/mod v1.2.3\ngolang.org/x/text v0.3.7 => ./text\n",
         ("example.com/mod==v1.2.3", "golang.org/x/text==v0.3.7")),
        ("serde v1.0.193\n├── serde_derive v1.0.193 (proc-macro)\n", ("serde==1.0.193", "serde_derive==1.0.193")),
        ("[INFO]    junit:junit:jar:4.13.2:test\n", ("junit:junit==4.13.2",)),
        ("libc6:amd64\t2.36-9+deb12u4\n", ("libc6:amd64==2.36-9+deb12u4",)),
        ("WARNING: a sentence, and no package\n\n", ()),
    ],
)  # fmt: skip
def test_lists_of_all_managers_become_one_form(text: str, found: tuple[str, ...]) -> None:
    assert parse_installed(text) == found
