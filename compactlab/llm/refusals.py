"""Replies that are no summary by their words: refusals, errors put into words, calls of tools, a talk that goes on.

All look at the beginning, and a refusal or an error only counts in a short text: a good summary may tell of one.
"""

from __future__ import annotations

import re

LONGEST_REFUSAL = 120
"""Words of a text from which it says more than that it refuses; a letter of a script without blanks counts half."""

_REFUSAL = re.compile(
    r"""[\s"'*#>-]*(?:
    (?:i['’]?m|i\ am)\ (?:so\ |very\ |really\ )?(?:sorry|afraid)[,.]?\ (?:but\ |that\ )?
        (?:i|this|that)\ (?:can|am|won|must|do)
    | (?:i['’]?m|i\ am)\ (?:not\ able|unable|not\ allowed|not\ comfortable|not\ permitted)\ (?:to|with)
    | (?:sorry|apologies|i\ apologi[sz]e)\b[^.\n]{0,30}\bi\ (?:can|won|am\ unable|am\ not\ able)
    | i\ (?:can['’]?t|cannot|can\ not|won['’]?t|will\ not)\ (?:help|assist|comply|fulfil|do\ that|continue|process
        |provide|create|summari[sz]e|complete\ (?:this|that|your))
    | i\ (?:must|have\ to)\ (?:respectfully\ )?(?:decline|refuse) | as\ an\ ai\b
    | (?:this|the)\ (?:request|content|conversation)\ (?:violates|goes\ against|was\ (?:blocked|filtered))
    | (?:es\ )?tut\ mir\ leid,?\ (?:aber\ )?(?:ich|dabei|das)
    | (?:leider\ )?kann\ ich\ (?:ihnen\ |dir\ )?(?:dabei|damit|das)\ .{0,20}nicht
    | ich\ kann\ (?:ihnen\ |dir\ )?(?:dabei|damit|diese[nrs]?|das)\ .{0,30}(?:nicht|leider)
    | (?:je\ suis\ )?(?:vraiment\ )?désolée?,?\ (?:mais\ )?je\ ne | je\ ne\ (?:peux|suis)\ (?:malheureusement\ )?pas
    | lo\ siento,?\ (?:pero\ )?no | no\ puedo\ (?:ayudar|asistir|cumplir|proporcionar)
    | (?:desculpe|sinto\ muito|lamento),?\ (?:mas\ )?(?:eu\ )?não | não\ posso\ (?:ajudar|atender)
    | mi\ dispiace,?\ (?:ma\ )?non | non\ posso\ (?:aiutar|soddisfare)
    | het\ spijt\ me,?\ (?:maar\ )?(?:ik|dat) | przykro\ mi,?\ (?:ale\ )?nie
    | (?:jag\ är\ )?(?:ledsen|tyvärr),?\ (?:men\ )?jag\ kan
    | üzgünüm,?\ (?:ancak|ama) | maaf,?\ (?:tetapi\ |tapi\ )?saya\ tidak
    | (?:извините|к\ сожалению|простите),?\ (?:но\ )?я\ не | я\ не\ могу\ (?:помочь|выполнить)
    | (?:很?抱歉|对不起|對不起)[,，]?\ ?(?:但)?我?(?:无法|不能|沒辦法|没办法|無法)
    | 我(?:无法|不能|無法)(?:提供|协助|協助|帮助|满足|完成)
    | (?:申し訳(?:ありません|ございません)|すみません)(?:が|けど)?[、,]? | お手伝い(?:できません|することはできません)
    | 죄송(?:합니다|하지만|해요) | عذر[اً] | क्षमा\ करें
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_ERROR = re.compile(
    r"""\s*(?:
    (?:api\ )?error\b[^\n]{0,60}
        \b(?:4\d\d|5\d\d|limit|quota|overload|time[d\ -]?\ ?out|context|token|connect|model|request)
    | error\ code:\ ?\d{3} | (?:rate\ limit|quota|context\ length|maximum\ context)\b[^\n]{0,40}\b(?:exceed|reach)
    | (?:internal\ server\ error|bad\ gateway|service\ unavailable|gateway\ time-?out|too\ many\ requests)
    | upstream\ (?:connect|request)
    | (?:the\ )?(?:request|model|server)\ (?:timed\ out|is\ (?:currently\ )?overloaded|failed\ with)
    | (?:4\d\d|5\d\d)\b[:\ ][^\n]{0,20}(?:error|limit|gateway|unavailable|requests|forbidden|unauthorized)
    | traceback\ \(most\ recent | (?:prompt|input)\ is\ too\ long
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_MATERIAL = re.compile(
    r"""[\s"'*#>-]*(?:(?:i['’]?m\ sorry|sorry|it\ (?:looks|seems)\ like|unfortunately|i\ apologi[sz]e)[^\n]{0,40}?)?
    (?:there\ (?:is|was|are)\ no\ (?:conversation|content|material|text|messages|transcript)\b
    | (?:please|could\ you|can\ you)\ (?:please\ )?(?:provide|share|paste|send)\b[^\n]{0,40}
        \b(?:conversation|text|transcript|material|messages|content)
    | i\ (?:don['’]?t|do\ not|can['’]?t|cannot)\ see\ (?:any|the|a)
        \ (?:conversation|content|material|text|messages|transcript)
    | no\ (?:conversation|content|material|text|transcript)\ (?:was|has\ been|is|were)
        \ (?:provided|given|included|shared)
    | you\ (?:haven['’]?t|have\ not|didn['’]?t)\ (?:provided?|shared?|included?|given)
    | (?:bitte\ )?(?:geben|stellen|teilen)\ sie\ (?:mir\ )?(?:den|das|die)\ (?:text|gespräch|unterhaltung)
    | 请提供|請提供)""",
    re.VERBOSE | re.IGNORECASE,
)
_CALL = re.compile(
    r"""\s*(?:```(?:json|xml|tool_code|tool_call)\s*)?(?:
    <(?:tool_call|tool_use|tool_code|function_calls?|function=|invoke\b|execute_|use_mcp_tool|[a-z]+:(?:invoke|function_calls))
    | <\|(?:python_tag|tool|channel|start)\W | \[TOOL_CALLS?\] | <｜tool | functions?\.\w+\s*[:({]
    | \{\s*"(?:tool|tool_name|name|action|function|tool_calls|type|cmd|command)"\s*:
    | (?:thought|action|tool|function\ call):[^\n]*\n(?:[^\n]*\n){0,3}?
        \s*(?:action|action\ input|arguments|input|parameters):
    | <!doctype\ html | <html\b | <\?xml | print\(default_api\. | \[assistant\ ->
    )""",
    re.VERBOSE | re.IGNORECASE,
)
CONTINUED = re.compile(r"^\[(?:user|assistant|tool|system)\b[^\]\n]{0,60}\]", re.MULTILINE)
"""A line that begins as the material of a request does."""


def kind_of_refusal(text: str) -> str:
    """Say what a short text is instead of a reply: a refusal, an error, a question for the material; empty for none.

    >>> kind_of_refusal("I'm sorry, but I can't help with that."), kind_of_refusal("She is sorry that she can't come.")
    ('is a refusal', '')
    """
    if _words(text) >= LONGEST_REFUSAL:
        return ""
    kinds = {
        "is an error in words": _ERROR,
        "says that there is nothing to read": _NO_MATERIAL,
        "is a refusal": _REFUSAL,
    }
    return next((kind for kind, pattern in kinds.items() if pattern.match(text)), "")


def is_call(text: str) -> bool:
    """Tell whether a text is a call of a tool, or a page, in the ways that models write them."""
    return bool(_CALL.match(text))


def _words(text: str) -> int:
    return max(len(text.split()), len(re.findall("[一-鿿぀-ヿ]", text)) // 2)
