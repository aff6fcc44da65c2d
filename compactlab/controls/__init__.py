"""Controls, one a file: rows that tell what a number is worth. They may know what no strategy may.

Of one size, whatever the strategy:

- `null` keeps the protected set alone: the floor.
- `bag` lists the bare values of all facts at risk: what presence without meaning is worth.

At the very size of each strategy's result:

- `random` keeps random units, `random_lines` random lines: what that size is worth by luck (20 draws).
- `regex_lines` keeps the lines that look most like facts: a cheap trick that every method must beat.
- `oracle` keeps the best blocks, knowing what is needed: the most that deleting alone can do.
"""
