"""Controls, one a file: rows that tell what a number is worth. They may know what no strategy may.

- `null` keeps the protected set alone: the floor.
- `random` keeps random units up to the very size of a strategy's result: what that size is worth by luck.
- `bag` lists the bare values of all facts at risk: what presence without meaning is worth.
"""
