"""What tool calls did, and what changed: operations on files, outcomes of commands, values that took another's place.

Read off the recorded calls and their results, exactly or not at all; `reported` and `corrections` read the same off
words: of people, of agents, and of text that a compaction made.
"""
