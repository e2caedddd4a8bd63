"""Maven and Gradle, with JUnit 4."""

from __future__ import annotations

from project import Project, Run

JAVA_TEST = """\
package org.example;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class CalcTest {
    @Test
    public void adds() {
        assertEquals(4, Calc.add(2, 2));
    }

    @Test
    public void stays() {
        assertEquals(1, Calc.add(1, 0));
    }
}
"""
JAVA_ODD = """\
package org.example;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import org.junit.After;
import org.junit.Assume;
import org.junit.Ignore;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class CalcTest {
    static int tries = 0;

    @Parameterized.Parameters(name = "{0}")
    public static Iterable<Object[]> names() {
        return Arrays.asList(new Object[][] {
            {"a b"}, {"a/b"}, {"\\u00e9"}, {"line\\nbreak"}, {"\\u001b[31mred"}, {"\\0"}, {"<&>"}, {"same"}, {"same"},
        });
    }

    @Parameterized.Parameter public String name;

    @Test
    public void named() {
        System.out.print("\\u001b[31m \\0 ]]>");
        assertTrue(name.length() > 0);
    }

    @Test
    public void fails() {
        throw new IllegalStateException("no \\u001b \\0 \\uffff ]]>");
    }

    @Ignore("one core")
    @Test
    public void ignored() {}

    @Test
    public void assumes() {
        Assume.assumeTrue(false);
    }

    @Test(expected = IllegalStateException.class)
    public void expected() {
        throw new IllegalStateException("known");
    }

    @After
    public void tearDown() {
        if (name.equals("a b")) {
            throw new IllegalStateException("torn down");
        }
    }
}
"""
_JAVA_OLD = (
    "package org.example;\n\npublic class Calc {\n"
    "    static int add(int a, int b) {\n        return a - b;\n    }\n}\n"
)
_JAVA_NEW = _JAVA_OLD.replace("a - b", "a + b").replace(
    "    static", "    static int twice(int a) {\n        return 2 * a;\n    }\n\n    static"
)
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>calc</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope>
    </dependency>
  </dependencies>
</project>
"""
GRADLE = """\
apply plugin: 'java'
repositories { maven { url 'file:///usr/share/maven-repo' } }
dependencies { testCompile 'junit:junit:4.x' }
compileJava.options.encoding = 'UTF-8'
compileTestJava.options.encoding = 'UTF-8'
"""
_JAVA = "src/test/java/org/example/CalcTest.java"
_LOST = (
    "<dependency><groupId>org.example</groupId><artifactId>none</artifactId><version>1</version></dependency>"
)


def _java(runner: str, command: str, manifest: tuple[str, str], select: str, lacking: str) -> Project:
    asks = JAVA_TEST.replace("Calc.add(1, 0)", "Calc.twice(1) - 1")
    own = f"{command} {select.format('org.example.CalcTest')}"
    other = {_JAVA.replace("Calc", "Other"): JAVA_TEST.replace("CalcTest", "OtherTest")}
    return Project(
        runner=runner,
        hidden=_JAVA,
        files={manifest[0]: manifest[1], _JAVA: JAVA_TEST},
        old={"src/main/java/org/example/Calc.java": _JAVA_OLD},
        new={"src/main/java/org/example/Calc.java": _JAVA_NEW},
        runs={
            "base": Run(own, "old"),
            "good": Run(own),
            "broken": Run(own, "old", {_JAVA: asks}),
            "mended": Run(own, "new", {_JAVA: asks}),
            "none": Run(
                f"{command} {select.format('org.example.CalcTest' + ('#' if runner == 'maven' else '.') + 'zzz')}"
            ),
            "absent": Run(f"{command} {select.format('org.example.NopeTest')}"),
            "skipped": Run(
                own, "new", {_JAVA: JAVA_TEST.replace("    @Test", "    @org.junit.Ignore @Test")}
            ),
            "other-base": Run(f"{command} {select.format('org.example.OtherTest')}", "old", other),
            "other-good": Run(f"{command} {select.format('org.example.OtherTest')}", "new", other),
            "gone": Run(own, bare=True),
            "crash": Run(own, "new", {manifest[0]: "<project" if runner == "maven" else "no such thing {"}),
            "lacking": Run(own, "new", {manifest[0]: lacking}),
            "exits": Run(
                own,
                "new",
                {_JAVA: JAVA_TEST.replace("assertEquals(1, Calc.add(1, 0))", "Runtime.getRuntime().halt(0)")},
            ),
            "odd": Run(own, "new", {_JAVA: JAVA_ODD}),
        },
    )


MAVEN = _java(
    "maven",
    "mvn -o -B -s /etc/maven/settings-debian.xml -Dmaven.repo.local=/usr/share/maven-repo test",
    ("pom.xml", POM),
    "-Dtest={}",
    POM.replace("</dependencies>", f"{_LOST}</dependencies>"),
)
GRADLE_PROJECT = _java(
    "gradle",
    "gradle --offline --no-daemon --console=plain test",
    ("build.gradle", GRADLE),
    "--tests {}",
    GRADLE.replace("testCompile '", "testCompile 'org.example:nowhere:1'\ntestCompile '").replace(
        "dependencies { ", "dependencies {\n"
    ),
)

JVM = (MAVEN, GRADLE_PROJECT)
