"""`python -m berbench` is the same program as `berbench`."""

from berbench.cli.app import main

if __name__ == "__main__":
    main()
