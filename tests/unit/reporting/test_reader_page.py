"""The reader in a real browser, from a folder: it shows the requested texts, and loads and runs nothing else."""

import json
import re
import shutil

import pytest

from macroscope.options import CONTROL
from macroscope.reporting.html_blocks import system_page

from ...browser import watched
from ...reader_runs import HOSTILE, built_reader, loaded, texts

SIZES = {CONTROL: 120, "shuffled": 230}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return built_reader(tmp_path_factory.mktemp("reader"), SIZES)


@pytest.fixture
def page(browser, reader):
    with watched(browser, reader) as opened:
        yield opened
        assert opened.title() != "run"


def shown(page, reader, address="", title=None):
    """Open the page at an address, and wait until a text is there."""
    page.goto(f"{reader.as_uri()}/index.html{address}")
    wait(page, title)


def wait(page, title=None):
    heading = page.locator("#document h2") if title is None else page.locator("#document h2", has_text=title)
    heading.wait_for()
    page.locator("#real h2").wait_for()


def titles(page):
    return page.locator("#list .title").all_text_contents()


def test_it_begins_at_the_first_evaluated_system_and_orders_its_texts_by_each_critic(page, reader):
    shown(page, reader)
    assert page.locator("#document .kind").text_content() == "Text of shuffled on wiki"
    assert page.locator("#system option:checked").text_content() == "shuffled, 235 texts"  # there is one corpus
    assert titles(page)[0] == HOSTILE[4][0]  # coherence: the last text has the largest score
    page.select_option("#order", "strings")
    wait(page, "Title 0")
    assert titles(page)[:3] == ["Title 0", "Title 1", "Title 2"]
    page.select_option("#order", "topics")
    wait(page, "Title 0")
    page.select_option("#order", "")
    assert titles(page)[:2] == ["Title 0", "Title 1"]
    page.select_option("#order", "coherence")
    page.locator("#list").press("End")
    wait(page, "Title 7")  # texts without a score come last
    assert page.locator("#list .row[aria-selected=true] .value").text_content() == "no score"
    assert page.locator("#list .row").count() < 40  # of 235


def test_the_smallest_scores_can_come_first(page, reader):
    shown(page, reader, "#wiki/shuffled?by=-strings")
    assert page.locator("#order").input_value() == "-strings"
    first = titles(page)[0]
    page.select_option("#order", "strings")
    page.locator("#list").press("End")
    page.locator("#list .row[aria-selected=true] .title", has_text=first).wait_for()
    page.select_option("#order", "-coherence")
    assert page.url.endswith("?by=-coherence")
    page.locator("#list").press("End")
    wait(page, "Title 7")  # texts without a score come last, too


@pytest.mark.parametrize("width", [390, 1120, 1600])
def test_scores_fit_beside_the_real_text(page, reader, width):
    page.set_viewport_size({"width": width, "height": 800})
    shown(page, reader, "#wiki/shuffled/text-5", "Title 5")
    for pane in page.locator("article").all():
        assert pane.evaluate("pane => pane.scrollWidth <= pane.clientWidth")


def test_scores_are_shown_with_units(page, reader):
    shown(page, reader, "#wiki/shuffled/text-5?by=strings", "Title 5")
    cells = page.locator("#document .scores tbody tr").nth(0).locator("th, td").all_text_contents()
    assert cells[0].startswith("coherencelatent NLL. Marks: ")
    assert cells[1:] == [
        "0.05 nats per section",
        "4 % of 124",
        "not flagged (p\u00a0=\u00a00.097)",
        "0",
    ]
    shown(page, reader, "#wiki/shuffled/text-0", "Title 0")
    rows = page.locator("#document .scores tbody tr")
    assert rows.nth(3).locator("td").all_text_contents() == [
        "235 nats per word",
        "all 125",
        "⚑ flagged (p\u00a0=\u00a00.016)",
        "1",
    ]
    assert rows.nth(1).locator("td").all_text_contents()[3] == "–"
    shown(page, reader, "#wiki/shuffled/text-7", "Title 7")
    assert "no score" in rows.nth(0).text_content()
    heads = [page.locator(f"{pane} .scores thead th").nth(2).text_content() for pane in ("#document", "#real")]
    assert heads == ["larger than, of real texts", "larger than, of other real texts"]


