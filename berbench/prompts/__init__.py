"""From issues, descriptions and messages to the only text an agent sees, with nothing that leads to the answer."""

from berbench.prompts.leaks import Leak, Leaks, find_leaks
from berbench.prompts.scrubbing import scrub
from berbench.prompts.writing import Draft, title_of, write_prompt

__all__ = ["Draft", "Leak", "Leaks", "find_leaks", "scrub", "title_of", "write_prompt"]
