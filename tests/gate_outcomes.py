"""Outcomes of gates for the tests of what is written of them: plain ones by name, and drawn ones with any texts."""

import pytest
from hypothesis import strategies as st

from compactlab.gate.outcome import Check, FactChange, Fault, Gated

FACT = FactChange("garden", "0.55", "number", "5433", 12, "to port 5433 on", 40, "curl :5433/x", "irrecoverable")
WORSE = Check("microcompact(keep_recent=4)", "all", "irrecoverable", "fail", 0.9, 0.8, -0.1, -0.1, -0.1, 0.05, 9, 7,
              exact=True, reason="worse: 1 fact fewer; none may be lost", lost=(FACT,))  # fmt: skip
SAME = Check(
    "cull", "all", "irrecoverable", "pass", 0.9, 0.9, 0.0, 0.0, 0.0, 0.05, 9, 7, exact=True, reason="unchanged"
)
OPEN = Check("summary", "all", "bound", "inconclusive", 0.7, 0.69, -0.01, -0.08, 0.06, 0.05, 9, 7, exact=False)
WARNED = Check("ladder", "all", "bound", "pass", 0.7, 0.68, -0.02, -0.03, -0.01, 0.05, 9, 7, exact=False,
               warning="worse, beyond chance, though within the margin", lost=(FACT,))  # fmt: skip
TOLD = Check("cull", "subagent", "bound", "inconclusive", 0.9, 0.8, -0.1, None, None, 0.05, 2, 2, exact=True,
             reason="2 stories: a verdict takes 5", decides=False)  # fmt: skip
BROKEN = Fault("error", "summary", "garden", "0.4", "ValueError: no reply")
INVALID = Fault("validity", "mine:Own", "novel", "0.7", "a provider would refuse it")


def gated(verdict, checks=(), faults=(), notes=()):
    return Gated(verdict, tuple(checks), tuple(faults), "compactlab 0.1.0 · scorer 3", "baselines/x.json", tuple(notes))


OUTCOMES = {
    "worse": gated("fail", [SAME, WORSE]),
    "faults": gated("fail", [SAME], [BROKEN, INVALID, INVALID]),
    "not shown": gated("inconclusive", [OPEN, SAME]),
    "passed": gated("pass", [SAME, WARNED, TOLD]),
    "not made again": gated("inconclusive", [SAME], notes=["nothing was made a second time"]),
    "nothing": gated("inconclusive"),
}
every_outcome = pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)

# ---- any texts at all

HOSTILE = (
    "@all look at #12 and GH-7, https://github.com/a/b/issues/1",
    "</code></details><script>alert(1)</script><img src=x onerror=y>",
    "a|b\\|c\\\\|d `x` ``y`` ",
    "```\n# heading\n- item\n\n<h1>",
    "]]> <![CDATA[ &amp; &#0; &lt;",
    "\x00\x1b[31mred\x07\r\n::error::x\x0b",
    "lone \ud83d half, \u202eturned\u202c, \ufffe\uffff, \U000e0041",
    "$x^2$ ~~gone~~ **b** [a](javascript:x) ![i](y) www.example.org a@b.org :tada:",
    "",
    " ",
    "\\",
    "::warning title=a,b::50%0A",
    "x" * 5_000,
)
text = st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=40)
whole = st.integers(0, 999)
share = st.floats(-1, 1)
facts = st.lists(
    st.builds(FactChange, text, text, st.just("path"), text, whole, text, whole, text, st.just("irrecoverable")),
    max_size=4,
)
checks = st.builds(
    Check, text, text, st.sampled_from(("bound", "saved")), st.sampled_from(("pass", "fail", "inconclusive")),
    share, share, share, st.none() | share, st.none() | share, share, whole, whole, st.booleans(), text, text,
    facts.map(tuple), facts.map(tuple), st.booleans(),
)  # fmt: skip
faults = st.builds(Fault, st.sampled_from(("error", "missing", "overflow", "inverted")), text, text, text, text)


@st.composite
def outcomes(draw):
    found, broken = draw(st.lists(checks, max_size=5)), draw(st.lists(faults, max_size=3))
    decided = {check.verdict for check in found if check.decides}
    verdict = "fail" if broken or "fail" in decided else "inconclusive" if decided != {"pass"} else "pass"
    found = [c for c in found if c.decides or c.verdict == "inconclusive"]
    return Gated(verdict, tuple(found), tuple(broken), draw(text), draw(text), tuple(draw(st.lists(text, max_size=2))))
