"""Access to a run's results."""

import pandas as pd

from ...runs import describe_run


def test_titles_are_a_setting_only_on_corpora_that_have_titles(tmp_path):
    results = describe_run(
        {
            "corpora": {name: {"source": "files", "files": ["x"]} for name in ("titled", "plain")},
            "systems": {"lm": {"kind": "language_model", "base": "tiny-gpt2", "titles": False}},
            "comparisons": [{"corpus": name, "critics": ["tendencies"]} for name in ("titled", "plain")],
        },
        tmp_path,
    )
    for corpus, types in (("titled", 7), ("plain", 0)):
        folder = tmp_path / "corpora" / corpus
        folder.mkdir(parents=True)
        pd.DataFrame({"split": ["train"], "section_types": [types]}).to_csv(folder / "summary.csv", index=False)
    assert results.description("titled", "lm").setting == "W/O Title"
    assert results.description("plain", "lm").setting == ""
    assert results.description("plain", "lm").base == "tiny-gpt2"
