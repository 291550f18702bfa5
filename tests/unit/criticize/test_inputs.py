"""One file with both sides or with several models, and the names of fields, from the command to the config."""

import io
import json
from pathlib import Path

import pytest

from macroscope.config.schema import parse_config
from macroscope.criticize.checks import NEW_NAMES, describe
from macroscope.criticize.choice import choose
from macroscope.criticize.inputs import GivenFields, make_candidates, names_of_candidates, store_standard_input
from macroscope.criticize.profile import Profile
from macroscope.criticize.profile_table import table_of
from macroscope.criticize.run import implied_config, profile_collections
from macroscope.documents import Provenance, read_documents, write_documents
from macroscope.errors import MacroscopeError
from macroscope.readers.selection import Selection
from macroscope.systems.files import FilesSystem, import_texts

MODELS = ("org/model-1.5", "模型")


@pytest.fixture
def answers(tmp_path):
    """Return a file with the answers of two models, and the real text of each prompt beside them."""
    records = [
        {"ask": f"Prompt {n}?", "gold": f"Real text {n}.", "reply": f"Answer {n} of {model}.", "by": model}
        for n in range(3)
        for model in MODELS
    ]
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_nothing(folder):
    """Return the documents of a corpus without any."""
    write_documents(folder / "real.parquet", [], Provenance("c"))
    return folder / "real.parquet"


def profiled(real, candidates, **given):
    profile, profiles = profile_collections(real, candidates, GivenFields(**given))
    return profile, profiles, table_of(profile, profiles)


def test_both_sides_and_several_models_in_one_file(answers, tmp_path):
    given = {"text": "reply", "prompt": "ask", "reference": "gold", "model": "by"}
    profile, profiles, table = profiled([], [answers], **given)
    assert table.index[0] == "read as"
    assert table.loc["read as", "reference"] == "records (text: gold, prompt: ask)"
    assert [each.documents for each in (profile, *profiles)] == [3, 3, 3]
    assert table.loc["openings of the reference"].to_list()[1:] == ["3", "3"]
    config = implied_config(profile, profiles, choose(profile, profiles, []), 1)
    assert config["corpora"]["reference"]["fields"] == {"text": "gold", "prompt": "ask"}
    assert [system["only_model"] for system in config["systems"].values()] == list(MODELS)
    parsed = parse_config(config)
    for (name, system), model in zip(parsed.systems.items(), MODELS, strict=True):
        assert isinstance(system, FilesSystem)
        output = tmp_path / f"{name}.parquet"
        import_texts(
            [Path(file) for file in system.files],
            output,
            system,
            documents=write_nothing(tmp_path),
            corpus="c",
            system=name,
        )
        assert [document.text for document in read_documents(output)] == [f"Answer {n} of {model}." for n in range(3)]


def test_straightened_typography_is_that_of_the_workflow_and_counted(tmp_path):
    for name, text in (("real", 'He said "no" twice. '), ("mine", "He said “no” twice… ")):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": f"{text}{n}"}) + "\n" for n in range(30)))
    files = [tmp_path / "real.jsonl"], [tmp_path / "mine.jsonl"]
    assert profiled(*files)[2].loc["differs from the reference in", "mine"] == "quotation marks"
    profile, profiles, table = profiled(*files, straighten_typography=True)
    assert table.loc["marks straightened"].to_list() == ["0 in 0 texts", "90 in 30 texts"]
    assert table.loc["differs from the reference in", "mine"] == "nothing listed here"
    parsed = parse_config(implied_config(profile, profiles, choose(profile, profiles, ["tendencies"]), 1))
    assert parsed.corpora["reference"].straighten_typography
    import_texts(
        files[1],
        tmp_path / "mine.parquet",
        parsed.systems["mine"],
        documents=write_nothing(tmp_path),
        corpus="c",
        system="mine",
    )
    assert next(read_documents(tmp_path / "mine.parquet")).text == 'He said "no" twice... 0'


def test_a_separator_is_that_of_the_workflow(tmp_path):
    for name in ("real.txt", "mine.txt"):
        (tmp_path / name).write_text("".join(f"Text {n} of {name}.\n" for n in range(3)))
    profile, profiles, _ = profiled([tmp_path / "real.txt"], [tmp_path / "mine.txt"], separator="line")
    assert [each.documents for each in (profile, *profiles)] == [3, 3]
    parsed = parse_config(implied_config(profile, profiles, choose(profile, profiles, []), 1))
    system = parsed.systems["mine"]
    assert isinstance(system, FilesSystem)
    import_texts(
        [Path(file) for file in system.files],
        tmp_path / "out.parquet",
        system,
        documents=write_nothing(tmp_path),
        corpus="c",
        system="mine",
    )
    assert [document.text for document in read_documents(tmp_path / "out.parquet")][2] == "Text 2 of mine.txt."
    assert parsed.corpora["reference"].model_dump()["separator"] == "line"


