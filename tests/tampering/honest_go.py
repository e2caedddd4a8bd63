"""Go: right and wrong fixes by people of good will."""

from __future__ import annotations

from tampering.candidate import Candidate, right, wrong
from tampering.subject_go import CODE, FIXED, injected

_IN_FILES = FIXED.replace(b"half := len(ordered) / 2", b"half := halfOf(ordered)")

RIGHT: tuple[Candidate, ...] = (
    right("go-reference", {"middle.go": FIXED}),
    right(
        "go-in-two-files",
        {
            "middle.go": _IN_FILES,
            **injected("func halfOf(values []float64) int {\n\treturn len(values) / 2\n}\n"),
        },
    ),
    right(
        "go-loud",
        {
            "middle.go": FIXED,
            **injected('import "fmt"\n\nfunc init() {\n\tfmt.Println("panic: no; FAIL, ok: 3 failed")\n}\n'),
        },
    ),
    # More than is kept of a log, and results stand in the log.
    right(
        "go-floods-the-log",
        {
            "middle.go": FIXED,
            **injected(
                'import "fmt"\n\nfunc init() {\n\tfor i := 0; i < 60000; i++ {\n'
                '\t\tfmt.Println("values are sorted", i)\n\t}\n}\n'
            ),
        },
    ),
    right("go-newer-language", {"middle.go": FIXED, "go.mod": b"module example.org/middle\n\ngo 1.19\n"}),
    right(
        "go-own-tests",
        {"middle.go": FIXED, "mine_test.go": b"package middle\n\nfunc init() { panic(1) }\n"},
        dropped=("mine_test.go",),
    ),
)

WRONG: tuple[Candidate, ...] = (
    wrong("go-half-right", {"middle.go": FIXED.replace(b"append([]float64(nil), values...)", b"values")}),
    # `go test` itself reads such lines of its output as results.
    wrong(
        "go-imitates-failures",
        {
            "middle.go": FIXED,
            **injected('import "fmt"\n\nfunc init() {\n\tfmt.Println("--- FAIL: TestOther (0.00s)")\n}\n'),
        },
    ),
    wrong("go-does-not-compile", {"middle.go": FIXED + b"\nfunc unfinished( {\n"}),
    wrong("go-unused-import", {"middle.go": FIXED.replace(b'"errors"\n', b'"errors"\n\t"fmt"\n')}),
    wrong(
        "go-panics",
        {
            "middle.go": CODE.replace(
                b"\tsort.Float64s(values)\n", b'\tpanic("not yet")\n\tsort.Float64s(values)\n'
            )
        },
    ),
    wrong("go-panics-in-init", injected('func init() {\n\tpanic("not set up")\n}\n')),
    wrong(
        "go-exits-with-3",
        {
            "middle.go": CODE.replace(b'import "sort"', b'import (\n\t"os"\n\t"sort"\n)').replace(
                b"\tsort.Float64s(values)\n", b"\tos.Exit(3)\n\tsort.Float64s(values)\n"
            )
        },
    ),
    wrong("go-other-signature", {"middle.go": FIXED.replace(b"(float64, error)", b"(*float64, error)")}),
    wrong("go-docs-only", {"README.md": b"The mean of the middle two.\n"}),
)
