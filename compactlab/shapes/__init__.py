"""Message lists as providers want them, to and from our messages: pure functions, one file a provider.

A wire list is a list of plain dicts, as `json` gives it. What our messages cannot hold (cache marks, usage, names of
speakers) is left out; text, calls, results and pictures never are.
"""
