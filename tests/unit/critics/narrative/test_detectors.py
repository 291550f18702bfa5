"""Tests of detectors of both levels: losses, padding, [SEP] tokens, windows, files."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from macroscope.critics.narrative.detector import Detector, new_detector, read_narratives, split_windows
from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.options import NarrativeOptions, PretrainingOptions
from macroscope.critics.narrative.sentence_detector import matching_loss
from macroscope.critics.narrative.tensors import classification_loss, gather_embeddings
from macroscope.critics.narrative.token_detector import TokenisedSentences, limit_tokens, load_encoder
from macroscope.critics.narratives import VectorRows
from macroscope.errors import MacroscopeError

from ....tiny import simulated_documents, write_encoder
from .made import make_narratives

WIDTH = 12
SENTENCES = [
    sentence.strip() + "."
    for document in simulated_documents("process", 6, 3)
    for section in document.sections
    for sentence in section.text.split(".")
    if sentence.strip()
][:60]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(write_encoder(tmp_path_factory.mktemp("encoder")))


def options(encoder="minilm", level="sentence", **given):
    if level == "similarity":
        return NarrativeOptions(encoder=encoder, **given)
    small = {"layers": 1, "heads": 2, "width": None if level == "token" else 8, "hidden": 16}
    return NarrativeOptions(encoder=encoder, detector={"level": level, **small}, **given)


def detector_of(level, encoder, task="missing", **given):
    all_options = options(encoder, level, **given)
    return new_detector(all_options, all_options.detector, task, WIDTH, 0)


def narratives(lengths):
    vectors = np.random.default_rng(0).normal(size=(sum(lengths), WIDTH)).astype(np.float16)
    return make_narratives(lengths, vectors=vectors, write=SENTENCES.__getitem__)


# ---- losses ----------------------------------------------------------------------------------------------------------


def test_classification_loss_is_the_mean_over_labelled_positions():
    logits, labels = torch.tensor([[0.5, -1.0, 9.0], [2.0, -7.0, 1.0]]), torch.tensor([[1, 0, NONE], [0, NONE, NONE]])
    p = 1 / (1 + np.exp(-np.array([0.5, -1.0, 2.0])))
    assert classification_loss(logits, labels).item() == pytest.approx(-np.log([p[0], 1 - p[1], 1 - p[2]]).mean())
    assert classification_loss(logits, torch.full_like(labels, NONE)).item() == 0


def test_matching_loss_is_0_for_the_true_embedding_and_covers_only_damaged_places():
    true = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([[1, 0, NONE], [0, 1, 1]])
    assert matching_loss(true * 3, true, labels).item() == pytest.approx(0, abs=1e-6)
    predicted = true.clone()
    predicted[labels != 1] = -7.0
    assert matching_loss(predicted, true, labels).item() == pytest.approx(0, abs=1e-6)
    predicted[1, 2] = -true[1, 2]
    assert matching_loss(predicted, true, labels).item() == pytest.approx(2 / 3)
    assert matching_loss(predicted, true, torch.zeros_like(labels)).item() == 0


def test_losses_of_both_kinds_are_added_with_their_weight(encoder):
    stories = narratives([6])
    all_options = options(encoder)
    labels, targets = np.array([[0, 1, 0, NONE]], dtype=np.int8), np.array([[NONE, 2, NONE, NONE]])
    examples = Examples(np.array([0]), np.array([[0, 1, 3, 4]]), labels, targets)
    losses = {}
    for weight in (0.0, 0.5):
        detector_options = all_options.detector.model_copy(update={"semantic_matching": weight})
        detector = new_detector(all_options, detector_options, "missing", WIDTH, 0)
        losses[weight] = detector.network.eval()(**detector.batches(stories, examples)([0]))
    distance = 1 - functional.cosine_similarity(
        losses[0.5]["predicted"][0, 1], torch.tensor(stories.vectors[2]).float(), 0
    )
    assert losses[0.5]["loss"].item() == pytest.approx((losses[0.0]["loss"] + 0.5 * distance).item(), rel=1e-5)


def test_embeddings_of_padding_are_0():
    vectors = VectorRows(np.arange(6, dtype=np.float16).reshape(3, 2))
    assert gather_embeddings(vectors, np.array([[2, NONE]])).tolist() == [[[4, 5], [0, 0]]]
    assert gather_embeddings(vectors.select(slice(0)), np.array([[NONE]])).tolist() == [[[0, 0]]]


def test_embeddings_are_standardised():
    detector = detector_of("sentence", "minilm")
    stories = narratives([6])
    detector.network.standardise_by(stories.vectors[:])
    inputs = np.array([[0, 1, 2, 3]])
    expected = detector.outputs(stories, inputs)
    moved = stories.with_vectors(stories.vectors[:].astype(np.float32) * 4 + 3, stories.cut)
    detector.network.standardise_by(moved.vectors[:])
    assert detector.outputs(moved, inputs) == pytest.approx(expected, abs=1e-4)


# ---- what a network reads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["similarity", "sentence", "token"])
@pytest.mark.parametrize("task", ["missing", "discordant"])
def test_neither_padding_nor_other_segments_change_logits(level, task, encoder):
    detector, stories = detector_of(level, encoder, task), narratives([9, 9, 9])
    short = detector.outputs(stories, np.array([[0, 2, 3]]))
    assert short.shape == (1, 3)
    longer = np.array([[9, 10, 11, 12], [0, 2, 3, NONE], [20, 21, 22, 23], [1, 2, NONE, NONE]])
    together = detector.outputs(stories, longer)
    assert together[1, :3] == pytest.approx(short[0], abs=1e-5)
    for row in range(4):
        alone = detector.outputs(stories, longer[row : row + 1])
        is_sentence = longer[row] != NONE
        assert together[row, is_sentence] == pytest.approx(alone[0, is_sentence], abs=1e-5)


@pytest.mark.parametrize("level", ["sentence", "token"])
def test_logits_depend_on_all_sentences_and_their_order(level, encoder):
    detector, stories = detector_of(level, encoder), narratives([9, 9])
    with torch.no_grad():
        for weights in detector.network.parameters():
            weights *= 4  # an untrained network hardly depends on its input
    logits = detector.outputs(stories, np.array([[0, 1, 2, 3], [0, 1, 2, 10], [1, 0, 2, 3]]))
    assert abs(logits[0, 0] - logits[1, 0]) > 1e-4
    assert abs(logits[0, 2] - logits[2, 2]) > 1e-4


def test_each_sentence_ends_in_its_sep(encoder):
    _, tokenizer = load_encoder(encoder)
    sentences = ["The river is long.", "It", "", "The town lies on the river."]
    tokenised = TokenisedSentences(sentences, [3, 2, 1, 0, NONE, 2], tokenizer, 5)
    batch = tokenised.batch(np.array([[0, 2, 1, NONE], [3, NONE, NONE, NONE]]))
    begin, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    first, it, _, cut = (tokenizer(text, add_special_tokens=False)["input_ids"][:5] for text in sentences)
    expected = [begin, *first, end, end, *it, end]
    assert batch["input_ids"][0].tolist() == expected
    assert batch["ends"].tolist() == [[len(first) + 1, len(first) + 2, len(expected) - 1, 0], [6, 0, 0, 0]]
    assert batch["input_ids"][1].tolist() == [begin, *cut, end, *[tokenizer.pad_token_id] * (len(expected) - 7)]
    assert batch["attention_mask"].sum(dim=1).tolist() == [len(expected), 7]
    assert tokenised.cut.tolist() == [False, False, False, True]


def test_token_limit_fits_the_encoder(encoder):
    model, tokenizer = load_encoder(encoder)  # of 64 positions
    for sentences in (1, 4, 5, 8, 16):
        most = limit_tokens(model, tokenizer, 1000, sentences)
        assert 1 + sentences * (most + 1) <= 64 < 1 + sentences * (most + 2)
    assert limit_tokens(model, tokenizer, 7, 4) == 7


def test_model_without_weights_gives_a_clear_error():
    with pytest.raises(MacroscopeError, match="encoder 'tiny-gpt2' has no pretrained weights"):
        load_encoder("tiny-gpt2")


@pytest.mark.parametrize("task", ["missing", "discordant"])
@pytest.mark.parametrize("level", ["sentence", "token"])
def test_detector_round_trips_through_its_folder(task, level, encoder, tmp_path):
    detector, stories = detector_of(level, encoder, task, intact=0.5), narratives([9, 4])
    detector.slope, detector.intercept = 0.7, -1.5
    if level == "sentence":
        detector.network.standardise_by(stories.vectors[:])
    inputs = np.array([[0, 1, 2, 3, 4][: detector.window], [9, 10, 11, 12, NONE][: detector.window]])
    before = detector.probabilities(stories, inputs)
    detector.save(tmp_path)
    loaded = Detector.load(tmp_path)
    assert loaded.probabilities(stories, inputs) == pytest.approx(before, abs=1e-6, nan_ok=True)
    assert (loaded.task, loaded.window, loaded.spare, loaded.most) == (
        task,
        detector.window,
        detector.spare,
        detector.most,
    )
    logits = detector.outputs(stories, inputs)
    is_place = ~np.isnan(before)
    assert before[is_place] == pytest.approx(1 / (1 + np.exp(1.5 - 0.7 * logits[is_place])), abs=1e-6)
    assert is_place.sum() == (3 + 3 if task == "missing" else 5 + 4)


def test_a_detector_has_positions_for_the_segments_that_it_is_pretrained_on():
    all_options = options(pretraining=PretrainingOptions(corpus="x"))
    pretrained = all_options.detector.model_copy(update={"pretrained": True})
    for task, segment, longest in (("missing", 4, 12), ("discordant", 5, 16)):
        assert new_detector(all_options, pretrained, task, WIDTH, 0).network.size.positions == longest
        assert new_detector(all_options, all_options.detector, task, WIDTH, 0).network.size.positions == segment


def test_width_that_is_no_multiple_of_heads_gives_a_clear_error():
    """Large encoders have 1024 dimensions, and detectors have 6 heads by default."""
    defaults = NarrativeOptions(detector={"level": "sentence"})
    with pytest.raises(MacroscopeError, match="heads"):
        new_detector(defaults, defaults.detector, "missing", 1024, 0)


# ---- windows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spare", [0, 1, 2])
@pytest.mark.parametrize("window", [3, 4, 6, 8])
def test_windows_cover_every_slot_and_are_not_too_long(window, spare):
    for length in range(2, 40):
        windows = split_windows(length, window, spare)
        assert len({size for _, size in windows}) == 1
        assert all(2 <= size <= window and 0 <= first <= length - size for first, size in windows)
        assert len(set(windows)) == len(windows)
        slots = {first + n for first, size in windows for n in range(size - 1)}
        assert slots == set(range(length - 1))
        if spare and length > 3:
            assert (0, length) not in windows
        if length >= window + 2 * spare:
            assert windows[0][1] == window


def stub(value, task="missing", window=4, spare=0):
    """Make a detector whose probability is a function of a window's sentences and the position in it."""

    class Stub(Detector):
        def probabilities(self, narratives, inputs):
            values = np.full(inputs.shape, np.nan)
            for row, numbers in enumerate(inputs):
                shown = numbers[numbers != NONE].tolist()
                for place in range(len(shown) - (self.task == "missing")):
                    values[row, place] = value(shown, place)
            return values

    return Stub(task, "sentence", window, spare, None)


