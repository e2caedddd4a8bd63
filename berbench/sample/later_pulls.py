"""The later pull requests of the sample project."""

from __future__ import annotations

from berbench.model.trial import VerdictName
from berbench.sample.pulls import (
    ADA,
    BO,
    CY,
    INIT,
    LINES,
    TEST_LINES,
    TEST_WORDS,
    WORDS,
    Pull,
    Step,
    add,
    put,
    swap,
)

COMMAND_LINE = Pull(
    14,
    "Add a command line",
    ADA,
    "command-line",
    (
        Step(
            "Add a command line\n\nCloses #13",
            (
                put(
                    "tally/__main__.py",
                    '"""python -m tally: the words and lines of standard input."""\n\nimport sys\n\n'
                    "from tally import line_count, words\n\n\n"
                    "def report(text):\n"
                    '    """One line on a text."""\n'
                    '    return f"{len(words(text))} words, {line_count(text)} lines"\n\n\n'
                    'if __name__ == "__main__":\n    print(report(sys.stdin.read()))\n',
                ),
                put(
                    "tests/test_command_line.py",
                    "from tally.__main__ import report\n\n\n"
                    "def check_report():\n"
                    '    assert report("one two\\nthree\\n") == "3 words, 2 lines"\n',
                ),
            ),
        ),
    ),
    VerdictName.NO_TESTS_RAN,
    "the test function has a name that pytest does not collect",
    issue=13,
)

EMPTY_TEXT = Pull(
    16,
    "Average word length of an empty text",
    BO,
    "empty-text",
    (
        Step(
            "Average word length of an empty text",
            (
                swap(
                    WORDS,
                    "    return sum(len(word) for word in found) / len(found)",
                    "    return sum(len(word) for word in found) / len(found) if found else 0.0",
                ),
                add(
                    TEST_WORDS,
                    'def test_average_length_of_nothing():\n    assert average_length("...") == 0\n',
                ),
            ),
        ),
    ),
    VerdictName.PROMPT_LEAKS,
    "a reviewer added to the prompt where the answer is",
    issue=15,
    hasty_line="See also https://github.com/example/tally/pull/16 for how it was done.",
)

DIGITS = Pull(
    22,
    "Keep digits inside words",
    CY,
    "digits",
    (
        Step(
            "Keep digits inside words\n\nFixes #21",
            (
                swap(WORDS, '''r"[^\\W\\d_]+(?:['’][^\\W\\d_]+)*"''', '''r"[^\\W_]+(?:['’][^\\W_]+)*"'''),
                add(
                    TEST_WORDS,
                    'def test_digits_belong_to_words():\n    assert words("MP3 and 4 more") == '
                    '["mp3", "and", "4", "more"]\n',
                ),
            ),
        ),
    ),
    VerdictName.VALIDATED,
    "landed on a maintenance branch that was merged later",
    issue=21,
)

SENTENCES = Pull(
    26,
    "Count sentences",
    ADA,
    "sentences",
    (
        Step(
            "Count sentences\n\nResolves #25",
            (
                put(
                    "tally/sentences.py",
                    '"""Sentences of a text."""\n\nimport re\n\nEND = re.compile(r"[.!?…]+(?=\\s|$)")\n\n\n'
                    'def sentence_count(text):\n    """How many sentences end in a text."""\n'
                    "    return len(END.findall(text))\n",
                ),
                swap(
                    INIT, "from tally.words", "from tally.sentences import sentence_count\nfrom tally.words"
                ),
                swap(INIT, '"longest", "top"', '"longest", "sentence_count", "top"'),
                put(
                    "tests/test_sentences.py",
                    "from tally import sentence_count\n\n\n"
                    'def test_sentences_end_in_a_mark():\n    assert sentence_count("Stop! Who goes?") == 2\n\n\n'
                    "def test_a_decimal_point_ends_nothing():\n"
                    '    assert sentence_count("It is 3.14 long.") == 1\n',
                ),
            ),
        ),
    ),
    VerdictName.VALIDATED,
    "the hidden tests can't even be imported at the base",
    issue=25,
)

BYTE_ORDER_MARK = Pull(
    None,
    "Strip a byte order mark",
    BO,
    "",
    (
        Step(
            "Strip a byte order mark\n\nFiles from some editors begin with one,\n"
            "and a text that holds nothing else has no line at all.",
            (
                swap(LINES, "len(text.splitlines())", 'len(text.removeprefix("\\ufeff").splitlines())'),
                add(
                    TEST_LINES,
                    "def test_a_byte_order_mark_is_no_line():\n"
                    '    assert line_count("\\ufeff") == 0\n'
                    '    assert line_count("\\ufeffone") == 1\n',
                ),
            ),
        ),
    ),
    VerdictName.VALIDATED,
    "pushed without a pull request: taken by its commit",
)
