"""PHPUnit and RSpec."""

from __future__ import annotations

from project import Project, Run

PHP_TEST = """\
<?php
require_once __DIR__ . '/../src/calc.php';

use PHPUnit\\Framework\\TestCase;

final class CalcTest extends TestCase
{
    public function testAdds(): void
    {
        $this->assertSame(4, add(2, 2));
    }

    public function testStays(): void
    {
        $this->assertSame(1, add(1, 0));
    }
}
"""
PHP_ODD = """\
<?php
use PHPUnit\\Framework\\TestCase;

final class CalcTest extends TestCase
{
    public function names(): array
    {
        $names = ['a b', 'a/b', 'é', "line\\nbreak", "\\x1b[31mred", "\\x00", "\\xff", '<&>', 'same'];
        $names[] = str_repeat('x', 10240);
        return array_combine($names, array_map(fn ($name) => [$name], $names));
    }

    /** @dataProvider names */
    public function testNames(string $name): void
    {
        echo "\\x1b[31m \\x00 ]]>";
        $this->assertNotSame('', $name);
    }

    public function testFails(): void
    {
        throw new RuntimeException("no \\x1b \\x00 \\xff ]]>");
    }

    public function testSkipped(): void
    {
        $this->markTestSkipped('one core');
    }

    public function testIncomplete(): void
    {
        $this->markTestIncomplete('later');
    }

    public function testRisky(): void
    {
    }

    public function testWarns(): void
    {
        trigger_error('deprecated', E_USER_DEPRECATED);
    }

    protected function tearDown(): void
    {
        if ($this->getName() === 'testTorn') {
            throw new RuntimeException('torn down');
        }
    }

    public function testTorn(): void
    {
        $this->assertTrue(true);
    }
}
"""
_PHP_OLD = "<?php\nfunction add(int $a, int $b): int\n{\n    return $a - $b;\n}\n"
_PHP = "tests/CalcTest.php"
_NEEDS = "require_once __DIR__ . '/../src/twice.php';\n"
_PHPUNIT = "phpunit"
PHPUNIT = Project(
    runner="phpunit",
    hidden=_PHP,
    files={
        _PHP: PHP_TEST,
        "tests/OtherTest.php": PHP_TEST.replace("CalcTest", "OtherTest"),
    },
    old={"src/calc.php": _PHP_OLD},
    new={"src/calc.php": _PHP_OLD.replace("$a - $b", "$a + $b"), "src/twice.php": "<?php\n"},
    runs={
        "base": Run(f"{_PHPUNIT} {_PHP}", "old"),
        "good": Run(f"{_PHPUNIT} {_PHP}"),
        "broken": Run(
            f"{_PHPUNIT} {_PHP}", "old", {_PHP: PHP_TEST.replace("<?php\n", f"<?php\n{_NEEDS}", 1)}
        ),
        "mended": Run(
            f"{_PHPUNIT} {_PHP}", "new", {_PHP: PHP_TEST.replace("<?php\n", f"<?php\n{_NEEDS}", 1)}
        ),
        "none": Run(f"{_PHPUNIT} --filter zzz {_PHP}"),
        "absent": Run(f"{_PHPUNIT} tests/NopeTest.php"),
        "skipped": Run(
            f"{_PHPUNIT} {_PHP}",
            "new",
            {
                _PHP: PHP_TEST.replace(
                    "$this->assertSame(4, add(2, 2))", "$this->markTestSkipped('no')"
                ).replace("$this->assertSame(1, add(1, 0))", "$this->markTestSkipped('no')")
            },
        ),
        "other-base": Run(f"{_PHPUNIT} tests/OtherTest.php", "old"),
        "other-good": Run(f"{_PHPUNIT} tests/OtherTest.php"),
        "gone": Run(f"{_PHPUNIT} {_PHP}", bare=True),
        "crash": Run(
            f"{_PHPUNIT} {_PHP}", "new", {"phpunit.xml": "<phpunit bootstrap='nowhere.php'></phpunit>\n"}
        ),
        "lacking": Run(
            f"{_PHPUNIT} {_PHP}",
            "new",
            {_PHP: PHP_TEST.replace("<?php\n", "<?php\nNowhere\\Package::load();\n", 1)},
        ),
        "exits": Run(
            f"{_PHPUNIT} {_PHP}",
            "new",
            {_PHP: PHP_TEST.replace("$this->assertSame(1, add(1, 0))", "exit(0)")},
        ),
        "odd": Run(f"{_PHPUNIT} {_PHP}", "new", {_PHP: PHP_ODD}),
    },
)

RUBY_TEST = """\
require_relative '../lib/calc'

RSpec.describe 'calc' do
  it('adds') { expect(add(2, 2)).to eq(4) }
  it('stays') { expect(add(1, 0)).to eq(1) }
end
"""
RUBY_ODD = """\
RSpec.describe 'calc' do
  ['a b', 'a/b', 'é', "line\\nbreak", "\\e[31mred", "\\0", 'same', 'same', 'x' * 10240].each do |name|
    it(name) { print "\\e[31m 3 examples, 0 failures" }
  end
  it('fails') { raise "no \\e \\0" }
  it('skipped', skip: 'one core') {}
  it('later')
  it('expected') { pending('known'); raise 'known' }
  it('unexpected') { pending('known') }
  context 'torn' do
    after { raise 'torn down' }
    it('down') {}
  end
end
"""
_RUBY_OLD = "def add(a, b)\n  a - b\nend\n"
_SPEC = "spec/calc_spec.rb"
_WANTS = "require_relative '../lib/twice'\n"
RSPEC = Project(
    runner="rspec",
    hidden=_SPEC,
    files={_SPEC: RUBY_TEST, "spec/other_spec.rb": RUBY_TEST.replace("adds", "also")},
    old={"lib/calc.rb": _RUBY_OLD},
    new={"lib/calc.rb": _RUBY_OLD.replace("a - b", "a + b"), "lib/twice.rb": ""},
    runs={
        "base": Run(f"rspec {_SPEC}", "old"),
        "good": Run(f"rspec {_SPEC}"),
        "broken": Run(f"rspec {_SPEC}", "old", {_SPEC: _WANTS + RUBY_TEST}),
        "mended": Run(f"rspec {_SPEC}", "new", {_SPEC: _WANTS + RUBY_TEST}),
        "none": Run(f"rspec {_SPEC} -e zzz"),
        "absent": Run("rspec spec/nope_spec.rb"),
        "skipped": Run(f"rspec {_SPEC}", "new", {_SPEC: RUBY_TEST.replace("it(", "xit(")}),
        "other-base": Run("rspec spec/other_spec.rb", "old"),
        "other-good": Run("rspec spec/other_spec.rb"),
        "gone": Run(f"rspec {_SPEC}", bare=True),
        "crash": Run(f"rspec {_SPEC}", "new", {".rspec": "--no-such-option\n"}),
        "lacking": Run(f"rspec {_SPEC}", "new", {_SPEC: f"require 'nowhere'\n{RUBY_TEST}"}),
        "exits": Run(
            f"rspec {_SPEC}", "new", {_SPEC: RUBY_TEST.replace("expect(add(1, 0)).to eq(1)", "exit!(0)")}
        ),
        "odd": Run(f"rspec {_SPEC}", "new", {_SPEC: RUBY_ODD}),
    },
)

OTHER = (PHPUNIT, RSPEC)
