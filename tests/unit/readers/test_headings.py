"""Sections of plain texts: their headings, and what stands around a document."""

import random

import pytest

from macroscope.documents import Provenance
from macroscope.files import REPOSITORY
from macroscope.readers.headings import BEFORE_TITLE, BOLD, MARKDOWN, MEDIAWIKI, NONE, split_sections
from macroscope.readers.markup import LONGEST_PREAMBLE
from macroscope.readers.reading import read_user_documents
from macroscope.readers.wrappers import unwrap

REASONING, FENCE, FRONT_MATTER = "a reasoning block (<think>)", "an outer code fence", "YAML front matter"
BODY = "## Early years\nIt was built.\n\n## Decline\nIt fell."
ARTICLE = f"# The Old Mill\n\n{BODY}"
SECTIONS = [("Early years", "It was built."), ("Decline", "It fell.")]
WHOLE = ("The Old Mill", SECTIONS, MARKDOWN)
CASES = {
    "plain": (ARTICLE, *WHOLE, []),
    "a sentence before": (f"Sure! Here is the article that you asked for:\n\n{ARTICLE}", *WHOLE, [BEFORE_TITLE]),
    "front matter": (f"---\ntitle: The Old Mill\ntags:\n  - a\n---\n{ARTICLE}", *WHOLE, [FRONT_MATTER]),
    "reasoning": (f"<think>\n# Plan\nFirst, write.\n</think>\n\n{ARTICLE}", *WHOLE, [REASONING]),
    "fence": (f"```markdown\n{ARTICLE}\n```\n", *WHOLE, [FENCE]),
    "cut fence": (f"```md\n{ARTICLE}", *WHOLE, [FENCE]),
    "all": (
        f"<think>Hm.</think>\nHere it is:\n```markdown\n{ARTICLE}\n```",
        *WHOLE,
        [REASONING, FENCE, BEFORE_TITLE],
    ),
    "underlined": (
        "The Old Mill\n===\n\nEarly years\n---\nIt was built.\n\nDecline\n-------\nIt fell.",
        *WHOLE,
        [],
    ),
    "marks of bold type": (ARTICLE.replace("## Decline", "## **Decline**"), *WHOLE, []),
    "closing signs": (ARTICLE.replace("## Decline", "## Decline ##"), *WHOLE, []),
    "comments in code": (
        "Install it:\n\n```bash\n# update first\napt update\n```\n\n## Usage\nRun it.\n\n## Options\nNone.",
        None,
        [
            ("abstract", "Install it:\n```bash\n# update first\napt update\n```"),
            ("Usage", "Run it."),
            ("Options", "None."),
        ],
        MARKDOWN,
        [],
    ),
    "numbered list of MediaWiki": (
        "The rules are:\n# Stand up.\n# Sit down.\n\n== History ==\nOld.\n\n== Reception ==\nGood.",
        None,
        [("abstract", "The rules are:\n# Stand up.\n# Sit down."), ("History", "Old."), ("Reception", "Good.")],
        MEDIAWIKI,
        [],
    ),
    "bold lines": ("**Early years**\n\nIt was built.\n\n__Decline__:\nIt fell.", None, SECTIONS, BOLD, []),
    "one bold line": ("**Stop!**\n\nHe stopped.", None, [(None, "**Stop!**"), (None, "He stopped.")], NONE, []),
    "a rule below a sentence": (
        "It was late and\nshe slept.\n---\nMorning.",
        None,
        [(None, "It was late and\nshe slept.\n---\nMorning.")],
        NONE,
        [],
    ),
    "a long lead": (
        f"{'word ' * (LONGEST_PREAMBLE + 1)}\n\n# History\nOld.\n\n## Now\nNew.",
        None,
        [("abstract", ("word " * (LONGEST_PREAMBLE + 1)).strip()), ("History", "Old.\nNow\nNew.")],
        MARKDOWN,
        [],
    ),
    "a long lead without spaces": (
        f"{'这是一个很长的开头。' * 20}\n\n# 历史\n旧。\n\n## 现在\n新。",
        None,
        [("abstract", "这是一个很长的开头。" * 20), ("历史", "旧。\n现在\n新。")],
        MARKDOWN,
        [],
    ),
    "a rule at the beginning": (
        "---\nShe slept.\n---\nMorning.",
        None,
        [(None, "---\nShe slept.\n---\nMorning.")],
        NONE,
        [],
    ),
}


PROGRAMS = {
    "Python": "# Read the numbers.\nimport csv\n\n# A row each.\ndef read(path):\n    # As text.\n    return 1",
    "cut Python": "# A list.\nnames = [\n    'a',\n# More.\n    'b',\n]\nfor name in names:\n    print(name",
    "shell": "#!/bin/sh\n# Update first.\napt update\n\n# Then install.\napt install gcc",
    "R": "# Data.\nx <- c(1, 2)\n# Plot.\nplot(x)",
}


@pytest.mark.parametrize("language", PROGRAMS)
def test_comments_of_programs_are_no_headings(language):
    split = split_sections(PROGRAMS[language])
    assert split.headings == NONE
    assert {section.title for section in split.sections} == {None}
    assert " ".join(section.text for section in split.sections).split() == PROGRAMS[language].split()


def test_programs_of_this_package_have_no_headings_and_its_pages_have():
    folder = REPOSITORY / "workflow" / "macroscope" / "corpora"
    assert {split_sections(path.read_text()).headings for path in folder.glob("*.py")} == {NONE}
    pages = (REPOSITORY / "docs").glob("*.md")
    assert {split_sections(path.read_text()).headings for path in pages} == {MARKDOWN}


@pytest.mark.parametrize("case", CASES)
def test_sections(case):
    text, title, sections, kind, removed = CASES[case]
    for written in (text, text.replace("\n", "\r\n")):
        unwrapped, kinds, named = unwrap(written.replace("\r\n", "\n"))
        split = split_sections(unwrapped)
        assert (named or split.title) == title
        assert [(section.title, section.text) for section in split.sections] == sections
        assert (split.headings, [*kinds, *split.removed]) == (kind, removed)


def test_what_is_taken_off_is_counted(tmp_path):
    for name, case in {"a": "plain", "b": "a sentence before", "c": "fence", "d": "bold lines"}.items():
        (tmp_path / f"{name}.md").write_text(CASES[case][0])
    provenance = Provenance("c")
    assert len(list(read_user_documents([tmp_path], provenance, 0.1, 0.2))) == 4
    counts = {count.filter: (count.kept, count.dropped) for count in provenance.counts if count.unit == "texts"}
    assert counts == {BEFORE_TITLE: (3, 1), FENCE: (3, 1)}
    assert provenance.source["headings"] == {MARKDOWN: 3, BOLD: 1}


def test_any_text_is_split_without_loss_of_words():
    """Whatever the lines, each word outside of headings and wrapping stays, in its order."""
    rng = random.Random(0)
    pieces = [
        "one two",
        "",
        "# A",
        "## B",
        "== C ==",
        "**D**",
        "===",
        "---",
        "```",
        "```md",
        "- item",
        "> said",
        "    code",
    ]
    for _ in range(500):
        text = "\n".join(rng.choices(pieces, k=rng.randint(1, 14)))
        split = split_sections(unwrap(text)[0])
        words = [word for section in split.sections for word in section.text.split()]
        original = iter(unwrap(text)[0].split())
        assert all(word in original for word in words), text
