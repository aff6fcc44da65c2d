"""The words by which a sentence demands, forbids, softens, permits, takes back, chooses or gives up something.

English and German, and the commonest of Chinese and Japanese. All patterns are read on plain text (`wording.plain`).
"""

from __future__ import annotations

import re

FORBIDS = re.compile(
    r"\b(?:never|must not|mustn't|do not|don't|dont|not|no|nothing|nobody|none|without|neither|nor|forbidden|banned"
    r"|prohibited|taboo|off[- ]limits|cannot|can't|won't|shouldn't|refuse[sd]?|stop|avoid(?:s|ed|ing)?|isn't|aren't"
    r"|doesn't|didn't|needn't|nie|niemals|nicht|nichts|kein(?:e[nmrs]?)?|verboten|untersagt)\b"
    r"|不要|不得|请勿|請勿|切勿|禁止|不能|不可|别|勿|しないで|してはいけ|するな"
)
DEMANDS = re.compile(
    r"\b(?:must|always|only|ha(?:ve|s) to|make sure|ensure|be sure|at most|at least|no more than|not more than"
    r"|no longer than|not longer than|required?|mandatory|shall|exactly|from now on|strictly|every time"
    r"|needs? to|stays?"
    r"|unchanged|untouched|leave|keep|insists?|immer|nur|muss|müssen|musst|müsst|höchstens|mindestens|stets|unbedingt"
    r"|ausschließlich)\b|必须|必須|务必|務必|一定要|只能|总是|總是|始终|必ず|常に"
)
SOFTENS = re.compile(
    r"\b(?:should|shouldn't|may|might|could|try|tries|prefer(?:s|red|ably)?|ideally|if possible|when possible"
    r"|where possible|consider|perhaps|maybe|generally|usually|normally|mostly|careful|carefully|avoid(?:s|ed|ing)?"
    r"|discouraged|recommended|suggest(?:s|ed)?|would be nice|nice to have|rather|sollte[nst]?|möglichst|vielleicht"
    r"|eher|versuch(?:e|en|t)?|lieber)\b|尽量|盡量|最好|应该|應該|なるべく|できれば"
)
DISSUADES = re.compile(
    r"\b(?:discouraged|careful|carefully|caution|cautious|cautiously|sparingly|rarely|seldom|reluctant(?:ly)?|unavoidable"
    r"|hesitate|kept out|stay(?:s|ed)? out|limit(?:s|ed)? how|ungern|selten|vorsichtig)\b"
)
"""Words that advise against a thing without forbidding it."""
PERMITS = re.compile(
    r"\b(?:(?:is|are|it's|that's|be) (?:fine|ok|okay|alright|safe|allowed|permitted|free|acceptable)|fine to"
    r"|ok to|okay to"
    r"|allowed to|free to|feel free|go ahead|may|can|let's|permitted|approved|agreed to|wants? to|happy (?:to|with)"
    r"|darf(?:st)?|dürf(?:en|t)|kann(?:st)?|erlaubt)\b|可以|允许|允許|てもいい|てもよい"
)
CANCELS = re.compile(
    r"\b(?:ignor(?:e|es|ed|ing)|forget(?: about)?|disregard(?:s|ed)?|scrap(?:ped)?|no longer|lift(?:ed|s)?|withdrawn"
    r"|overrul(?:e|ed|es)|override[sn]?|obsolete|outdated|does not apply|doesn't apply|not apply|cancel(?:led|ed|s)?"
    r"|revoked?|relax(?:ed)?|dropped|not binding|taken back|take back|isn't true|not true|wrong to say|vergiss"
    r"|ignorier(?:e|en|t)"
    r"|gilt nicht mehr|aufgehoben|nicht mehr)\b|忘记|忽略|取消|作废"
)
PASSIVE = re.compile(r"\b(?:be|is|are|was|being|been|werden|wird|worden)\b")
CHOOSES = re.compile(
    r"\b(?:chose|chosen|choose|picked|pick|went with|go(?:ing)? with|settled (?:on|for)|opted for|decided (?:on|for|to)"
    r"|decision|decided|switch(?:ed|ing)? to|agreed(?: on)?|selected|use|using|take|taking|took|keep|keeping"
    r"|will be|it is"
    r"|yes|let's|we'll|i'll|now|entschieden|nehmen|nimmt|genommen|gewählt|beschlossen)\b|决定|決定|选择|採用"
)
REJECTS = re.compile(
    r"\b(?:instead of|rather than|in place of|in favou?r of|over|not|no|against|rejected|rejects?|ruled out"
    r"|drop(?:ped)?(?! on)"
    r"|abandoned|gave up|given up|giving up|failed|fails|failing|doesn't work|didn't work|did not work|does not work"
    r"|won't work|discarded|replaced|without|no longer|out|dead|gone|unlike|avoid(?:ed|ing)?|statt|anstatt|anstelle"
    r"|verworfen|gegen|nicht|kein(?:e[nmrs]?)?|aufgegeben|gescheitert)\b|放弃|而不是|代わりに"
)
DONE = re.compile(
    r"\[x\]|[✓✔✅☑]|\b(?:done|completed?|finished|closed|resolved|fixed|solved|merged|shipped|implemented"
    r"|erledigt|fertig"
    r"|abgeschlossen)\b|已完成|完了"
)
OPEN = re.compile(
    r"\[ \]|[☐⬜]|\b(?:pending|to[- ]?do|open|in[_ ]progress|next|remaining|remains?|left|outstanding|still"
    r"|not (?:yet )?(?:done"
    r"|completed?|finished|started)|unfinished|incomplete|not yet|blocked|will|needs? to|must|offen|ausstehend|noch)\b"
    r"|待办|未完了"
)
SCOPE = re.compile(
    r"\b(?:(?:except(?: for)?|unless|until|till|before|after|during|while|outside|apart from|other than"
    r"|only (?:on|at|in|for|when"
    r"|if|after|before|during|from|to)|when|whenever|if|in production|außer|ausser|bis|solange|wenn|nur (?:am"
    r"|im|bei|für|von))\b"
    r"(?:\s[^\s,;:!]+){0,6}|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|on weekdays\b|at weekends\b"
    r"|am (?:mon|diens|donners|frei|sams|sonn)tags?\b|mittwochs\b)"
)
LIKES = re.compile(
    r"\b(?:prefer(?:s|red|ence)?|rather|sooner|likes?|liked|loves?|hates?|dislikes?|can't (?:stand|bear)"
    r"|cannot (?:stand|bear)"
    r"|takes? (?:my|his|her|their|it)|favou?rite|lieber|bevorzugt?|mag|liebsten)\b|喜欢"
)
