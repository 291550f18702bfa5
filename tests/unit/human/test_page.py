"""The page in a real browser: two annotators answer ten texts, and the tables are exact."""

import json

import pandas as pd
import pytest

from macroscope.critics.narrative.checked_segments import Instance
from macroscope.files import RESOURCES
from macroscope.human.annotation_form import write_annotation_form
from macroscope.human.answers import read_answers
from macroscope.human.assignment import Design
from macroscope.human.collecting import collect
from macroscope.human.questionnaire import read_questionnaire
from macroscope.human.segments import pool_of_segments
from macroscope.options import Resampling
from tests.browser import chromium
from tests.unit.human.conftest import TYPES

pytestmark = pytest.mark.slow


@pytest.fixture
def browse(tmp_path):
    """Open pages in persistent profiles of annotators, and record all requests and errors."""
    seen = {"requests": [], "errors": []}
    with chromium() as (kind, launch):
        contexts = {}

        def open_page(profile, path, **settings):
            if profile in contexts:
                contexts[profile].close()  # close the browser and start it again
            context = kind.launch_persistent_context(tmp_path / profile, accept_downloads=True, **launch, **settings)
            contexts[profile] = context
            page = context.new_page()
            page.on("request", lambda request: seen["requests"].append(request.url))
            page.on("pageerror", lambda error: seen["errors"].append(str(error)))
            page.on("console", lambda message: seen["errors"].append(message.text))
            page.goto(path.as_uri())
            return page

        yield open_page, seen
        for context in contexts.values():
            context.close()


def train(page, key):
    for lesson in key["training"]:
        for n, gold in enumerate(lesson["gold"]):
            page.select_option(f"#type-{n}", gold)
        page.click("#verify")
        assert page.inner_text("#status") == "All section types are right."
        page.click("#next")


def judge(page, showing, verdict, reason=""):
    assert showing["code"] in page.inner_text("#heading")
    for n, kind in enumerate(TYPES):
        page.select_option(f"#type-{n}", key_type(kind))
    page.get_by_label(verdict, exact=True).check()
    if reason:
        page.fill("#reason-coherent", reason)
    assert page.inner_text("#open") == "This text is finished."


def key_type(kind):
    return {"methods": "method", "results": "result"}.get(kind, kind)


def export(page, folder):
    with page.expect_download() as download:
        page.click("#export")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def verdict_of(showing, annotator):
    """Return "coherent" for real texts, and for the model's even ones by the first annotator."""
    if showing["system"] == "control":
        return "coherent"
    even = int(showing["document"].split("-")[1]) % 2 == 0
    return "coherent" if annotator == "annotator-1" and even else "incoherent"


