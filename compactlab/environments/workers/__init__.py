"""What runs in the environments, one file each: a package's own messages, its call, and what came of every message.

A file has `versions()` and `CALLS`, functions of a `serve.Job` by name. Each gives entries: `{"at": n}` for a message
that stays, where it was edited with `content`, `arguments` (by id of the call), `calls` (ids that are left),
`reasoning` or `images` (false), and `{"role": ..., "content": ...}` for one that the package made.
"""
