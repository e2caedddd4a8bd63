"""Fuzzing of all that reads bytes from outside: `python -m benchmarks.fuzz --seconds 600 [TARGET…]`.

Whatever the bytes, a reader gives a value or an error of berbench's own family, in time and memory that go with
their number; where a law holds (ids are unique, an edit keeps what stands beside it), it is checked on each.
"""
