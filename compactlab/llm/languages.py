"""Which language a text is in: by its script, and in Latin script by words that one language alone uses often.

Small and sure rather than fine: a text that is short, mixed, or of a language that is not listed is in none. It serves
one question, whether a summary is in another language than its conversation.
"""

from __future__ import annotations

import re
from collections import Counter

LEAST = 10
"""Signs of a language that a text must hold before it counts as one of that language."""

_WORDS = {
    "English": "the and of with that this is was were has have from they which would should could been their what when",
    "German": "der die das und ist nicht mit den dem ein eine einen für auf wird wurde sind auch noch wenn dass sich",
    "French": "le les des est et une dans pour qui que sur avec pas nous vous cette sont aux être était mais où ces du",
    "Spanish": "el los las una y que con por para está son del pero como más fue ser este esta han hay también muy lo",
    "Portuguese": "os uma não com para são mas mais foi ser está pelo pela isso esse também você dos das ao em ou até",
    "Italian": "il gli della che non è con sono del una per di ma più anche nel alla questo questa dei delle dal stato",
    "Dutch": "de het een en van niet met voor zijn wordt werd deze naar ook maar bij dat heeft hebben nog worden er",
    "Polish": "nie jest się że na do jak ale czy przez został była są dla oraz tego który która które po od być",
    "Swedish": "och att det som är inte på för med av den ett har till om kan ska från eller var när också",
    "Danish": "og at det som er ikke på for med af den et har til om kan skal fra eller var når også blev",
    "Turkish": "ve bir bu için ile değil olarak çok daha gibi kadar sonra ama veya olan oldu var yok",
    "Czech": "je se na že není jsou byl byla pro ale jak nebo jako také který která podle při bylo bude",
    "Indonesian": "yang dan di untuk dengan tidak ini itu dari pada adalah akan sudah belum atau juga dalam ke",
    "Vietnamese": "và của là không được cho với một các có trong này đã để khi người những thì",
}
_OF_WORD: dict[str, set[str]] = {}
for _language, _list in _WORDS.items():
    for _word in _list.split():
        _OF_WORD.setdefault(_word, set()).add(_language)

_SCRIPTS = {
    "Chinese": "一-鿿",
    "Japanese": "぀-ヿ",
    "Korean": "가-힯",
    "Russian": "Ѐ-ӿ",
    "Greek": "Ͱ-Ͽ",
    "Arabic": "؀-ۿ",
    "Hebrew": "֐-׿",
    "Hindi": "ऀ-ॿ",
    "Thai": "฀-๿",
}
_LETTERS = {language: re.compile(f"[{letters}]") for language, letters in _SCRIPTS.items()}
_WORD = re.compile(r"(?<![\w/.@`-])[^\W\d_]{1,12}(?![\w/@`-])")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
LETTERS_PER_SIGN = 3


def signs(text: str) -> Counter[str]:
    """Count signs of each language in a text, code left out: words of its own, or three letters of its script.

    >>> signs("Der Port ist nicht offen, und die Tabelle ist leer.").most_common(1)
    [('German', 6)]
    """
    plain = _CODE.sub(" ", text)
    found: Counter[str] = Counter()
    for word in _WORD.findall(plain):
        of = _OF_WORD.get(word.lower(), ())
        for language in of:
            found[language] += 1
    if not plain.isascii():
        for language, letters in _LETTERS.items():
            if count := len(letters.findall(plain)) // LETTERS_PER_SIGN:
                found[language] += count
        if found["Japanese"] * 8 > found["Chinese"]:  # kana among the characters that both use
            found["Japanese"] += found.pop("Chinese", 0)
    return +found


def language(text: str) -> str:
    """Name the language of a text; an empty string where it is short, mixed or none of those known.

    >>> language("Der Port ist nicht offen, die Tabelle ist leer, und auf dem Host ist noch nichts.")
    'German'
    >>> language("ok")
    ''
    """
    first, second = [*signs(text).most_common(2), ("", 0), ("", 0)][:2]
    return first[0] if first[1] >= LEAST and first[1] >= 2 * second[1] else ""


def is_foreign(text: str, conversation: str) -> str:
    """Name the language of *text* where it is surely another than that of *conversation*; else an empty string."""
    spoken, written = language(conversation), language(text)
    if not spoken or not written or spoken == written:
        return ""
    found = signs(conversation)
    return written if found[written] < found[spoken] / 3 else ""
