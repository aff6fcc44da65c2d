"""`compactlab facts`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter

from compactlab import catalog
from compactlab.cli.input import transcripts
from compactlab.cli.output import print_json, print_table
from compactlab.errors import UnknownName
from compactlab.facts import FAMILIES, mine
from compactlab.probes.mined import matcher_of


def main(options: Namespace) -> None:
    """Print every fact with the number of its homes and the message that holds the first."""
    if options.family and options.family not in FAMILIES:
        raise UnknownName(catalog.unknown("family", options.family, FAMILIES))
    found = []
    for transcript in transcripts(options):
        facts = [f for f in mine(transcript.messages) if options.family in (None, f.family)]
        matcher = matcher_of(facts)
        homes: list[list[int]] = [[] for _ in facts]
        for position, message in enumerate(transcript.messages):
            for hit in {h.pattern for block in message.blocks for h in matcher.block(block)}:
                homes[hit].append(position)
        for fact, places in zip(facts, homes, strict=True):
            first = places[0] if places else None
            found.append((transcript.id, fact.family, fact.value, len(places), first))
    if options.json:
        keys = ("session", "family", "value", "messages", "first")
        print_json([dict(zip(keys, row, strict=True)) for row in found])
        return
    print_table(("session", "family", "value", "messages", "first"), found, ("messages", "first"))
    counts = Counter(family for _, family, *_ in found)
    sys.stdout.write(f"{len(found):,} facts: {', '.join(f'{n:,} {family}' for family, n in counts.most_common())}\n")
