"""The plan: which files a config asks for."""

import json
from types import SimpleNamespace

from macroscope.config.schema import parse_config
from macroscope.plan import Plan


def test_tendencies_are_counted_in_the_language_of_the_corpus():
    corpora = {
        "de": {"source": "files", "files": ["x"], "language": "de"},
        "en": {"source": "files", "files": ["x"]},
    }
    comparisons = [{"corpus": name, "critics": ["tendencies"]} for name in corpora]
    plan = Plan(parse_config({"corpora": corpora, "comparisons": comparisons}))
    options = plan.critic_options_in_language("tendencies", "unit")
    for name in corpora:
        assert json.loads(options(SimpleNamespace(corpus=name))) == {"language": name, "unit": "document"}
    told = {"critics": {"tendencies": {"language": "fr"}}}
    plan = Plan(parse_config({"corpora": corpora, "comparisons": comparisons, **told}))
    options = plan.critic_options_in_language("tendencies", "unit")
    assert json.loads(options(SimpleNamespace(corpus="de")))["language"] == "fr"
