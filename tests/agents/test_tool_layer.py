from __future__ import annotations

import pytest

from berbench.agents import layer_recipe, tool_layer
from berbench.errors import ConfigError
from berbench.model.agent import ToolLayer
from berbench.model.tools import ToolDocument
from berbench.model.trial import Image

ROOT = Image("sha256:aa", "k", "t" * 40, "/work", "")
USER = Image("sha256:aa", "k", "t" * 40, "/work", "tester")


def tool(name: str, **install: object) -> ToolDocument:
    return ToolDocument.model_validate(
        {"schema": "berbench.tool/1", "name": name, "version": "2", "install": install}
    )


def test_all_tools_make_one_layer_whatever_their_order():
    a = tool("a", run=["npm i a@{version}"], env={"A": "1"}, check="a --version")
    b = tool("b", run=["pip install b"])
    layer = tool_layer([b, a, b])
    assert layer == tool_layer([a, b])
    assert layer.run == ("npm i a@2", "pip install b")
    assert layer.check == ("a --version",)


def test_lines_are_roots_and_checks_are_the_users():
    layer = ToolLayer(("install it",), (("PATH", "/opt/x:$PATH"),), ("it --version",))
    lines = layer_recipe(USER, layer).dockerfile.decode().splitlines()
    assert lines == [
        "FROM sha256:aa",
        "USER root",
        'ENV PATH="/opt/x:$PATH"',
        'RUN ["/bin/sh", "-c", "set -e\\ninstall it"]',
        "USER tester",
        'RUN ["/bin/sh", "-c", "it --version"]',
    ]
    assert "USER" not in layer_recipe(ROOT, layer).dockerfile.decode()


def test_a_line_may_hold_anything():
    line = "echo \"a\" 'b' \\\n  && cat <<E\n$HOME é\nE"
    text = layer_recipe(ROOT, ToolLayer((line,))).dockerfile.decode()
    assert len(text.splitlines()) == 2


def test_the_image_and_the_lines_decide_the_layer():
    one = layer_recipe(ROOT, ToolLayer(("x",)))
    assert one.key != layer_recipe(ROOT, ToolLayer(("y",))).key
    assert one.key != layer_recipe(Image("sha256:bb", "k", "t" * 40, "/work", ""), ToolLayer(("x",))).key
    assert one.key == layer_recipe(ROOT, ToolLayer(("x",))).key and one.tree == ROOT.tree


def test_a_variable_that_no_image_can_hold_is_refused():
    with pytest.raises(ConfigError, match="A B"):
        layer_recipe(ROOT, ToolLayer(env=(("A B", "x"),)))
    with pytest.raises(ConfigError):
        layer_recipe(ROOT, ToolLayer(env=(("A", "x\nRUN evil"),)))
