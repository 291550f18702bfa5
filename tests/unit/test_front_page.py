"""The front page: its commands are those that the server runs, its figures are those of the other pages."""

import re

from macroscope.files import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
DURATION = "200 texts of 154 words against 200, by six critics, take 43 s on two idle cores, and 73 s of the processor"
"""The one measured time of a verdict."""


def commands(text):
    return [line.partition("#")[0].strip() for line in re.findall(r"^ {4}(.+)$", text, re.MULTILINE)]


def test_the_server_runs_the_test_command_of_the_front_page():
    script = (REPOSITORY / ".ci" / "run").read_text().splitlines()
    run = [line for line in script if line and not line.startswith(("#", "set ", "cd "))]
    first = [command for command in commands(README) if command.startswith("make ")]
    assert first == ["make demo", "make test"]
    assert run == first[1:]


def test_the_front_page_is_one_screen():
    assert len(README.splitlines()) <= 70
    assert README.index("make demo") < README.index("macroscope criticize")


def test_all_pages_say_the_same_time():
    texts = {page: " ".join(page.read_text(encoding="utf-8").split()) for page in PAGES}
    saying = {page.name for page, text in texts.items() if DURATION in text}
    assert saying == {"README.md", "questions.md"}
    others = {page.name for page, text in texts.items() if re.search(r"200 (short )?texts[^.]* (minutes?|s) ", text)}
    assert others <= saying


def test_a_missing_reference_leads_to_the_page_about_it():
    from macroscope.criticize import inputs

    (page,) = re.findall(r"docs/[\w-]+\.md", (REPOSITORY / inputs.__file__).read_text())
    assert (REPOSITORY / page).read_text().startswith("# No reference texts?")
