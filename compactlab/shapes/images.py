"""Pictures on the wire: base64 and data URLs to and from `Image`, and the pixel size read from a file's first bytes.

Sizes follow the published layouts of PNG, GIF, JPEG (the start-of-frame segment) and WebP (its three kinds).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import NamedTuple

from compactlab.transcript import Image

TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "avif": "image/avif",
    "heic": "image/heic",
    "ico": "image/vnd.microsoft.icon",
}
UNKNOWN_TYPE = "image/*"


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int


def size(data: bytes) -> Size | None:
    r"""Read the size of a PNG, GIF, JPEG or WebP picture from its header; None if it is none of these or cut off.

    >>> size(b"GIF89a" + b"\x40\x01\xf0\x00" + b"...")
    Size(width=320, height=240)
    >>> size(b"no picture") is None
    True
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return Size(int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return Size(int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    return None


def _jpeg(data: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            return Size(int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7]))
        elif marker == 0x01 or 0xD0 <= marker <= 0xD9:  # no length follows
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None


def _webp(data: bytes) -> Size | None:
    kind = data[12:16]
    if kind == b"VP8 ":
        return Size(int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF)
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return Size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X":
        return Size(int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1)
    return None


def from_base64(media_type: str, text: str) -> Image:
    """Make a picture from base64 text; text that is no base64 leaves a digest, so that the picture still counts."""
    try:
        data = binascii.a2b_base64("".join(text.split()), strict_mode=True)  # unlike b64decode, makes no copy of it
    except (binascii.Error, ValueError):
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return Image(media_type or UNKNOWN_TYPE, digest=f"sha256:{digest}")
    return from_bytes(media_type, data)


def from_bytes(media_type: str, data: bytes) -> Image:
    """Make a picture from its bytes, with its size where the header tells it."""
    width, height = size(data) or (None, None)
    return Image(media_type or UNKNOWN_TYPE, width=width, height=height, data=data)


def from_url(url: str) -> Image:
    """Make a picture from a data URL (its bytes are kept) or a link (its media type guessed from the ending).

    >>> from_url("https://example.org/a.png?x=1")
    Image(media_type='image/png', width=None, height=None, data=None, url='https://example.org/a.png?x=1', digest=None)
    """
    if not url.startswith("data:"):
        return Image(guessed_type(url), url=url)
    comma = url.find(",") if "," in url else len(url)
    head, body = url[len("data:") : comma], url[comma + 1 :]
    media_type, _, encoding = head.partition(";")
    if encoding.strip().endswith("base64"):
        return from_base64(media_type, body)
    return from_bytes(media_type, body.encode("utf-8", "replace"))


def guessed_type(url: str) -> str:
    """Guess the media type of a link from its ending; `image/*` if it does not tell.

    >>> guessed_type("https://example.org/a.JPG#top"), guessed_type("https://example.org/a")
    ('image/jpeg', 'image/*')
    """
    ending = url.partition("?")[0].partition("#")[0].rpartition(".")[2].lower()
    return TYPES.get(ending, UNKNOWN_TYPE)


def to_base64(image: Image) -> str:
    """Bytes of a picture as base64 text, empty if the recording left them out."""
    return base64.b64encode(image.data or b"").decode()


def to_url(image: Image) -> str | None:
    """Link or data URL of a picture; None if the recording kept neither."""
    if image.data is not None:
        return f"data:{image.media_type};base64,{to_base64(image)}"
    return image.url


def described(image: Image) -> str:
    """Words that stand in for a picture which the recording left out.

    >>> described(Image("image/png", 800, 600))
    '[image/png, 800x600, not recorded]'
    """
    pixels = f"{image.width}x{image.height}, " if image.width and image.height else ""
    return f"[{image.media_type}, {pixels}not recorded]"