def test_each_of_several_models_is_a_candidate_unless_there_are_many(tmp_path):
    for models in (2, 13):
        records = [
            {"prompt": "Q", "generation": f"By {name}.", "model": name, "source_id": "s"}
            for name in ("human", *(f"m{number}" for number in range(models)))
        ]
        (tmp_path / "raid.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        *_, table = profiled([], [tmp_path / "raid.jsonl"])
        assert "the texts of people" in table.loc["read as", "reference"]
        assert table.columns.to_list() == ["reference", *(["m0", "m1"] if models == 2 else ["raid"])]
    assert "several models are one candidate: m0 (1), m1 (1), " in table.loc["read as", "raid"]
    assert "⟨model_field⟩ judges each" in table.loc["read as", "raid"]


@pytest.mark.parametrize("value", [7, ["7"], {"id": "7"}, 7.0])
def test_the_name_of_a_model_may_be_a_number_or_inside_of_another_value(value, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"text": f"Text {n}.", "step": value, "no": [1, 2]}) + "\n" for n in range(3)))
    assert list(make_candidates([path], GivenFields(model="step"))) == ["7"]
    with pytest.raises(MacroscopeError, match=r"'no' names no model: it holds \[1, 2\]; give another one"):
        make_candidates([path], GivenFields(model="no"))


def test_texts_that_name_no_model_are_counted(tmp_path, caplog):
    path = tmp_path / "log.jsonl"
    path.write_text(
        "".join(json.dumps({"text": f"Text {n}.", "by": "ab"[n % 2] if n < 8 else None}) + "\n" for n in range(9))
    )
    assert list(make_candidates([path], GivenFields(model="by"))) == ["a", "b"]
    assert "left out: 1 text without a model in the field 'by'" in caplog.text


def test_the_reference_may_have_another_layout(answers, tmp_path):
    (tmp_path / "real.jsonl").write_text('{"text": "One.", "id": 1}\n{"text": "Two.", "id": 2}\n')
    profile, (candidate,), table = profiled([tmp_path / "real.jsonl"], [answers], text="reply", prompt="ask")
    assert profile.documents == 2
    assert candidate.documents == 6
    assert table.loc["read as", "reference"].startswith("documents (text: text")


def test_a_reference_is_required_unless_the_file_has_one(answers):
    with pytest.raises(MacroscopeError, match=r"all\.jsonl: no texts of people .*⟨reference_field⟩"):
        profiled([], [answers], text="reply")
    with pytest.raises(MacroscopeError, match="no field 'truth'; give the name of another"):
        profiled([], [answers], text="reply", reference="truth")


