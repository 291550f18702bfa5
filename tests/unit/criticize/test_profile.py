"""The profile of a user's texts, before anything is run."""

import json

import pytest

from macroscope.criticize.checks import TEXTS, describe
from macroscope.criticize.profile import profile_texts
from macroscope.criticize.profile_table import drop_empty_rows, table_of
from macroscope.criticize.run import profile_collections
from macroscope.errors import MacroscopeError

from .texts import write_texts


def test_profile_table(tmp_path):
    reference = write_texts(tmp_path / "r.jsonl", 30, titled=3, label="x")
    lines = reference.read_text().splitlines()
    mine = tmp_path / "mine.jsonl"
    mine.write_text(
        "\n".join([lines[0], lines[0], '{"text": "xq zz"}', '{"text": " "}', '{"text": "' + "ja " * 700 + '"}'])
    )
    profile, (candidate,) = profile_collections([reference], [mine])
    table = table_of(profile, [candidate])
    assert table["reference"]["documents"] == "30"
    assert table["reference"]["labels"] == "1 on 30 texts"
    assert table["reference"]["language"] == "English (en) 100%"
    assert table["mine"]["shortest text"] == "2 words (mine.jsonl-3)"
    assert table["mine"]["longest text"] == "700 words (mine.jsonl-5)"
    assert table["mine"]["texts that occur again"] == "1"
    assert table["mine"]["left out"] == "document without text (1)"
    assert table["mine"]["copies of real texts"] == "2 whole, 0 half"
    assert table["mine"]["openings of the reference"] == "0"
    assert table["mine"]["ids of the reference"] == "0"
    assert profile.splits.total() == 30


def test_rows_that_say_nothing_of_any_collection_are_left_out(tmp_path):
    path = write_texts(tmp_path / "r.jsonl", 30)
    profile, profiles = profile_collections([path], [write_texts(tmp_path / "mine.jsonl", 20)])
    shown = drop_empty_rows(table_of(profile, profiles)).index
    assert {"labels", "left out", "with section titles", "headings", "differs from the reference in"}.isdisjoint(shown)
    assert {"documents", "words", "language", "copies of real texts"} <= {*shown}


def test_kinds_of_marks_are_shown_where_they_differ(tmp_path):
    for name, dash in (("real", "-"), ("mine", "–")):
        (tmp_path / f"{name}.jsonl").write_text(20 * f'{{"text": "He left {dash} it\'s late {dash} alone."}}\n')
    profile, profiles = profile_collections([tmp_path / "real.jsonl"], [tmp_path / "mine.jsonl"])
    shown = drop_empty_rows(table_of(profile, profiles)).index
    assert ("dashes" in shown, "apostrophes" in shown) == (True, False)


def test_headings_are_those_of_the_texts_that_are_read(tmp_path, monkeypatch):
    path = tmp_path / "mine.jsonl"
    records = [{"id": "a", "text": "One."}, {"id": "a", "text": "One."}, {"text": " "}, {"text": "# Two\n\nYes."}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert profile_texts("m", [path]).headings == {"none": 1, "Markdown": 1}
    monkeypatch.setattr("macroscope.criticize.profile.MOST_DOCUMENTS", 1)
    assert profile_texts("m", [path]).headings == {"none": 1}


def _in_folder(folder, names, number, **fields):
    folder.mkdir(parents=True)
    for name in names:
        if name.endswith(".jsonl"):
            path = write_texts(folder / name, number, **fields)
            path.write_text(path.read_text().replace("He and she", f"He and she in {folder.name}"))
        else:
            (folder / name).write_text(f"Another text in {folder.name}: {name}.")
    return folder


@pytest.mark.parametrize("names", [["texts.jsonl"], ["1.txt", "2.txt", "3.txt"]])
def test_texts_that_are_paired_by_their_places_are_said_and_can_be_unpaired(names, tmp_path):
    real, mine = (_in_folder(tmp_path / folder, names, 3) for folder in ("people", "model"))
    profile, profiles = profile_collections([real], [mine])
    said = "3 texts of model are paired with real texts by their file names and lines"
    assert [s for s in describe(TEXTS, profile, profiles) if said in s]
    column = table_of(profile, profiles)["model"]
    assert (column["file names and lines of the reference"], column["ids of the reference"]) == ("3", "0")
    (mine / "inside").mkdir()
    for name in names:
        (mine / name).rename(mine / "inside" / name)
    profile, profiles = profile_collections([real], [mine])
    assert not [s for s in describe(TEXTS, profile, profiles) if "paired" in s]
    assert table_of(profile, profiles)["model"]["file names and lines of the reference"] == "0"


def test_copies_are_not_said_to_be_paired_by_their_places_too(tmp_path):
    path = write_texts(tmp_path / "real.jsonl", 30)
    profile, profiles = profile_collections([path], [path])
    said = describe(TEXTS, profile, profiles)
    assert not [sentence for sentence in said if "paired" in sentence]
    assert [sentence for sentence in said if "No critic tells copies apart" in sentence]


def test_ids_of_the_users_own_pair_texts_without_a_sentence(tmp_path):
    sides = [_in_folder(tmp_path / folder, ["texts.jsonl"], 1, id="7") for folder in ("people", "model")]
    profile, profiles = profile_collections(sides[:1], sides[1:])
    assert not [s for s in describe(TEXTS, profile, profiles) if "paired" in s]
    assert table_of(profile, profiles)["model"]["ids of the reference"] == "1"


def test_texts_that_begin_alike_are_counted_unless_they_are_of_one_prompt(tmp_path):
    openings = ["One morning the old fox left its den again", "Nobody in the village had ever seen such a"]
    texts = [f"{opening} {ending}." for opening in openings for ending in ("day", "thing", "night")]
    rest = [f"Text number {n} begins in another way than all others." for n in range(14)]
    path = tmp_path / "mine.jsonl"

    def row(records):
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return table_of(profile_texts("m", [path]), []).loc["texts that share their opening", "m"]

    assert row([{"text": text} for text in (*texts, *rest[:4])]) == "6, of 2 openings"
    (said,) = describe(TEXTS, profile_texts("m", [path]), [])
    assert said.startswith("Texts that begin alike count as independent: 6 of 10 texts of m, with 2 openings. If each")
    assert row([{"text": text, "prompt": text[:20]} for text in (*texts, *rest)]) == "0"
    assert row([{"text": text} for text in (*texts[:2], *rest)]) == "2"


def test_documents_with_titles_on_some_sections_only_are_counted(tmp_path):
    path = tmp_path / "partly.jsonl"
    sections = [{"title": "life", "text": "He was born."}, {"title": None, "text": "He died."}]
    records = [{"sections": sections}] * 2 + [{"sections": sections[:1]}, {"sections": sections[1:]}]
    path.write_text("".join(json.dumps(record | {"id": str(n)}) + "\n" for n, record in enumerate(records)))
    profile = profile_texts("r", [path])
    assert (profile.titled, profile.partly_titled) == (3, 2)
    assert table_of(profile, []).loc["with section titles", "r"] == "3; 2 of them on some sections only"


def test_profiling_ends_early(tmp_path, monkeypatch):
    monkeypatch.setattr("macroscope.criticize.profile.MOST_DOCUMENTS", 10)
    path = write_texts(tmp_path / "r.jsonl", 12)
    with path.open("a") as stream:
        stream.write("not JSON\n")
    profile = profile_texts("r", [path])
    assert (profile.documents, profile.is_all) == (10, False)
    monkeypatch.undo()
    with pytest.raises(MacroscopeError, match="line 13 is not valid JSON"):
        profile_texts("r", [path])
