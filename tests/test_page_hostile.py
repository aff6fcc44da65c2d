"""Texts that could run, end a script, load something or push a page out of shape are shown letter by letter."""

import pages
import pytest
from browser import PHONE, WIDE, chromium, opened

UNITS = "one => [...Array(one.textContent.length).keys()].map(i => one.textContent.charCodeAt(i))"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def units(text):
    """The UTF-16 units of a text, as JavaScript counts them."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [int.from_bytes(raw[i : i + 2], "little") for i in range(0, len(raw), 2)]


def test_the_session_needs_facts_out_of_its_hostile_texts():
    text = pages.hostile_page().read_text(encoding="utf-8")
    assert "orders_old_2024" in text
    assert "\\u003c/script\\u003e\\u003cscript\\u003ewindow.owned=1" in text


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_nothing_in_a_text_runs_loads_or_changes_the_page(browser, size):
    with opened(browser, pages.short_page(), size) as plain:
        own = plain.evaluate("[...new Set([...document.querySelectorAll('*')].map(one => one.tagName))].sort()")
    with opened(browser, pages.hostile_page(), size) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        for strategy in ("none", "microcompact", "sliding_window", "summary"):
            tab.select_option("[name=pass]", strategy)
            tab.locator(".more").evaluate_all("all => all.forEach(one => one.click())")
            assert tab.locator(".more").count() == 0
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
            tab.locator(".row").evaluate_all("all => all.forEach(one => one.style.contentVisibility = 'visible')")
            assert (
                tab.locator(".text").evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth).length")
                == 0
            )
        assert tab.evaluate("window.owned") is None
        assert tab.title() == "compactlab: what an agent still knows"
        tags = tab.evaluate("[...new Set([...document.querySelectorAll('*')].map(one => one.tagName))].sort()")
        assert set(tags) <= {*own, "B", "MARK", "DETAILS"}
        assert tab.locator("script:not([type]), style, iframe, base").count() == 2
        assert tab.locator("main img").count() == tab.locator("main figure").count()


def test_every_text_is_shown_letter_by_letter(browser):
    with opened(browser, pages.hostile_page()) as tab:
        tab.select_option("[name=pass]", "none")
        tab.locator(".more").evaluate_all("all => all.forEach(one => one.click())")
        shown = {
            tuple(found) for found in tab.evaluate(f"[...document.querySelectorAll('.before .text')].map({UNITS})")
        }
        for text in pages.HOSTILE:
            assert tuple(units(text)) in shown, text[:60]


def test_signs_that_turn_the_direction_do_not_reach_beyond_their_text(browser):
    with opened(browser, pages.hostile_page()) as tab:
        turned = tab.locator(".row", has_text="never closed").first
        assert turned.locator(".who").evaluate("one => getComputedStyle(one).direction") == "ltr"
        boxes = turned.locator(".who > *").evaluate_all("all => all.map(one => one.getBoundingClientRect().left)")
        assert boxes == sorted(boxes)
        assert len(boxes) > 1


@pytest.mark.parametrize("text", ["</script>", "\u202e", "\\", "<img src=x", "${window", "\u0627\u0644", "\ud83d"])
def test_search_takes_any_text(browser, text):
    with opened(browser, pages.hostile_page()) as tab:
        tab.evaluate(
            "text => { const one = document.querySelector('[name=find]'); one.value = text;"
            " one.dispatchEvent(new Event('input')); }",
            text,
        )
        tab.locator(".status", has_text="found here").wait_for()
        assert tab.evaluate("window.owned") is None
        assert tab.inner_text(".status") != "0 messages found here."


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_names_of_a_hostile_session_change_nothing_in_a_page_of_its_replay(browser, size):
    with opened(browser, pages.replay_page(), size) as plain:
        own = plain.evaluate("[...new Set([...document.querySelectorAll('*')].map(one => one.tagName))].sort()")
    with opened(browser, pages.hostile_replay_page(), size) as tab:
        assert tab.locator("#replays-view .case h3").text_content().startswith("</title></script>")
        assert tab.evaluate("window.owned") is None
        tags = tab.evaluate("[...new Set([...document.querySelectorAll('*')].map(one => one.tagName))].sort()")
        assert set(tags) <= {*own, "polygon", "polyline", "circle", "line", "rect", "text"}
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert tab.locator("main img").count() == tab.locator("main figure").count() > 0


def test_a_shared_page_of_a_hostile_session_holds_nothing_that_was_said(browser):
    with opened(browser, pages.hostile_page(share=True)) as tab:
        assert tab.locator(".digest").count() > 20
        assert tab.evaluate("window.owned") is None
        said = tab.evaluate("document.documentElement.innerHTML")
    plain = pages.hostile_page().read_text(encoding="utf-8")
    for words in ("orders_old_2024", "54321", "7f3a9c1d2e", "OPS-7741", "refunds", "never closed", "careful", "psql"):
        assert words in plain
        assert words not in said
