"""The words that names of canaries are made of: what tests of any program could speak of."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


VERBS = _words(
    """
    keeps drops merges splits copies moves sorts joins wraps trims counts finds reads writes parses formats
    maps folds groups filters picks swaps shifts clears fills loads stores tracks links binds marks scans
    lists yields emits builds makes takes gives holds caches rounds scales limits extends shrinks expands
    flattens nests sends accepts returns resolves restores replaces updates appends inserts orders matches
    compares normalizes rejects separates
    """
)
ADJECTIVES = _words(
    """
    empty nested plain mixed quoted escaped leading trailing repeated missing optional default custom shared
    local outer inner first last single double short long wide narrow deep flat sorted partial full early
    late stale fresh cached lazy eager strict loose signed positive negative zero odd even upper lower ascii
    numeric textual raw encoded decoded padded trimmed hidden visible named anonymous indexed ordered
    shuffled adjacent distant
    """
)
NOUNS = _words(
    """
    keys values items entries labels fields names tokens words lines rows columns cells pairs groups ranges
    slices chunks blocks pages nodes edges leaves branches paths folders links headers footers titles tags
    attributes options settings flags switches limits offsets counters totals sums averages scores ranks
    weights prices amounts units dates hours minutes zones locales symbols letters digits numbers fractions
    decimals strings buffers streams queues stacks lists maps records tables indexes caches stores pools
    slots sessions cookies tickets orders invoices accounts profiles roles events signals messages replies
    requests responses payloads bodies frames packets segments prefixes suffixes separators delimiters
    quotes brackets comments markers patterns templates layouts styles colors shapes points vectors matrices
    grids layers regions bounds margins borders batches jobs steps stages phases schedules timers intervals
    overrides aliases references copies versions snapshots drafts
    """
)[:128]
RELATIONS = ("of", "for", "in", "from", "with", "without", "across", "between")
MOMENTS = tuple(
    f"{when} {event}"
    for when in ("after", "before", "during", "despite", "until", "upon", "around", "past")
    for event in ("reset", "reload", "copy", "merge", "update", "flush", "rename", "retry")
)
