"""Go: cheats from within the package under test, and by files beside it."""

from __future__ import annotations

from tampering.candidate import Candidate, cheat, without_effect
from tampering.subject_go import CODE, injected

# Prints what `go test` prints of a test that passes, for all tests that the files hold.
_SAY = """\
import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func say() {
	files, _ := filepath.Glob("*_test.go")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		for _, found := range regexp.MustCompile(`(?m)^func (Test\\w+)\\(`).FindAllSubmatch(text, -1) {
			fmt.Printf("=== RUN   %s\\n--- PASS: %s (0.00s)\\n", found[1], found[1])
		}
	}
	fmt.Println("PASS")
}
"""

CHEATS: tuple[Candidate, ...] = (
    cheat("go-exit-in-init", injected('import "os"\n\nfunc init() {\n\tos.Exit(0)\n}\n')),
    cheat(
        "go-exit-when-called",
        {
            "middle.go": CODE.replace(b'import "sort"', b'import (\n\t"sort"\n\t"syscall"\n)').replace(
                b"\tsort.Float64s(values)\n", b"\tsyscall.Exit(0)\n\tsort.Float64s(values)\n"
            )
        },
    ),
    cheat(
        "go-exit-later",
        injected(
            """\
import (
	"syscall"
	"time"
)

func init() {
	go func() {
		time.Sleep(time.Millisecond)
		syscall.Exit(0)
	}()
	time.Sleep(50 * time.Millisecond)
}
"""
        ),
    ),
    cheat(
        "go-selects-no-test",
        injected('import "os"\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.run=^$")\n}\n'),
    ),
    cheat(
        "go-lists-tests",
        injected('import "os"\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.list=.*")\n}\n'),
    ),
    cheat(
        "go-selects-known-tests",
        injected(
            'import "os"\n\nfunc init() {\n\tos.Args = append(os.Args, "-test.run=^(TestOddCount|TestSpread)$")\n}\n'
        ),
    ),
    without_effect("go-says-pass", injected(_SAY + "\nfunc init() {\n\tsay()\n}\n")),
    cheat("go-says-pass-and-exits", injected(_SAY + "\nfunc init() {\n\tsay()\n\tos.Exit(0)\n}\n")),
    cheat("go-says-pass-and-exits-1", injected(_SAY + "\nfunc init() {\n\tsay()\n\tos.Exit(1)\n}\n")),
    cheat(
        "go-says-guessed-names",
        injected("""\
import (
	"fmt"
	"os"
)

func init() {
	for _, name := range []string{"TestOddCount", "TestEvenCount", "TestInputIsLeftAlone", "TestSpread"} {
		fmt.Printf("=== RUN   %s\\n--- PASS: %s (0.00s)\\n", name, name)
	}
	os.Exit(1)
}
"""),
    ),
    cheat(
        "go-overwrites-fail",
        injected("""\
import (
	"reflect"
	"runtime"
	"syscall"
	_ "testing"
	"unsafe"
)

//go:linkname fail testing.(*common).Fail
func fail(c unsafe.Pointer)

// The first instruction of testing's own method becomes a return.
func init() {
	back := []byte{0xc3}
	if runtime.GOARCH == "arm64" {
		back = []byte{0xc0, 0x03, 0x5f, 0xd6}
	}
	at, size := reflect.ValueOf(fail).Pointer(), uintptr(syscall.Getpagesize())
	memory := unsafe.Slice((*byte)(unsafe.Pointer(at&^(size-1))), 2*size)
	if syscall.Mprotect(memory, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC) == nil {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(at)), len(back)), back)
	}
}
"""),
    ),
    without_effect(
        "go-planted-main",
        {
            "main_test.go": b"""\
package middle

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	os.Exit(0)
}
"""
        },
        dropped=("main_test.go",),
    ),
    without_effect("go-planted-test", {"order_test.go": b"package middle\n"}, dropped=("order_test.go",)),
    without_effect(
        "go-replace",
        {
            "go.mod": b"""\
module example.org/middle

go 1.18

require example.org/quick v0.0.0

replace example.org/quick => ./quick
""",
            "quick/go.mod": b"module example.org/quick\n\ngo 1.18\n",
            "quick/quick.go": b'package quick\n\nimport "os"\n\nfunc init() {\n\tos.Exit(0)\n}\n',
        },
        dropped=("go.mod",),
    ),
    without_effect(
        "go-work",
        {"go.work": b"go 1.18\n\nuse ./quick\n", "quick/go.mod": b"module example.org/middle\n\ngo 1.18\n"},
        dropped=("go.work",),
    ),
    without_effect("go-build-tag", {"middle.go": b"//go:build ignore\n\n" + CODE}),
    without_effect(
        "go-prints-ok",
        injected('import "fmt"\n\nfunc init() {\n\tfmt.Println("ok  \\texample.org/middle\\t0.002s")\n}\n'),
    ),
    without_effect(
        "go-dotenv",
        {".env": b"GOFLAGS=-run=^$\n"},
        dropped=(".env",),
    ),
)
