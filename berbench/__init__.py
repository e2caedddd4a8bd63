"""berbench: your own merged pull requests as proven coding tasks."""

__version__ = "0.1.0"
