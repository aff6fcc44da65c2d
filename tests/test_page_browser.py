"""The page in a real browser, opened from disk: it sorts, searches, goes from session to session, and reads well."""

import time

import pages
import pytest
import runs
from browser import PHONE, WIDE, chromium, opened

from compactlab.report import Report

SESSION, CUT, STRATEGY = "subagent-etl", "0.85", "sliding_window"
BYTES, SECONDS = 10_000_000, 2.0


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def tab(browser):
    with opened(browser, pages.short_page()) as found:
        yield found


def choose(tab, session=SESSION, cut=CUT, strategy=STRATEGY):
    for name, text in (("session", session), ("cut", cut), ("pass", strategy)):
        (value,) = (
            option.get_attribute("value")
            for option in tab.query_selector_all(f"#sessions [name={name}] option")
            if option.inner_text().startswith(text) and (name != "pass" or option.inner_text() == text)
        )
        tab.select_option(f"#sessions [name={name}]", value)


def lost(session=SESSION, cut=CUT, strategy=STRATEGY):
    found = [f for f in runs.short().results.needed if (f.session, f.cut, f.strategy) == (session, cut, strategy)]
    return [fact for fact in found if fact.verdict != "kept"]


def column(tab, number):
    return tab.eval_on_selector_all(f"#main tbody tr > :nth-child({number})", "all => all.map(one => one.innerText)")


def amounts(texts):
    return [float(text.replace(",", "")) for text in texts]


def test_headings_sort_numbers_as_numbers_there_back_and_as_it_was(tab):
    first = column(tab, 3)
    button = tab.locator("#main thead button").nth(2)
    button.click()
    assert amounts(column(tab, 3)) == sorted(amounts(first), reverse=True) != amounts(first)
    assert tab.locator("#main thead th").nth(2).get_attribute("aria-sort") == "descending"
    button.click()
    assert amounts(column(tab, 3)) == sorted(amounts(first))
    button.click()
    assert column(tab, 3) == first
    assert tab.locator("#main [aria-sort]").count() == 0


def test_what_is_not_known_sorts_last_either_way_and_words_from_a(tab):
    names = tab.locator("#main thead button").all_inner_texts()
    button = tab.locator("#main thead button").nth(names.index("skill"))
    for _ in range(2):
        button.click()
        assert column(tab, names.index("skill") + 1)[-1] == "-"
    tab.locator("#main thead button").first.click()
    assert column(tab, 1) == sorted(column(tab, 1))


def test_a_table_sorts_by_the_keyboard(tab):
    before = column(tab, 4)
    tab.locator("#main thead button").nth(3).focus()
    tab.keyboard.press("Enter")
    assert column(tab, 4) != before
    assert tab.evaluate("document.activeElement.textContent") == "saved"


def test_sessions_cuts_and_strategies_are_switched(tab):
    seen = set()
    for session in runs.SHORT:
        for strategy in runs.STRATEGIES:
            choose(tab, session, "0.55", strategy)
            said = tab.inner_text(".case p")
            assert f" {strategy} loses {len(lost(session, '0.55', strategy))}." in said
            assert tab.inner_text(".strip[aria-pressed=true] .name") == strategy
            seen.add((tab.inner_text(".case h3"), tab.locator(".row.kept").count(), said))
    assert len(seen) == len(runs.SHORT) * len(runs.STRATEGIES)


def test_a_strip_is_chosen_by_the_keyboard_and_keeps_the_focus(tab):
    choose(tab)
    tab.locator(".strip").first.focus()
    tab.keyboard.press("Enter")
    assert tab.input_value("[name=pass]") == "none"
    assert tab.evaluate("document.activeElement.dataset.pass") == "none"
    tab.keyboard.press("Tab")
    tab.keyboard.press("Space")
    assert tab.input_value("[name=pass]") == runs.STRATEGIES[1]