def test_two_annotators_judge_ten_texts(study, browse, tmp_path):
    folder, key = study
    open_page, seen = browse
    answers = tmp_path / "answers"
    answers.mkdir()
    for annotator in key["annotators"]:
        path = folder / "pages" / f"{annotator}.html"
        page = open_page(annotator, path)
        assert page.is_disabled("#to-test")
        train(page, key)
        mine = [showing for showing in key["showings"] if showing["annotator"] == annotator]
        assert len(mine) == 11  # ten, and one of them again
        for number, showing in enumerate(mine):
            judge(page, showing, verdict_of(showing, annotator), f"because {number} <b>&</b>")
            if number == 4 and annotator == "annotator-2":
                page.fill("#comment", "in the middle")
                page = open_page(annotator, path)  # closed in the middle, and opened again
                assert page.input_value("#comment") == "in the middle"
                assert page.inner_text("#progress-text") == "5 of 11"
                half = export(page, tmp_path)
                half.rename(answers / "annotator-2-older.json")
            if number == 0:
                page.locator(".sentence").nth(1).click()
            if number < len(mine) - 1:
                page.click("#next")
        assert page.inner_text("#progress-text") == "11 of 11"
        export(page, answers)
    assert not seen["errors"]
    assert all(url.startswith(("file:", "blob:")) for url in seen["requests"])

    tables = collect(key, read_answers(key, [answers]), tmp_path / "tables", Resampling(resamples=200))
    written = pd.read_csv(tmp_path / "tables" / "scores.csv").set_index("system")["score"]
    mine = [s for s in key["showings"] if s["annotator"] == "annotator-1" and s["system"] == "lm" and not s["repeat"]]
    even = sum(verdict_of(showing, "annotator-1") == "coherent" for showing in mine)
    assert even == 3
    assert written.to_dict() == {"control": 1.0, "lm": 3 / 10}
    assert tables["systems"].set_index("system")["annotations"].to_dict() == {"control": 10, "lm": 10}
    by_document = tables["document_scores"].set_index(["system", "document"])["score"]
    assert by_document["lm", "lm-2"] == 0.5
    assert by_document["lm", "lm-1"] == 0.0
    assert tables["organisations"].loc[0, ["organisation", "lowest", "judged"]].tolist() == [
        "introduction > method > result", 7, 20,
    ]  # fmt: skip
    assert set(tables["remarks"]["kind"]) == {"mark", "comment"}
    assert (tables["repeated"]["same"] == 1).all()
    assert tables["training"]["right"].tolist() == [3, 3, 3, 3]
    reasons = dict(zip(tables["exclusions"]["reason"], tables["exclusions"]["count"], strict=True))
    assert set(reasons) <= {"an older answer to the same text"}  # the time of the last text counts on after its export
    assert (tables["annotations"]["reason"].str.startswith("because")).all()


def test_hostile_texts_are_shown_as_text(study, browse):
    folder, key = study
    open_page, seen = browse
    page = open_page("hostile", folder / "pages" / "annotator-1.html")
    train(page, key)
    mine = [showing for showing in key["showings"] if showing["annotator"] == "annotator-1"]
    hostile = next(number for number, showing in enumerate(mine) if showing["document"] == "lm-0")
    for _ in range(hostile):
        page.click("#next")
    assert "</script><script>window.hacked = 1</script>" in page.inner_text("#document")
    assert "<img src=x onerror=" in page.inner_text("#document")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#document img").count() == 0
    assert not seen["errors"]


def test_mistakes_are_marked_in_the_training(study, browse):
    folder, key = study
    open_page, _ = browse
    page = open_page("training", folder / "pages" / "annotator-1.html")
    assert page.is_disabled("#verify")
    for n in range(3):
        page.select_option(f"#type-{n}", key["training"][0]["gold"][0])
    page.click("#verify")
    assert page.inner_text("#status").startswith("2 of 3 section types are wrong")
    assert page.inner_text("#verdict-0") == "✓ right"
    assert page.inner_text("#verdict-1") == "✗ it is “method”"
    page.click("#next")
    page.click("#next")
    assert page.inner_text("#status") == "Verify every training text first."


def test_the_keyboard_is_enough(study, browse):
    folder, key = study
    open_page, _ = browse
    page = open_page("keyboard", folder / "pages" / "annotator-1.html")
    train(page, key)
    page.keyboard.press("Alt+j")
    page.keyboard.type("res")
    assert page.input_value("#type-0") == "result"
    page.keyboard.press("Alt+j")
    assert page.evaluate("document.activeElement.id") == "type-1"
    page.keyboard.press("Alt+2")
    assert page.is_checked("#answer-coherent-1")
    page.locator(".sentence").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".sentence").nth(1).get_attribute("aria-pressed") == "true"
    page.keyboard.press("Alt+n")
    assert page.inner_text("#heading").startswith("Text 2 of")