@pytest.mark.parametrize("task", ["missing", "discordant"])
def test_probability_is_the_mean_over_windows(task):
    lengths = [7, 1, 2, 0, 13]
    stories = make_narratives(lengths)

    def value(shown, place):
        return (np.sin(sum(shown) * 7.0 + place) + 1) / 2

    probabilities = read_narratives(stub(value, task, spare=1), stories)
    for number, length in enumerate(lengths):
        if length < 2:
            assert len(probabilities[number]) == 0
            continue
        expected = [[] for _ in range(length - (task == "missing"))]
        for first, size in split_windows(length, 4, 1):
            shown = [stories.starts[number] + first + n for n in range(size)]
            for place in range(size - (task == "missing")):
                expected[first + place].append(value(shown, place))
        assert probabilities[number] == pytest.approx([np.mean(window_values) for window_values in expected])


def test_reading_without_narratives():
    assert read_narratives(stub(lambda *_: 0.5), make_narratives([])) == []
    assert [len(values) for values in read_narratives(stub(lambda *_: 0.5), make_narratives([1, 0]))] == [0, 0]


@pytest.mark.parametrize("level", ["sentence", "token"])
def test_probabilities_of_a_narrative_do_not_depend_on_others(level, encoder):
    detector = detector_of(level, encoder, intact=0.5)
    together = read_narratives(detector, narratives([5, 9, 1, 20]))
    alone = narratives([5, 9, 1, 20])
    alone = make_narratives([9], vectors=alone.vectors[5:14], write=lambda number: SENTENCES[5 + number])
    assert read_narratives(detector, alone)[0] == pytest.approx(together[1], abs=1e-5)
