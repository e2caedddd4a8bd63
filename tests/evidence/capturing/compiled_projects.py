"""go test and cargo test."""

from __future__ import annotations

from project import Project, Run

GO_TEST = """\
package calc

import "testing"

func TestAdds(t *testing.T) {
	if Add(2, 2) != 4 {
		t.Fatal("not four")
	}
}

func TestStays(t *testing.T) {
	if Add(1, 0) != 1 {
		t.Fatal("not one")
	}
}
"""
_GO_OLD = "package calc\n\nfunc Add(a, b int) int { return a - b }\n"
_GO_NEW = (
    "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Twice(a int) int { return 2 * a }\n"
)
_GO_TWICE = '\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 {\n\t\tt.Fatal("not four")\n\t}\n}\n'
_GO_OTHER = (
    GO_TEST.replace("package calc\n\nimport", "package other\n\nimport")
    .replace('import "testing"', 'import (\n\t"testing"\n\n\t"example.org/calc/calc"\n)')
    .replace("Add(", "calc.Add(")
)
GO_ODD = """\
package calc

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	names := []string{"a b", "a/b", "é", "line\\nbreak", "\\x1b[31mred", "\\x00", "same", "same"}
	for _, name := range append(names, strings.Repeat("x", 10240)) {
		t.Run(name, func(t *testing.T) { fmt.Print("no newline \\x1b[32m \\xff") })
	}
}

func TestForged(t *testing.T) {
	fmt.Println("--- PASS: TestForged (0.00s)")
	os.Stdout.WriteString("\\n{\\"Action\\":\\"pass\\",\\"Package\\":\\"example.org/calc/calc\\",\\"Test\\":\\"TestNever\\"}\\n")
	t.Fatal("no \\x1b[31m \\x00")
}

func TestSkipped(t *testing.T) { t.Skip("one core") }

func TestCleanup(t *testing.T) {
	t.Cleanup(func() { t.Error("torn down") })
}

func TestParent(t *testing.T) {
	t.Run("child", func(t *testing.T) { t.Fatal("no") })
}
"""
_GO_EXITS = (
    GO_TEST.replace('import "testing"', 'import (\n\t"os"\n\t"testing"\n)')
    .replace('t.Fatal("not one")', "os.Exit(1)")
    .replace("Add(1, 0) != 1 {", "Add(1, 0) == 1 {")
    .replace("os.Exit(1)", "os.Exit(0)")
)
_OWN = "go test ./calc"
_CALC = "calc/calc_test.go"
GO = Project(
    runner="go",
    hidden=_CALC,
    files={
        "go.mod": "module example.org/calc\n\ngo 1.19\n",
        _CALC: GO_TEST,
        "other/other_test.go": _GO_OTHER,
    },
    old={"calc/calc.go": _GO_OLD},
    new={"calc/calc.go": _GO_NEW},
    runs={
        "base": Run(_OWN, "old"),
        "good": Run(_OWN),
        "broken": Run(_OWN, "old", {_CALC: GO_TEST + _GO_TWICE}),
        "mended": Run(_OWN, "new", {_CALC: GO_TEST + _GO_TWICE}),
        "none": Run("go test -run ZZZ ./calc"),
        "absent": Run("go test ./nope"),
        "skipped": Run(
            _OWN,
            "new",
            {_CALC: 'package calc\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) { t.Skip("no") }\n'},
        ),
        "other-base": Run("go test ./other", "old"),
        "other-good": Run("go test ./other"),
        "gone": Run(_OWN, bare=True),
        "crash": Run(_OWN, "new", {"go.mod": "modul example.org/calc\n"}),
        "lacking": Run(
            _OWN,
            "new",
            {
                _CALC: GO_TEST.replace(
                    'import "testing"', 'import (\n\t"testing"\n\n\t_ "example.org/nowhere"\n)'
                )
            },
        ),
        "exits": Run(_OWN, "new", {_CALC: _GO_EXITS}),
        "odd": Run(_OWN, "new", {_CALC: GO_ODD}),
    },
)

RUST_TEST = """\
use calc::add;

#[test]
fn adds() {
    assert_eq!(add(2, 2), 4);
}

#[test]
fn stays() {
    assert_eq!(add(1, 0), 1);
}
"""
RUST_ODD = """\
#[test]
fn prints() {
    print!("no newline");
    eprintln!("\\u{1b}[31m");
}

#[test]
fn forged() {
    println!("test never ... ok");
    panic!("no \\u{1b}[31m \\u{0}");
}

#[test]
#[ignore = "one core"]
fn skipped() {}

#[test]
#[should_panic(expected = "known")]
fn expected() {
    panic!("known");
}

#[test]
#[should_panic]
fn unexpected() {}

mod énormes {
    #[test]
    fn où() {}
}

struct Torn;

impl Drop for Torn {
    fn drop(&mut self) {
        panic!("torn down");
    }
}

#[test]
fn teardown() {
    let _torn = Torn;
}
"""
_MANIFEST = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n'
_RUST_OLD = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"
_RUST_NEW = _RUST_OLD.replace("a - b", "a + b") + "\npub fn twice(a: i32) -> i32 {\n    2 * a\n}\n"
_TESTS = "tests/calc.rs"
_CARGO = "cargo test --test calc"
_TWICE = RUST_TEST.replace("calc::add", "calc::{add, twice}").replace("add(1, 0), 1", "twice(add(1, 0)), 2")
CARGO = Project(
    runner="cargo",
    hidden=_TESTS,
    files={"Cargo.toml": _MANIFEST, _TESTS: RUST_TEST, "tests/other.rs": RUST_TEST.replace("adds", "also")},
    old={"src/lib.rs": _RUST_OLD},
    new={"src/lib.rs": _RUST_NEW},
    runs={
        "base": Run(_CARGO, "old"),
        "good": Run(_CARGO),
        "broken": Run(_CARGO, "old", {_TESTS: _TWICE}),
        "mended": Run(_CARGO, "new", {_TESTS: _TWICE}),
        "none": Run(f"{_CARGO} zzz"),
        "absent": Run("cargo test --test nope"),
        "skipped": Run(_CARGO, "new", {_TESTS: "#[test]\n#[ignore]\nfn adds() {}\n"}),
        "other-base": Run("cargo test --test other", "old"),
        "other-good": Run("cargo test --test other"),
        "gone": Run(_CARGO, bare=True),
        "crash": Run(_CARGO, "new", {"Cargo.toml": "[package\n"}),
        "lacking": Run(_CARGO, "new", {"Cargo.toml": f'{_MANIFEST}nowhere = "1"\n'}),
        "exits": Run(
            _CARGO,
            "new",
            {_TESTS: "#[test]\nfn adds() {}\n\n#[test]\nfn stays() {\n    std::process::exit(0);\n}\n"},
        ),
        "odd": Run(_CARGO, "new", {_TESTS: RUST_ODD}),
    },
)

COMPILED = (GO, CARGO)