def test_exported_answers_load_in_another_browser(study, browse, tmp_path):
    folder, key = study
    open_page, _ = browse
    path = folder / "pages" / "annotator-1.html"
    page = open_page("here", path)
    train(page, key)
    showing = next(showing for showing in key["showings"] if showing["annotator"] == "annotator-1")
    judge(page, showing, "incoherent", "why")
    exported = export(page, tmp_path)
    second = open_page("there", path)
    expect = pytest.importorskip("playwright.sync_api").expect
    second.set_input_files("#load", str(exported))
    expect(second.locator("#progress-text")).to_have_text("1 of 11")
    second.set_input_files("#load", str(folder / "key.json"))
    expect(second.locator("#status")).to_contain_text("not exported from this page")
    assert second.inner_text("#progress-text") == "1 of 11"
    assert json.loads(exported.read_text())["answers"][0]["reasons"] == {"coherent": "why"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_is_accessible(study, browse, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe checks accessibility").Axe()
    folder, key = study
    open_page, _ = browse
    page = open_page("axe", folder / "pages" / "annotator-1.html", color_scheme=scheme, bypass_csp=True)
    page.set_viewport_size({"width": width, "height": 900})
    assert axe.run(page).response["violations"] == []
    train(page, key)
    page.locator(".sentence").first.click()
    assert axe.run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


LEAVE = """([place, kept]) => addEventListener("pagehide", () => localStorage.setItem(place, kept))"""


@pytest.mark.parametrize(
    "kept",
    [
        "null",
        "{half",
        "{}",
        "[]",
        '{"phase": "test", "at": {"training": 0, "test": 99}, "training": {}, "test": {}}',
        '{"phase": "test", "at": null, "training": null, "test": {"CODE": {"types": null}}}',
    ],
)
def test_damaged_storage_of_the_browser_is_ignored(study, browse, kept):
    folder, key = study
    open_page, seen = browse
    page = open_page("a", folder / "pages" / "annotator-1.html")
    code = next(showing["code"] for showing in key["showings"] if showing["annotator"] == "annotator-1")
    place = f"macroscope-human:{key['study']}:annotator-1"
    page.evaluate(LEAVE, [place, kept.replace("CODE", code)])
    page.reload()
    if '"test"' not in kept:
        train(page, key)
    assert code in page.inner_text("#heading")
    page.get_by_label("incoherent", exact=True).check()
    page.reload()
    assert page.get_by_label("incoherent", exact=True).is_checked()
    assert not seen["errors"]


@pytest.mark.parametrize(
    "damage", [{"training": None}, {"answers": [{"code": "CODE", "changed": "9"}]}, {"answers": 3}]
)
def test_a_damaged_export_changes_nothing(study, browse, tmp_path, damage):
    folder, key = study
    open_page, seen = browse
    page = open_page("a", folder / "pages" / "annotator-1.html")
    train(page, key)
    page.get_by_label("incoherent", exact=True).check()
    code = page.inner_text("#heading").partition("(")[2].rstrip(")")
    whole = json.loads(export(page, tmp_path).read_text())
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(whole | damage).replace("CODE", code))
    page.set_input_files("#load", path)
    page.wait_for_function("document.getElementById('status').textContent.includes('nothing was changed')")
    page.reload()
    assert page.get_by_label("incoherent", exact=True).is_checked()
    assert not seen["errors"]


@pytest.mark.parametrize(("task", "shown"), [("missing", "▿"), ("discordant", "It rained for a week.")])
def test_a_place_is_marked_and_its_question_answered_by_a_key(task, shown, browse, tmp_path):
    sentences = ("Ann had a boat.", "She took it to the sea.", "It rained for a week.", "The boat was never found.")
    pool = pool_of_segments([Instance("a", task, "d", sentences, 3)], "en")
    questions = read_questionnaire(RESOURCES / "questionnaires" / f"cai2020-{task}.yaml")
    key = write_annotation_form(pool, Design(1, 1, 1, 0.0, 0, 1), questions, tmp_path / "study")
    open_page, seen = browse
    page = open_page("places", tmp_path / "study" / "pages" / "annotator-1.html")
    assert page.inner_text(".place") == shown
    assert page.is_hidden("#to-training")
    text = page.inner_text(".text")
    assert text.replace("▿ ", "") == " ".join(sentences)
    assert ("It rained for a week. ▿ The" in text) == (task == "missing")
    page.keyboard.press("Alt+1")
    assert page.inner_text("#open") == "This text is finished."
    path = export(page, tmp_path)
    assert [answer.answers for answer in read_answers(key, [path]).answers] == [{"damaged": "yes"}]
    assert not seen["errors"]