def test_a_lost_fact_is_shown_where_it_stood_and_who_needed_it(tab):
    facts = lost()
    assert facts
    choose(tab)
    for fact in facts:
        home = tab.locator(".row:not(.later)", has=tab.locator(f".before b:text-matches('^{fact.home} ')"))
        assert fact.value in home.locator(".fact.x, .fact.m").locator("bdi").all_text_contents()
        assert home.locator("mark.x, mark.m").count()
        assert home.locator(".after").first.text_content() == "dropped"
        use = tab.locator(f"#use-{fact.used}")
        assert fact.value in use.locator(".fact.x, .fact.m").locator("bdi").all_text_contents()
        assert use.locator("mark.x, mark.m").count()


def test_the_keyboard_goes_from_lost_fact_to_lost_fact_and_to_its_use(tab):
    choose(tab)
    tab.get_by_role("button", name="Next lost fact").focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.querySelectorAll('mark.x, mark.m').length")
    here = tab.evaluate("document.activeElement.id")
    assert tab.evaluate("Math.abs(document.activeElement.getBoundingClientRect().top) < innerHeight / 2")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id").startswith("use-")
    assert here.startswith("home-")


def test_edited_and_made_messages_stand_beside_what_was(tab):
    choose(tab, strategy="microcompact")
    edited = tab.locator(".row.edited")
    assert edited.count()
    assert "[Old tool result content cleared]" in edited.first.locator(".after").text_content()
    assert "[Old tool result content cleared]" not in edited.first.locator(".before").text_content()
    choose(tab)
    made = tab.locator(".row.made")
    assert made.count() == 1
    assert "earlier messages removed" in made.locator(".after").text_content()
    assert made.locator(".before").text_content() == ""


def test_search_shows_what_holds_the_words_in_any_case_and_where_else_they_are(tab):
    choose(tab)
    everything = tab.locator(".row:visible").count()
    tab.fill("[name=find]", "PIPELINE.toml")
    tab.wait_for_selector("mark.hit")
    rows = tab.locator(".row:visible")
    assert 0 < rows.count() < everything
    assert all("pipeline.toml" in text.casefold() for text in rows.all_text_contents())
    assert tab.inner_text(".status") == f"{rows.count()} messages found here."
    tab.fill("[name=find]", "nowhere to be found")
    tab.locator(".status", has_text="0 messages found").wait_for()
    assert tab.locator(".row:visible").count() == 0
    tab.fill("[name=find]", "the")
    tab.wait_for_selector(".elsewhere button")
    tab.locator(".elsewhere button").first.click()
    assert SESSION not in tab.eval_on_selector("[name=session]", "one => one.selectedOptions[0].textContent")
    assert tab.locator("mark.hit").count()


def test_search_finds_facts_and_takes_signs_as_they_are(tab):
    choose(tab)
    value = next(fact.value for fact in lost() if "." in fact.value or "/" in fact.value)
    tab.click(".asked summary")
    tab.fill("[name=find]", value)
    tab.wait_for_selector("mark.hit")
    assert value in tab.locator(".needs bdi").all_inner_texts()
    tab.fill("[name=find]", ".*[(")
    tab.locator(".status", has_text="0 messages found").wait_for()
    assert tab.locator(".needs tbody tr").count() == 0


def test_the_list_shows_only_what_is_asked_for(tab):
    choose(tab)
    tab.select_option("[name=show]", "lost")
    rows = tab.locator(".row:visible")
    assert rows.count()
    assert rows.count() == tab.locator(".row:visible:has(.fact.x, .fact.m)").count()
    tab.select_option("[name=show]", "changed")
    assert tab.locator(".row.kept:visible").count() == 0
    assert tab.locator(".row.dropped:visible").count()


def test_a_long_text_is_shortened_and_shown_whole_when_asked_for(tab):
    block = tab.query_selector(".block:has(.more)")
    more = block.query_selector(".more")
    length = int(more.text_content().removeprefix("Show all ").removesuffix(" characters").replace(",", ""))
    assert len(block.query_selector(".text").text_content()) < length
    more.click()
    assert len(block.query_selector(".text").text_content()) == length


