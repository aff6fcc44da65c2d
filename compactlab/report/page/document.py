"""The page as a file: one HTML document with its style, script and data inside, under a policy that lets in no other.

Data stands in scripts of type `application/json`, which nothing runs, with every `<` escaped; style and script are
named to the policy by their digests. So no text of a transcript can end a script, run, or load anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files

STYLES = ("page.css", "sessions.css")
SCRIPTS = ("parts.js", "sort.js", "fates.js", "rows.js", "story.js", "sessions.js", "timeline.js")

_UNSAFE = re.compile("[<>&\u2028\u2029\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def file(name: str) -> str:
    """A file of the page, as it stands in the package."""
    return (files("compactlab.report.page") / "files" / name).read_text(encoding="utf-8")


def script_data(name: str, value: object) -> str:
    r"""Data for the script, under a name.

    >>> script_data("a", ["</script>"])
    '<script type="application/json" id="a">["\\u003c/script\\u003e"]</script>'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    safe = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return f'<script type="application/json" id="{escape(name)}">{safe}</script>'


def document(parts: Mapping[str, str]) -> str:
    """Fill the page with *parts* of HTML by the names of its slots."""
    style = "\n".join(map(file, STYLES))
    script = '"use strict";\n(() => {\n' + "\n".join(map(file, SCRIPTS)) + "})();\n"
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    slots = {"policy": policy, "style": style, "script": script, **parts}
    return _SLOT.sub(lambda found: slots[found[1]], file("page.html"))


def digest(text: str) -> str:
    """What a policy calls an inline script or style.

    >>> digest("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
