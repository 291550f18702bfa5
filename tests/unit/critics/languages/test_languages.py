"""Critic `languages` on texts of three languages: training, known truth, scores and figures."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import digamma, gammaln
from scipy.stats import dirichlet

from macroscope.corpora.simulated.languages import languages, resource, simulate_texts
from macroscope.critics.languages.figures import plot_largest_shares, plot_simplex
from macroscope.critics.languages.latents import project, read_proportions
from macroscope.critics.languages.model import LatentDirichletAllocation, sample_posterior
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.languages.scoring import match_languages, score, write_known_truth
from macroscope.critics.languages.training import add_labels, train
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json

pytestmark = pytest.mark.slow

OPTIONS = LanguagesOptions(iterations=200, sweeps=40)


def _write(path, texts):
    write_documents(path, texts, Provenance("c", options={"language": "en"}))
    return path


def _text(name, text, split="train", label=None):
    return Document(name, split, None, (Section(None, text),), label=label)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    texts = [Document(d.id, "train", None, d.sections, label=d.label) for d in simulate_texts("process", 300, 1)]
    documents = _write(folder / "documents.parquet", [*texts, _text("empty", "12 — !")])
    train(documents, output=folder / "inference", options=OPTIONS, seed=1)
    judged = [*simulate_texts("process", 120, 2), _text("unknown", "qqq www", "test")]
    for name, texts in {"process": judged, "mixed": list(simulate_texts("independent", 120, 3))}.items():
        _write(folder / f"{name}.parquet", texts)
        latents, scores = folder / f"{name}.latents", folder / f"{name}.scores"
        collection = Collection(folder / f"{name}.parquet")
        project(collection, folder / "inference", options=OPTIONS, output=latents, seed=1)
        score(latents, folder / "inference", options=OPTIONS, output=scores)
    return folder


def test_topics_are_languages(trained):
    table = pd.read_csv(trained / "inference" / "languages.csv")
    assert set(table["label"]) == {language.name for language in languages()}
    assert (table["label_share"] > 0.99).all()
    for words, label in zip(table["words"], table["label"], strict=True):
        vocabulary = next(language.words() for language in languages() if language.name == label)
        assert set(words.split()) - vocabulary <= {name.lower() for name in resource()["meanings"]["place"]}
    about = read_json(trained / "inference" / "training.json")
    assert (about["documents"], about["documents_without_words"]) == (300, 1)


def test_mixed_texts_are_mixed_and_others_are_not(trained):
    shares = {name: pd.read_parquet(trained / f"{name}.scores")["count_mixed"] for name in ("process", "mixed")}
    assert shares["process"].mean() < 0.05
    assert shares["mixed"].mean() > 0.95


def test_a_text_without_words_of_the_vocabulary_has_undefined_scores(trained):
    scores = pd.read_parquet(trained / "process.scores").set_index("id")
    assert scores.loc["unknown", "words"] == 0
    assert scores.loc["unknown", ["nll", "nll_sample", "count_mixed", "of_mixed"]].isna().all()
    assert len(read_proportions(trained / "process.latents")) == 121


@pytest.mark.parametrize(("order", "system"), [("process", "process"), ("independent", "mixed")])
def test_scores_agree_with_the_known_truth(trained, order, system):
    write_known_truth(trained / "inference", order=order, output=trained / "known_truth.json")
    scores = pd.read_parquet(trained / f"{system}.scores").dropna(subset=["nll"])
    mean, error = scores["nll"].mean() / 2, scores["nll"].std() / 2 / np.sqrt(len(scores))
    assert np.log(read_json(trained / "known_truth.json")["latent_ppl"]) == pytest.approx(mean, abs=4 * error + 0.1)


def test_known_truth_needs_as_many_topics_as_languages(tmp_path):
    LatentDirichletAllocation(np.ones(2), np.full((2, 2), 0.5)).save(tmp_path / "model.npz")
    (tmp_path / "vocabulary.json").write_text('{"words": ["a", "b"]}')
    write_known_truth(tmp_path, order="process", output=tmp_path / "known_truth.json")
    assert read_json(tmp_path / "known_truth.json")["latent_ppl"] is None


def test_topics_are_matched_to_languages_by_their_words():
    words = [sorted(language.words())[0] for language in languages()]
    model = LatentDirichletAllocation(np.ones(3), np.eye(3)[[2, 0, 1]])
    assert match_languages(model, words) == [1, 2, 0]


def test_a_text_certainly_in_one_language_has_the_closed_form():
    model = LatentDirichletAllocation(np.array([0.2, 0.3]), np.eye(2))
    from macroscope.critics.languages.model import sample_posterior

    posterior = sample_posterior(np.zeros(7, dtype=np.int64), model, 5, np.random.default_rng(0))
    assert posterior.mean == pytest.approx([7.2 / 7.5, 0.3 / 7.5])
    assert posterior.log_mean == pytest.approx([digamma(7.2) - digamma(7.5), digamma(0.3) - digamma(7.5)])


def test_same_seed_same_bytes(trained, tmp_path):
    train(trained / "documents.parquet", output=tmp_path / "again", options=OPTIONS, seed=1)
    for name in ("languages.csv", "vocabulary.json", "training.json"):
        assert (tmp_path / "again" / name).read_bytes() == (trained / "inference" / name).read_bytes()


def test_too_few_words_are_an_error(tmp_path):
    documents = _write(tmp_path / "d.parquet", [_text("a", "one two")])
    with pytest.raises(MacroscopeError, match="2 words are left for 3 languages"):
        train(documents, output=tmp_path / "inference", options=OPTIONS, seed=1)


def test_labels_are_those_of_most_documents():
    table = add_labels(pd.DataFrame({"topic": [0, 1]}), [0, 0, 0, 1], ["x", "y", "x", None])
    assert list(table["label"].fillna("")) == ["x", ""]
    assert table["label_share"].iloc[0] == pytest.approx(2 / 3)
    assert list(add_labels(pd.DataFrame({"topic": [0]}), [0], [None]).columns) == ["topic"]


def test_corners_have_the_points_of_one_language(trained):
    latents = {"process": read_proportions(trained / "process.latents")}
    proportions = {name: texts.subset(texts.words > 0) for name, texts in latents.items()}
    figure = plot_simplex(proportions, ["a b", "c", "d"], left_out=2)
    points = np.array(figure.axes[0].lines[1].get_xydata())
    assert len(points) == 120
    corners = np.array(figure.axes[0].lines[0].get_xydata())[:3]
    nearest = np.linalg.norm(points[:, None] - corners, axis=2).min(axis=1)
    assert np.median(nearest) < 0.05
    proportions["nothing"] = proportions["process"].subset(
        np.zeros(120, dtype=bool)
    )  # no text with a word of the vocabulary
    axes = plot_largest_shares(proportions, ["a", "b", "c", "d"], 1).axes[0]
    assert axes.get_xlim() == (0.25, 1)
    assert len(axes.lines) == 1
    assert len(plot_simplex(proportions, ["a b", "c", "d"]).axes) == 2


ALPHA = np.array([0.4, 0.1, 0.8])


def _model(vocabulary=6, seed=0):
    topics = np.random.default_rng(seed).dirichlet(np.full(vocabulary, 0.7), 3)
    return LatentDirichletAllocation(ALPHA, topics)


def _enumerated(words, model):
    """Compute E z and E log z by summing over all assignments of topics to words."""
    total, mean, log_mean = 0.0, np.zeros(3), np.zeros(3)
    for topics in product(range(3), repeat=len(words)):
        counts = np.bincount(topics, minlength=3)
        shapes = ALPHA + counts
        weight = np.exp(gammaln(shapes).sum() - gammaln(shapes.sum())) * model.topics[list(topics), words].prod()
        total += weight
        mean += weight * shapes / shapes.sum()
        log_mean += weight * (digamma(shapes) - digamma(shapes.sum()))
    return mean / total, log_mean / total


@pytest.mark.slow
@pytest.mark.parametrize("words", [[2], [0, 0, 1], [0, 3, 4, 5, 1], [1, 1, 1, 2, 2, 5]])
def test_expectations_are_those_of_enumeration(words):
    model = _model()
    mean, log_mean = _enumerated(words, model)
    posterior = sample_posterior(np.array(words), model, 60_000, np.random.default_rng(1))
    assert np.allclose(posterior.mean, mean, atol=0.006)
    assert np.allclose(posterior.log_mean, log_mean, atol=0.05)


@pytest.mark.slow
def test_samples_have_the_posterior_mean():
    model, words = _model(), np.array([0, 3, 4])
    samples = [sample_posterior(words, model, 20, np.random.default_rng(n)).log_sample for n in range(3000)]
    samples, (mean, _) = np.exp(samples), _enumerated(list(words), model)
    assert np.allclose(np.mean(samples, axis=0), mean, atol=4 * np.std(samples, axis=0).max() / np.sqrt(3000))
    assert np.allclose(np.sum(samples, axis=1), 1)


def test_cross_entropy_is_that_of_the_density():
    points = np.random.default_rng(2).dirichlet(np.ones(3), 5)
    nats = _model().cross_entropy(np.log(points))
    assert np.allclose(nats, [-dirichlet(ALPHA).logpdf(point) for point in points])


def test_same_seed_same_samples():
    first, second = (sample_posterior(np.array([1, 2]), _model(), 10, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first.log_sample, second.log_sample)
    assert np.array_equal(first.log_mean, second.log_mean)


@pytest.mark.slow
def test_samples_near_a_corner_have_finite_logarithms():
    """The logarithm of a gamma variable with a shape a near 0 is about -exponential(1) / a."""
    model = LatentDirichletAllocation(np.full(3, 0.002), np.full((3, 1), 1.0))
    log_samples = np.array(
        [
            sample_posterior(np.zeros(4, dtype=np.int64), model, 2, np.random.default_rng(n)).log_sample
            for n in range(2000)
        ]
    )
    assert np.isfinite(log_samples).all()
    assert np.allclose(np.logaddexp.reduce(log_samples, axis=1), 0)
    assert log_samples.min() < -2000
