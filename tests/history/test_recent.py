"""Questions about objects that never change are asked once; about branches every time."""

from __future__ import annotations

from berbench.history.recent import Recent, is_fixed


def test_only_full_ids_mean_the_same_for_ever() -> None:
    assert is_fixed("a" * 40) and is_fixed("0" * 64)
    assert not any(map(is_fixed, ("main", "a" * 39, "HEAD", "A" * 40, "a" * 38 + "^0", "")))


def test_an_answer_is_given_again_until_others_took_its_place() -> None:
    recent, asked = Recent(2, longest=3), []

    def answer(text: str) -> str:
        asked.append(text)
        return text

    assert [recent.get(text, lambda text=text: answer(text)) for text in ("a", "b", "a")] == ["a", "b", "a"]
    assert asked == ["a", "b"]
    recent.get("c", lambda: answer("c"))
    assert [recent.get(text, lambda text=text: answer(text)) for text in ("a", "b")] == ["a", "b"]
    assert asked == ["a", "b", "c", "b"], "the one that was asked for longest ago had to go"
    for _ in range(2):
        recent.get("long", lambda: answer("long"))
    assert asked[-2:] == ["long", "long"], "a long answer is not kept"
