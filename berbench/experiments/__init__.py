"""The door to the documents of experiments and tools: built in, a project's, and a user's."""

from berbench.experiments.files import Experiments
from berbench.experiments.secrets import found, host_file
from berbench.experiments.tools import Tools, read_tools, user_tools_folder

__all__ = ["Experiments", "Tools", "found", "host_file", "read_tools", "user_tools_folder"]
