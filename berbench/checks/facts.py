"""What lint is told of the world outside the task's own files."""

from __future__ import annotations

from dataclasses import dataclass, field

from berbench.prompts.leaks import Leaks

# Problems of these codes mean that the prompt says where the answer is: the verdict `prompt-leaks`.
LEAK_CODES = frozenset(
    {
        "prompt-url",
        "prompt-repository",
        "prompt-reference",
        "prompt-commit",
        "prompt-branch",
        "prompt-trailer",
    }
)


@dataclass(frozen=True, slots=True)
class LintFacts:
    """Facts that lint needs looked up. Each has a default that switches its checks off."""

    leaks: Leaks = field(default_factory=Leaks)
    # Globs of the config as they are now; none leaves the sides of the split unjudged.
    test_patterns: tuple[str, ...] = ()
    # Why base or landing can't be resolved, and why the split law does not hold: clauses without a full stop.
    commit_problem: str = ""
    law_problem: str = ""
    # A path that the two patches together leave other than it landed: somebody edited them since.
    edited_path: str = ""
    # All paths of the base tree, for globs that match nothing.
    base_paths: frozenset[str] | None = None
    # Those of `names_in_question` that occur somewhere in the base tree.
    names_at_base: frozenset[str] | None = None
    dockerfile_present: bool = True
    # Paths that attributes hand to LFS.
    lfs: frozenset[str] = frozenset()
    # The landing's subject and body as written.
    landing_message: str = ""
    # The bytes of task.yaml, for what a parsed document no longer shows.
    task_bytes: bytes = b""