def test_the_text_comes_first_and_the_scores_unfold_on_both_sides(page, reader):
    for width, most in ((1280, 360), (390, 300)):
        page.set_viewport_size({"width": width, "height": 900})
        shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
        assert page.locator("#document .text mark").first.bounding_box()["y"] < most
    assert not page.locator("#document .scores").is_visible()
    assert page.locator("#document summary").text_content().startswith("coherence: 0.03 nats per section, larger than ")
    page.locator("#document summary").click()
    page.locator("#real .scores").wait_for()
    page.keyboard.press("j")
    wait(page, "Title 2")
    assert page.locator("#document .scores").is_visible()


def test_the_clearest_critic_comes_first_under_its_name(page, reader):
    shown(page, reader, "#wiki/shuffled")
    names = [name.split(",")[0] for name in page.locator("#order option").all_text_contents()]
    assert list(dict.fromkeys(names)) == ["coherence", "topics", "strings", "order of generation"]
    assert page.locator("#order").input_value() == "coherence"
    assert page.locator("#legend").text_content().split() == ["coherence", "strings"]


def test_flags_stand_beside_the_detectability(page, reader):
    shown(page, reader, "#wiki/shuffled?by=coherence")
    count = page.locator("#count").text_content()
    assert "coherence picks the system's text in 93 % of pairs with a real one (50 % is chance)" in count
    assert re.search(r"⚑ \d+ flagged as unlike real text each by itself", count)
    page.select_option("#system", "wiki/control")
    page.locator("#document .kind", has_text="Real text of wiki").wait_for()
    assert "flagged" not in page.locator("#count").text_content()


def test_marks_are_where_the_critics_say(page, reader):
    shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
    marks = page.locator("#document .text mark")
    # 'Text' of one critic and 'xt 3 of' of another one lie over each other.
    assert marks.all_text_contents() == ["Te", "xt", " 3 of"]
    assert [mark.get_attribute("title").count("\n") for mark in marks.all()] == [0, 1, 0]
    whole = page.locator("#document mark.whole")
    assert whole.all_text_contents() == ["coherence: history → end: 0.001"]
    document = texts("shuffled", 4)[3]
    assert page.locator("#document .text").all_text_contents() == [section.text for section in document.sections]
    assert 'coherence: word <b>3</b> "quoted"' in page.locator("#document .notes").text_content()


