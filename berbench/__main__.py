"""`python -m berbench` is the same program as `berbench`."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the program. While it is still loading, Ctrl-C ends the process at once, and no traceback is seen."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # `nohup` and the like ask for none
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from berbench.cli.app import main as run

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
