import re

import pandas as pd
import pytest

from macroscope.files import CAPTIONS
from macroscope.reporting.formats import escape, format_number, format_p_value, format_two_decimals, to_latex
from macroscope.reporting.pages import html_table, inline_svg
from macroscope.reporting.tables import with_adjusted_p_values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.16741, "2.17"),
        (0.01234, "0.0123"),
        (12.0, "12.0"),
        (470066.9, "470,067"),
        (float("nan"), "–"),
        (0.0, "0.00"),
        (-9.109e-05, "-9.11 × 10⁻⁵"),
    ],
)
def test_numbers(value, shown):
    assert format_number(value) == shown


@pytest.mark.parametrize(("p", "shown"), [(0.8366, "0.84"), (0.0001, "< 0.001"), (float("nan"), "–"), (0.02, "0.02")])
def test_p_values(p, shown):
    assert format_p_value(p) == shown


def test_latex_is_escaped():
    assert escape("a_b & 50% × c") == r"a\_b \& 50\% $\times$ c"
    table = to_latex(pd.DataFrame({"System": ["lm_1"], "PPL": ["2.0 [1.9, 2.1]"]}))
    assert table.splitlines()[0] == r"\begin{tabular}{lr}"
    assert r"lm\_1 & 2.0 [1.9, 2.1] \\" in table
    assert escape("10⁻¹²") == "10$^{-12}$"
    # Characters that LaTeX has in mathematics only; elsewhere they are errors.
    assert escape("− control ÷ δ ⊢") == r"$-$ control $\div$ $\delta$ $\vdash$"
    # Characters of broken texts that would end the compilation.
    assert escape("a\x0cb\x85 \ufffd\tc\nd") == r"a\textbf{?}b\textbf{?} \textbf{?} c d"


@pytest.mark.parametrize("text", ["[Music]", "*"])
def test_no_text_is_an_option_of_the_row_before(text):
    lines = to_latex(pd.DataFrame({text: ["a", text], "n": [text, text]})).splitlines()
    assert [line for line in lines if line.startswith("{}")] == [rf"{{}}{text} & n \\", rf"{{}}{text} & {text} \\"]


def test_html_is_escaped_and_numbers_are_right_aligned():
    html = html_table(pd.DataFrame({"name": ["<b>"], "n": [1234.0]}))
    assert "&lt;b&gt;" in html
    assert "<td class=num>1,234</td>" in html


def test_texts_have_the_direction_of_their_script():
    html = html_table(pd.DataFrame({"excerpt": [40 * "نص "], "n": [1.0]}))
    assert "<td class=long dir=auto>" in html
    assert "<td class=num>" in html
    for template in (CAPTIONS / "blocks.html.jinja", CAPTIONS / "reader" / "marks.js"):
        shown = re.findall(r'<p class="text".*?>|<h3>\{\{ section|element\("p", "text"\);\n.*', template.read_text())
        assert shown
        assert all('dir="auto"' in tag or 'dir = "auto"' in tag for tag in shown)


_FIGURE = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><metadata>now</metadata>
 <g id="axes_1"><g id="line2d_1">
  <path id="p1" d="M 1.23456 2" style="stroke: #p1"/><use xlink:href="#p1" x="9.876" clip-path="url(#p1)"/>
  <text id="text_1">p &lt; 0.0012345</text></g></g></svg>"""


def test_figures_on_one_page_have_different_ids_and_keep_what_is_seen(tmp_path):
    figures = []
    for folder in ("a", "b"):
        path = tmp_path / folder / "f.svg"
        path.parent.mkdir()
        path.write_text(_FIGURE)
        figures.append(inline_svg(path))
    assert figures[0] != figures[1]
    name = re.search(r'<path d="M 1.23 2" style="stroke: #p1" id="([^"]+)"', figures[0])[1]
    assert f'href="#{name}" x="9.88" clip-path="url(#{name})"' in figures[0]
    assert "<text>p &lt; 0.0012345</text>" in figures[0]
    assert not re.search("<g|metadata|_1", figures[0])


def test_statistics_without_a_critic_are_not_adjusted():
    table = pd.DataFrame({"critic": "perplexity", "statistic": ["a", "b"], "p_value": [0.01, None], "value": 1.0})
    assert with_adjusted_p_values(table.assign(corpus="wiki", system="mine"))["p_adjusted"].isna().all()


def test_all_differences_of_one_system_by_a_critic_with_a_prior_are_a_family():
    statistics = ["latent_ppl", "posterior_entropy", "latent_ppl_map", "transition_error_share"]
    table = pd.DataFrame(
        {
            "statistic": statistics,
            "p_value": [0.01, 0.04, 0.001, 0.5],
            "value": 1.0,
            "n_reference": 50,
            "n_candidate": 50,
            "n_paired": 0,
        }
    )
    adjusted = with_adjusted_p_values(table.assign(critic="coherence", corpus="wiki", system="mine"))["p_adjusted"]
    assert list(adjusted[:2]) == pytest.approx([0.03, 0.06])
    assert pd.isna(adjusted[2])  # the same difference again
    assert adjusted[3] == 0.5


def test_all_differences_of_one_system_by_a_critic_without_a_prior_are_a_family():
    statistics = ["length_ks", "tvd_sup", "zipf_d_own", "zipf_s"]
    system = pd.DataFrame({"statistic": statistics, "p_value": [0.01, 0.04, 0.03, None], "value": 1.0})
    system = system.assign(n_reference=50, n_candidate=50, n_paired=0)
    second_system = system.assign(system="other", p_value=[1e-6, 1e-6, 0.04, None])
    table = pd.concat([system.assign(system="mine"), second_system], ignore_index=True)
    tests = with_adjusted_p_values(table.assign(critic="tendencies", corpus="wiki"))["tests"]
    assert tests[:4].tolist() == ["difference", "difference", "tokens come from Zipf's law", ""]
    adjusted = with_adjusted_p_values(table.assign(critic="tendencies", corpus="wiki"))
    mine = adjusted[adjusted["system"] == "mine"].set_index("statistic")["p_adjusted"]
    assert mine["length_ks"] == 0.02
    assert mine["tvd_sup"] == 0.04
    assert pd.isna(mine["zipf_d_own"])  # a distance to a law that real text does not follow either
    assert pd.isna(mine["zipf_s"])


def test_a_table_without_rows_has_its_header():
    table = pd.DataFrame({"name": ["a"], "dropped": [0]})
    assert "name" in html_table(table[table["dropped"] > 0])


def test_correlations_have_two_decimals_and_no_negative_zero():
    assert format_two_decimals(-0.001, -0.7, 0.701) == "0.00 [-0.70, 0.70]"
    assert format_two_decimals(0.125, float("nan"), float("nan")) == "0.12"
    assert format_two_decimals(*[float("nan")] * 3) == "–"


def test_a_table_has_no_indentation_and_keeps_that_of_texts():
    html = html_table(pd.DataFrame({"text": ["a\n  <b>"], "value": [1.5]}))
    assert "&nbsp;&nbsp;&lt;b&gt;" in html
    assert "\n <" not in html
