"""A reply that a summariser could have given to anything: all nine sections, a few words each."""

from compactlab.llm.prompts import SECTIONS

NOTES = (
    "They want it done with care.",
    "A list of boxes.",
    "One file was read.",
    "No error was left.",
    "We asked around.",
    "Word for word below.",
    "Two things are open.",
    "The list is being checked.",
    "Check the rest.",
)
LINES = [f"{number}. {title}\n{note}" for number, (title, note) in enumerate(zip(SECTIONS, NOTES, strict=True), 1)]
SUMMARY = "\n".join(["<summary>", *LINES, "</summary>"])
