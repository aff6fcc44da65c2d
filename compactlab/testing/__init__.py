"""Assertions on strategies, for the tests of projects that write their own: with pytest, or without it.

    from compactlab.testing import assert_no_worse, check, conforms

    def test_it_keeps_to_the_contract():
        conforms("mypkg:MyStrategy")

    def test_it_is_good_enough():
        check("mypkg:MyStrategy", "tests/transcripts").valid().keeps(irrecoverable=0.8).saves(0.3)

    def test_it_is_no_worse_than_clearing_results():
        assert_no_worse("mypkg:MyStrategy", than="microcompact", on="tests/transcripts", margin=0.05)

Each raises `AssertionError` with a message that names the facts that were lost, where they stood and which later turn
needed them; nothing is installed into pytest. The numbers are those of the very transcripts: no interval, and nothing
is said of others. What draws, or asks a model, is for `compactlab gate` and its replicates.
"""

from compactlab.testing.checked import Checked, assert_no_worse, check
from compactlab.testing.conformance import conforms, faults

__all__ = ["Checked", "assert_no_worse", "check", "conforms", "faults"]