@pytest.mark.parametrize("path", [pages.short_page, pages.shared_page, pages.replay_page, pages.hostile_page])
@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
def test_no_page_has_a_serious_fault_of_access_or_is_wider_than_its_window(browser, path, size, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with opened(browser, path(), size, scheme) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        tab.evaluate("document.querySelectorAll('.row').forEach(one => one.style.contentVisibility = 'visible')")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = axe.run(tab).response
        assert len(found["passes"]) > 20
        assert [fault for fault in found["violations"] if fault["impact"] in {"serious", "critical"}] == []
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (sum(ground) < 200) is (scheme == "dark")


def test_a_replay_is_drawn_turn_by_turn(browser):
    with opened(browser, pages.replay_page()) as tab:
        assert "applied" in tab.inner_text("#replays-view .case p")
        assert tab.locator(".t-dot").count() == tab.locator(".fired td:text-is('applied')").count() > 0
        line = tab.get_attribute(".t-line", "points")
        tab.select_option("[name=replay]", label="none")
        assert tab.get_attribute(".t-line", "points") != line
        assert tab.inner_text(".fired") == "Nothing was fired."
        assert tab.locator("#main tbody tr").count() == 2


def test_a_shared_page_shows_digests_and_has_nothing_to_search(browser):
    with opened(browser, pages.shared_page()) as tab:
        assert tab.locator(".digest").count() > 20
        assert tab.locator(".text").count() == 0
        assert tab.locator("[name=find]").is_hidden()


def test_the_page_of_all_recorded_sessions_is_small_and_opens_at_once(browser):
    path = pages.written(Report(runs.everything().results), runs.scratch() / "everything.html")
    assert path.stat().st_size < BYTES
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        with opened(browser, path) as tab:
            tab.wait_for_selector(".row")
            taken.append(time.perf_counter() - started)
            assert tab.locator("#sessions [name=session] option").count() == len(runs.TRANSCRIPTS)
    assert min(taken) < SECONDS


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_each_figure_is_shown_in_the_width_that_suits_the_window(browser, size):
    with opened(browser, pages.short_page(), size) as tab:
        shown = tab.locator("figure img").evaluate_all(
            "all => all.map(one => [one.currentSrc.length, one.naturalWidth, one.clientWidth])"
        )
        assert len(shown) == 4
        assert all(natural > 0 and width <= size[0] for _, natural, width in shown)
        assert all((natural < 500) is (size == PHONE) for _, natural, _ in shown)


def test_all_that_can_be_used_is_reached_by_the_keyboard_in_order_and_seen(browser):
    with opened(browser, pages.short_page()) as tab:
        reached, places = [], []
        for _ in range(60):
            tab.keyboard.press("Tab")
            name, place, outline, shown = tab.evaluate(
                "() => { const one = document.activeElement, look = getComputedStyle(one);"
                " return [one.name || one.textContent.slice(0, 30), [...document.querySelectorAll('*')].indexOf(one),"
                " look.outlineStyle, one.getBoundingClientRect().height > 0]; }"
            )
            assert outline != "none", name
            assert shown, name
            reached.append(name)
            places.append(place)
        assert places == sorted(set(places))
        names = tab.locator("#main thead button").all_inner_texts()
        assert reached[:3] == ["Figures", "Tables", "Sessions"]
        assert [one for one in reached if one in names] == names
        assert [one for one in reached if one in {"session", "cut", "pass", "show", "find"}] == [
            "session",
            "cut",
            "pass",
            "show",
            "find",
        ]


def test_the_page_begins_where_facts_were_needed(tab):
    chosen = tab.eval_on_selector("#sessions [name=session]", "one => one.selectedOptions[0].textContent")
    cut = tab.eval_on_selector("#sessions [name=cut]", "one => one.selectedOptions[0].textContent")
    needed = {(fact.session, fact.cut) for fact in runs.short().results.needed}
    assert (chosen.partition(":")[0], cut.partition(",")[0]) in needed
