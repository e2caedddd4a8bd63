"""The engine door: images are built and trials run in fresh containers.

`door` is the contract, `docker_engine` and `fake` keep it (`conformance` holds them to one list of checks),
and `executor` decides where trials run.
"""
