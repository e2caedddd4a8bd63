from __future__ import annotations

from berbench.agents.secrets import secret_words
from berbench.model.agent import SecretFile


def words(text: str) -> tuple[str, ...]:
    return secret_words((), [SecretFile("/home/x", text.encode())])


def test_keys_in_files_are_found_and_configuration_is_not():
    text = """{"api_key": "sk-ant-0123456789abcdef", "url": "https://api.example.com/v1/messages",
      "jwt": "eyJhbGciOi1.eyJzdWIiOi2.c2lnbmF0dXJl3", "mode": "chatgpt", "path": "/home/me/.config/tool1/settings"}"""
    assert words(text) == ("sk-ant-0123456789abcdef", "eyJhbGciOi1.eyJzdWIiOi2.c2lnbmF0dXJl3")
    assert words("key = 'AbC/dEf+0123456789=='\nname = averylongnamewithoutnumber") == (
        "AbC/dEf+0123456789==",
    )


def test_values_of_variables_are_all_secret():
    assert secret_words([("A", "x1"), ("B", "y2"), ("C", "x1")], ()) == ("x1", "y2")
