"""The errors of compactlab: each says where, what was found, what was expected.

CompactlabError
├── TranscriptError (ValueError)   a file or a message list that cannot be read or written
├── UnknownName     (LookupError)  a strategy, reader, counter or metric that does not exist
├── SpecError       (ValueError)   a spec or a setting that exists but is written wrongly
└── RunError        (ValueError)   a run folder that cannot be resumed, read or compared
"""


class CompactlabError(Exception):
    """Base of every error that compactlab raises on purpose; the command line prints it as one line and exits 2."""


class TranscriptError(CompactlabError, ValueError):
    """A file or message list is not what its format promises."""


class UnknownName(CompactlabError, LookupError):  # noqa: N818  # reads as what it is
    """A name stands in no catalog."""


class SpecError(CompactlabError, ValueError):
    """A spec string, parameter or setting has a wrong form or value."""


class RunError(CompactlabError, ValueError):
    """A run folder is incomplete, foreign, or not comparable."""