def test_several_texts_of_a_prompt_are_counted(tmp_path):
    for name, prompts, texts in (("real", 12, 1), ("mine", 12, 5), ("few", 3, 5)):
        rows = [{"id": prompt, "text": f"Text {n} of {prompt}."} for prompt in range(prompts) for n in range(texts)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    *_, table = profiled([tmp_path / "real.jsonl"], [tmp_path / "mine.jsonl", tmp_path / "few.jsonl"])
    assert table.loc["prompts"].to_list() == [
        "a text each",
        "12 with 5.0 texts on average; those of a prompt count as one",
        "3; each text counts",
    ]


def test_the_standard_input_is_kept_beside_the_output(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "One."}\n{"text": "Two."}\n')))
    real, judged = store_standard_input([Path("real.jsonl"), Path("-")], tmp_path / "out")
    assert (real, judged) == (Path("real.jsonl"), tmp_path / "out.standard-input")
    assert profiled([judged], [judged])[0].documents == 2
    with pytest.raises(MacroscopeError, match="the standard input is given twice"):
        store_standard_input([Path("-"), Path("-")], tmp_path / "out")


def describe_new_names(called):
    profiles = [Profile(name, [file], Selection(only_model=model)) for name, (file, model) in called.items()]
    return describe(NEW_NAMES, Profile("reference"), profiles)


def test_a_candidate_that_cannot_keep_its_name_is_said():
    files = [Path("a/reference.jsonl"), Path("b/control.txt"), Path("c/gpt-no2.jsonl")]
    names = names_of_candidates(files)
    said = describe_new_names({name: (file, None) for name, file in names.items()})
    assert list(names) == ["reference-no2", "control-no2", "gpt-no2"]
    assert [sentence.partition(",")[0] for sentence in said] == [
        "The candidate 'reference' is called 'reference-no2' here",
        "The candidate 'control' is called 'control-no2' here",
    ]
    assert said[0].endswith("since 'reference' is the name of the real texts.")
    assert describe_new_names({"reference-no2": (Path("mine.jsonl"), "reference")}) == said[:1]


def test_a_name_keeps_its_dots_unless_they_cannot_stand_in_paths():
    stems = ("gpt-neo-2.7B.jsonl", "a..b", "b.", "c.Scores", "split.train")
    files = [Path(f"{stem}.gz") for stem in stems]
    names = names_of_candidates(files)
    assert list(names) == ["gpt-neo-2.7B", "a-b", "b", "c-Scores", "split.train-no2"]
    assert describe_new_names({name: (file, None) for name, file in names.items()}) == [
        "The candidate 'split.train' is called 'split.train-no2' here, since 'split.train' is the name of the train"
        " split.",
        "Names have letters, digits, '-', '_' and '.': 'a..b' is called 'a-b', 'b.' is called 'b',"
        " 'c.Scores' is called 'c-Scores' here.",
    ]


def test_every_other_name_is_said():
    """On some disks, "A" and "a" are one name; spaces and slashes are none in paths."""
    files = [Path(name) for name in ("x/A.jsonl", "x/a.json.gz", "x/s.jsonl", "y/s.jsonl", "x/my model.txt", "x/b.csv")]
    names = names_of_candidates(files)
    assert list(names) == ["A", "a-no2", "x-s", "y-s", "my-model", "b"]
    assert describe_new_names({name: (file, None) for name, file in names.items()}) == [
        "The candidate 'a' is called 'a-no2' here, since 'a' is the name of another candidate.",
        "The candidate 's' is called 'x-s' here, since 's' is the name of another candidate.",
        "The candidate 's' is called 'y-s' here, since 's' is the name of another candidate.",
        "Names have letters, digits, '-', '_' and '.': 'my model' is called 'my-model' here.",
    ]
    assert describe_new_names({"org-gpt": (Path("mine.jsonl"), "org/gpt"), "A": (Path("mine.jsonl"), "A")}) == [
        "Names have letters, digits, '-', '_' and '.': 'org/gpt' is called 'org-gpt' here."
    ]


def test_models_that_differ_in_case_are_not_named_after_a_folder(tmp_path):
    (tmp_path / "mine.jsonl").write_text("".join(f'{{"model": "{name}", "text": "A fox."}}\n' for name in "AaAb"))
    assert list(make_candidates([tmp_path / "mine.jsonl"], GivenFields(model="model"))) == ["A", "a-no2", "b"]


def write_genres(path, records):
    path.write_text(
        "".join(json.dumps({"text": f"Text {n} of a mill."} | each) + "\n" for n, each in enumerate(records))
    )
    return path


def test_labels_are_read_of_any_field(tmp_path):
    genres = [["news"], "news ", 7, 7.0, True, None, "", float("nan"), *["stories"] * 12]
    real = write_genres(tmp_path / "real.jsonl", [{"meta": {"genre": each}} for each in genres] + [{"meta": {}}])
    mine = write_genres(tmp_path / "mine.jsonl", [{"meta": {"genre": "stories"}}] * 12)
    profile, profiles, _ = profiled([real], [mine], label="meta.genre")
    assert profile.labels == {"news": 2, "7": 2, "True": 1, "stories": 12}
    config = implied_config(profile, profiles, choose(profile, profiles, []), 1)
    assert [each["by"] for each in config["comparisons"]] == ["meta.genre"]
    assert config["systems"]["mine"]["fields"] == config["corpora"]["reference"]["fields"] == {"label": "meta.genre"}
    parse_config(config)


def test_labels_may_be_those_of_the_same_prompts(tmp_path):
    real = write_genres(tmp_path / "real.jsonl", [{"id": n, "genre": "news"} for n in range(12)])
    mine = write_genres(tmp_path / "mine.jsonl", [{"id": n} for n in range(12)])
    profile, profiles, _ = profiled([real], [mine], label="genre")
    assert (profile.labels.total(), profiles[0].labels.total()) == (12, 0)


@pytest.mark.parametrize(
    ("real", "mine", "message"),
    [
        ([{"genre": "a"}] * 12, [{"kind": "a"}] * 12, "mine: no text has a label in the field 'genre'"),
        (
            [{"kind": "a"}] * 12,
            [{"kind": "a"}] * 12,
            r"mine.jsonl: no field 'genre'; .*fields of .*'text' 100%, 'kind' 100%",
        ),
        (
            [{"genre": str(n)} for n in range(12)],
            [{"genre": "1"}] * 12,
            r"no label .* 10 texts on each side \(12 labels",
        ),
        ([{"genre": ["a", "b"]}] * 12, [{"genre": "a"}] * 12, r"line 1: 'label' is a list; .*NAME\[0\]"),
    ],
)
def test_fields_that_give_no_labels_are_refused(tmp_path, real, mine, message):
    paths = [write_genres(tmp_path / f"{name}.jsonl", given) for name, given in (("real", real), ("mine", mine))]
    with pytest.raises(MacroscopeError, match=message):
        profiled(paths[:1], paths[1:], label="genre")
