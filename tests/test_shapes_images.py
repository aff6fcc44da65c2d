"""Pictures on the wire: sizes read from headers, data URLs, and pictures that cannot be read."""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.shapes import images
from compactlab.transcript import Image


def png(width, height):
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x06\0\0\0"


def jpeg(width, height, *, thumbnail=b""):
    app = b"\xff\xe0" + struct.pack(">H", 2 + len(thumbnail)) + thumbnail
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\0" * 9
    return b"\xff\xd8" + app + b"\xff\xc4\x00\x03\x00" + b"\xff" + frame


def webp(kind, body):
    return b"RIFF" + struct.pack("<I", 4 + 8 + len(body)) + b"WEBP" + kind + struct.pack("<I", len(body)) + body


LOSSY = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480) + b"\0" * 8)
LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | (479 << 14)) + b"\0" * 8)
EXTENDED = webp(b"VP8X", b"\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"))


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(640, 480), (640, 480)),
        (b"GIF87a" + struct.pack("<HH", 640, 480), (640, 480)),
        (jpeg(640, 480), (640, 480)),
        (jpeg(640, 480, thumbnail=jpeg(16, 16)), (640, 480)),
        (LOSSY, (640, 480)),
        (LOSSLESS, (640, 480)),
        (EXTENDED, (640, 480)),
        (png(640, 480)[:20], None),
        (jpeg(640, 480)[:12], None),
        (b"\xff\xd8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", None),
        (b"\xff\xd8\xff\xd9\xff\x01" + b"\0" * 12, None),
        (webp(b"ALPH", b"\0" * 20), None),
        (b"", None),
        (b"%PDF-1.7", None),
    ],
)
def test_the_size_stands_in_the_header_of_each_kind(data, size):
    assert images.size(data) == size


@given(
    st.binary(max_size=80),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF0000WEBPVP8X"]),
)
def test_any_bytes_are_a_size_or_none(tail, magic):
    size = images.size(magic + tail)
    assert size is None or all(side >= 0 for side in size)


@given(st.binary(max_size=60), st.sampled_from(["image/png", "image/webp"]))
def test_a_data_url_leads_back_to_the_same_picture(data, media_type):
    image = images.from_bytes(media_type, data)
    assert images.from_url(images.to_url(image)) == image


@pytest.mark.parametrize(
    ("url", "image"),
    [
        ("https://example.org/a.JPG#top", Image("image/jpeg", url="https://example.org/a.JPG#top")),
        ("https://example.org/picture", Image("image/*", url="https://example.org/picture")),
        ("https://example.org/a.txt", Image("image/*", url="https://example.org/a.txt")),
        ("data:image/svg+xml,<svg/>", Image("image/svg+xml", data=b"<svg/>")),
        (
            "data:image/png;base64," + base64.b64encode(png(3, 2)).decode(),
            Image("image/png", width=3, height=2, data=png(3, 2)),
        ),
    ],
)
def test_a_picture_is_read_from_its_url(url, image):
    assert images.from_url(url) == image


def test_line_breaks_inside_base64_are_nothing():
    text = base64.encodebytes(png(640, 480) + b"\0" * 90).decode()
    assert "\n" in text
    assert images.from_base64("image/png", text).width == 640


def test_text_that_is_no_base64_leaves_a_digest_and_never_its_text():
    image = images.from_base64("image/png", "[removed by the owner]")
    assert image.data is None
    assert image.digest.startswith("sha256:")
    assert images.described(image) == "[image/png, not recorded]"
