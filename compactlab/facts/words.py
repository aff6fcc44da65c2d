"""Words that carry no fact: stop words in English and German, words that are capitalised without being names."""

from __future__ import annotations

_ENGLISH = """
a about above after again against all almost along already also although always am an and another any anyone anything
are around as at away back be because been before being below between both but by came can cannot come could did do
does done down during each either else enough even ever every few first for from get gets give go goes going gone got
had has have having he her here hers herself him himself his how however i if in into is isn't it its itself just keep
last least less let like made make many may me might mine more most much must my myself neither never next no nobody
none nor not nothing now of off often on once one only onto or other our ours out over own perhaps please put quite
rather really said same saw say says see seen shall she should since so some somebody someone something still such take
than that that's the their theirs them themselves then there these they thing things this those though through till to
too two under until up upon us used very want was we well went were what whatever when where whether which while who
whom whose why will with within without would yes yet you your yours yourself
"""
_GERMAN = """
aber alle alles als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den denn der des dich die
dir doch du durch ein eine einem einen einer eines er es euch für hab habe haben hat hatte ich ihm ihn ihnen ihr im in
ist ja jede jeder jetzt kann kein keine mein meine mich mir mit nach nein nicht nichts noch nun nur ob oder ohne schon
sein seine sich sie sind so über um und uns unser unter vom von vor war waren was weil wenn wer wie wieder will wir wird
wo zu zum zur
"""

STOP_WORDS: frozenset[str] = frozenset((_ENGLISH + _GERMAN).split())
GERMAN_WORDS: frozenset[str] = frozenset(_GERMAN.split()) - frozenset(_ENGLISH.split()) - {"die", "war", "hat"}

# Words with a plural's ending that count nothing, or nothing worth keeping, behind a number.
NO_THINGS: frozenset[str] = frozenset(
    """was is has its this his does as us yes across always perhaps sometimes besides else others ours theirs hers
    things times ways kinds sorts questions lots bits parts points reasons ones options choices examples becomes
    stays fits exists skips closes lands contradicts stores adds equals exceeds contains includes matches remains
    returns arrives happens belongs covers differs agrees applies appears means lives dies counts costs abs says
    goes comes makes takes gives gets seems looks needs wants runs stands lies plus minus versus less unless
    because towards afterwards pays replaces hardens discards holds shows keeps reads writes leads leaves brings puts
    tells asks begins ends starts stops opens helps hits sits breaks""".split()
)

# Capitalised words that name no person, place or thing of a session.
NO_NAMES: frozenset[str] = frozenset(
    """i i'm i'll i've i'd monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
    thursdays fridays saturdays sundays mon tue wed thu fri sat sun january february march april may june july
    august september october november december jan feb mar apr jun jul aug sep sept oct nov dec english german
    french latin spanish italian greek dutch british european american japanese chinese christmas easter god ok
    okay mr mrs ms dr sir python linux docker git github gitlab postgres postgresql redis java javascript
    typescript rust ruby golang node npm pip markdown json yaml html bash unix windows mac macos kubernetes sqlite
    excel google chrome firefox slack internet web api url ci pr readme todo note yes no thanks hello hi dear
    sorry please true false none null review finish agreed worked validate unreleased counter makefile dockerfile
    chapter section table figure part step appendix north south east west glob grep read write edit task enum
    array object string number dad mum mom daddy mummy""".split()
)