def test_the_legend_switches_critics(page, reader):
    shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
    colours = page.locator("#legend .swatch").evaluate_all(
        "all => all.map(one => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(colours)) == 2  # of three critics one marks nothing
    page.locator("#legend input").first.uncheck()
    page.locator("#document mark.whole").wait_for(state="detached")
    assert page.locator("#document mark").all_text_contents() == ["xt 3 of"]
    page.locator("#legend input").first.check()
    page.locator("#document mark.whole").wait_for()


def test_a_link_with_a_critic_shows_its_marks_alone(page, reader):
    shown(page, reader, "#wiki/shuffled/text-3?by=strings", "Title 3")
    assert page.locator("#document mark").all_text_contents() == ["xt 3 of"]
    assert [box.is_checked() for box in page.locator("#legend input").all()] == [False, True]
    page.select_option("#order", "coherence")
    shown(page, reader, "#wiki/shuffled/text-3?by=coherence", "Title 3")
    assert all(box.is_checked() for box in page.locator("#legend input").all())  # after a change of the order
    shown(page, reader, "#wiki/shuffled/text-0?by=topics", "Title 0")  # marks nothing itself


def test_buttons_do_what_the_keys_do(page, reader):
    shown(page, reader, "#wiki/shuffled/text-3?by=strings", "Title 3")
    page.get_by_role("button", name="Next text").click()
    wait(page, "Title 4")
    page.get_by_role("button", name="Previous text").click()
    wait(page, "Title 3")


def test_keys_and_links(page, reader):
    shown(page, reader, "#wiki/shuffled/text-3?by=strings", "Title 3")
    page.locator("#legend input").first.check()
    page.keyboard.press("j")
    wait(page, "Title 4")
    assert page.url.endswith("#wiki/shuffled/text-4?by=strings")
    page.keyboard.press("k")
    page.keyboard.press("k")
    wait(page, "Title 2")
    page.go_back()
    wait(page, "Title 3")
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.textContent") == "Te"
    assert "word <b>3</b>" in page.locator("#status").text_content()
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.textContent") == "coherence: history → end: 0.001"
    real = page.locator("#real h2").text_content()
    page.keyboard.press("]")
    page.locator("#real .kind", has_text="Real text").wait_for()
    assert page.locator("#real h2").text_content() != real
    page.keyboard.press("r")
    assert not page.locator("#real").is_visible()
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("jk")  # typed, not a shortcut of the page
    assert page.input_value("#search") == "jk"
    assert page.locator("#document h2").text_content() == "Title 3"


def test_an_address_that_was_just_given_is_not_written_over(page, reader):
    shown(page, reader, "#wiki/shuffled/text-200", "Title 200")
    shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
    page.evaluate("""async () => {
        const once = (event) => new Promise((resolve) => addEventListener(event, resolve, { once: true }));
        const followed = once("hashchange");
        const chunkOf = macroscope.chunkOf;
        let arrive;
        const arrived = new Promise((resolve) => (arrive = resolve));
        macroscope.chunkOf = (key, number) => arrived.then(() => chunkOf(key, number));
        location.hash = "#wiki/shuffled/text-200";
        await followed;
        await new Promise((resolve) => setTimeout(resolve, 50)); // its text is asked for
        macroscope.chunkOf = chunkOf;
        location.hash = "#wiki/shuffled/text-9";
        arrive(); // before the event of the new address
    }""")
    wait(page, "Title 9")


def test_a_link_names_a_text_whatever_its_id(page, browser, reader):
    shown(page, reader, "#wiki/shuffled?by=", "Title 0")
    for n, (title, _) in enumerate(HOSTILE):
        page.locator("#list").press("End")
        page.locator("#document .about", has_text=f"hostile/{len(HOSTILE) - 1} ").wait_for()
        for before in reversed(range(n, len(HOSTILE) - 1)):
            page.keyboard.press("k")
            page.locator("#document .about", has_text=f"hostile/{before} ").wait_for()
        page.locator("#document .about", has_text=f"hostile/{n} <i>?&#\"'").wait_for()
        link = page.locator("#document .about a").evaluate("link => link.href")
        second = browser.new_page()
        second.goto(link)
        second.locator("#document .about", has_text=f"hostile/{n} ").wait_for()
        assert second.locator("#document h2").text_content() == title
        second.close()


def test_every_link_leads_to_something(page, reader):
    shown(page, reader, "#wiki/control/text-9", "Title 9")
    for link in page.locator("a").all():
        href = link.get_attribute("href")
        assert href == "../report.html" or re.match(r"#wiki/control/text-\d+", href), href


def test_the_ways_back(page, reader):
    shown(page, reader, "#wiki/shuffled/text-9", "Title 9")
    links = {link.text_content(): link.get_attribute("href") for link in page.locator(".crumbs a").all()}
    page_of = f"../pages/{system_page('wiki', 'shuffled')}.html"
    assert links == {"The page of shuffled": page_of, "Back to the report": "../report.html"}
    page.select_option("#system", "wiki/control")
    page.locator("#document .kind", has_text="Real text of wiki").wait_for()
    assert page.locator(".crumbs a").all_text_contents() == ["Back to the report"]


def test_systems_of_several_corpora_and_critics_without_scores(browser, reader, tmp_path):
    changed = shutil.copytree(reader, tmp_path / "reader")
    run = changed / "data" / "run.js"
    (about,) = loaded(run)
    control, shuffled = about["systems"]
    shuffled["critics"] = ["coherence"]
    about["systems"].append(control | {"corpus": "other", "key": "other/control"})
    run.write_text(f"macroscope.run({json.dumps(about)});", encoding="utf-8")
    opened = browser.new_page()
    opened.goto(f"{changed.as_uri()}/index.html#wiki/shuffled/text-3")
    wait(opened, "Title 3")
    names = [name.split(",")[0] for name in opened.locator("#system option").all_text_contents()]
    assert names == ["control on wiki (real text)", "shuffled on wiki", "control on other (real text)"]
    assert opened.locator("#document tfoot").text_content() == "not evaluated by: strings, topics"
    assert opened.locator("#real tfoot").count() == 0
    opened.close()


def test_the_head_names_a_text_once(page, reader):
    shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
    assert page.locator("#document .about").text_content().startswith("text-3 · ")
    page.evaluate("""async () => {
        const index = await macroscope.indexOf("wiki/shuffled");
        index.titles[4] = null;
    }""")
    page.keyboard.press("j")
    page.keyboard.press("k")
    shown(page, reader, "#wiki/shuffled/text-4", "text-4")
    assert re.match(r"\d+ words · ", page.locator("#document .about").text_content())


def test_on_a_small_screen_the_text_comes_first(page, reader):
    page.set_viewport_size({"width": 390, "height": 800})
    shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
    assert page.locator("#document h2").bounding_box()["y"] < 250
    for name in ("#controls", "#list-pane", "#legend"):
        assert not page.locator(name).is_visible()
    button = page.get_by_role("button", name="Choose another text")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    assert page.locator("#legend").is_visible()
    assert page.locator("#list .row[aria-selected=true]").is_visible()
    page.locator("#list .row", has_text="Title 5").first.click()
    wait(page, "Title 5")
    assert not page.locator("#list-pane").is_visible()
    page.set_viewport_size({"width": 1300, "height": 800})
    assert page.locator("#controls").is_visible()
    assert not button.is_visible()


def test_wrong_links_say_so(page, reader):
    shown(page, reader, "#wiki/unknown/text-1")
    assert "There are no texts at #wiki/unknown/text-1" in page.locator("#status").text_content()
    shown(page, reader, "#wiki/shuffled/nothing%20here")
    page.locator("#status", has_text='There is no text "nothing here"').wait_for()
    shown(page, reader, "#%E0%A4%A")


def test_search(page, reader):
    shown(page, reader, "#wiki/shuffled?by=")
    page.fill("#search", "title 22")
    page.locator("#count", has_text="11 of 235 texts").wait_for()
    assert titles(page)[0] == "Title 22"
    page.fill("#search", "second part 117.")
    page.locator("#count", has_text="0 of 235 texts").wait_for()
    page.click("#everywhere")
    page.locator("#count", has_text="1 of 235 texts").wait_for()
    assert titles(page) == ["Title 117"]
    page.fill("#search", "")
    page.locator("#count", has_text="235 of 235 texts").wait_for()


def test_real_text_is_shown_beside(page, reader):
    shown(page, reader, "#wiki/shuffled/text-11?by=strings", "Title 11")
    assert page.locator("#real h2").text_content() == "Title 11"
    assert "with the same id or first words (number 12 of 125 by strings;" in page.locator("#real .kind").text_content()
    shown(page, reader, "#wiki/shuffled/text-200?by=strings", "Title 200")
    page.locator("#real .kind", has_text="in the middle of this order (number 63 of 125 by strings;").wait_for()


def test_hostile_texts_are_shown_as_text(page, reader):
    for n, (title, text) in enumerate(HOSTILE):
        page.goto("about:blank")
        name = f"hostile%2F{n}%20%3Ci%3E%3F%26%23%22'"
        shown(page, reader, f"#wiki/shuffled/{name}")
        assert page.locator("#document h2").text_content() == title
        assert page.locator("#document .text").text_content() == text
        assert page.locator("#document .text mark").last.text_content() == text[text.rindex(" ") + 1 :]
        assert page.locator("#panes script, #panes img, #panes b, #panes i, #list script").count() == 0


def test_accessible(page, reader):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe checks accessibility").Axe()
    for scheme in ("light", "dark"):
        for width in (1300, 900, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
            for unfolded in (False, True):
                if unfolded and not page.locator("#unfold").is_visible():
                    continue
                if unfolded:
                    page.click("#unfold")
                checked = axe.run(page, options={"preload": False})
                assert not checked.response["violations"], (scheme, width, unfolded, checked.generate_report())
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, unfolded)


def test_print_has_the_text_and_not_the_controls(page, reader):
    shown(page, reader, "#wiki/shuffled/text-3", "Title 3")
    page.emulate_media(media="print")
    assert page.locator("#document .text").first.is_visible()
    assert page.locator("#legend").is_visible()
    assert not page.locator("#list-pane").is_visible()
    assert not page.locator("header").is_visible()


def test_a_missing_file_is_named(browser, reader, tmp_path):
    broken = shutil.copytree(reader, tmp_path / "reader")
    (broken / "data" / "wiki" / "shuffled" / "2.js").unlink()
    opened = browser.new_page()
    opened.goto(f"{broken.as_uri()}/index.html#wiki/shuffled/text-229")
    opened.locator("#status", has_text="data/wiki/shuffled/2.js is missing or cannot be read").wait_for()
    opened.goto(f"{broken.as_uri()}/index.html#wiki/shuffled/text-1")
    wait(opened, "Title 1")
    opened.close()
