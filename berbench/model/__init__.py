"""Floor 0: the frozen values that walk through the house.

`changes` is what history and forges tell, `task` the documents people write and review, `trial` what
containers are given and what they record. Paths are `str` decoded from UTF-8 with `surrogateescape`, so
every byte sequence git allows as a name survives the round trip (`os.fsencode` gives the bytes back).
"""
