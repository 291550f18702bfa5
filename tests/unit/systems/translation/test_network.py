"""Networks: the inputs of a decoder, losses by hand, and sampling from the stated distributions."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from macroscope.systems.translation.generation import _choose, generate
from macroscope.systems.translation.network import DECODER, END, PAD, Size, Translator
from macroscope.systems.translation.training import pad_rows


def _network(autoregressive):
    torch.manual_seed(0)
    return Translator(Size(12, 9, 1, 2, 16, 32, 0.0, autoregressive)).eval()


ORIGINALS = pad_rows([[3, 4, 5, 6], [7, 8]])


def test_a_word_depends_only_on_those_before_it():
    network = _network(True)
    memory = network.encode(ORIGINALS)
    translations = torch.tensor([[5, 6, 7, END], [5, 6, 7, END]]), torch.tensor([[5, 6, 9, 8], [5, 6, 9, 8]])
    logits = [network.decode(ORIGINALS, memory, network.embed_shifted(rows)) for rows in translations]
    assert torch.allclose(logits[0][:, :3], logits[1][:, :3], atol=1e-5)
    assert not torch.allclose(logits[0][:, 3], logits[1][:, 3], atol=1e-3)


def test_a_non_autoregressive_decoder_reads_no_word_of_the_translation():
    network = _network(False)
    labels = [torch.tensor([[5, 6, END]]), torch.tensor([[9, 8, END]])]
    inputs = [network._decoder_input(ORIGINALS[:1], rows) for rows in labels]
    assert torch.equal(*inputs)


def test_originals_are_stretched_evenly():
    network = _network(False)
    wide = network.embed_stretched(ORIGINALS, torch.tensor([8, 3]))
    copied = network._embed(torch.tensor([[3, 3, 4, 4, 5, 5, 6, 6]]), DECODER)
    assert torch.allclose(wide[0], copied[0])
    short = network._embed(torch.tensor([[7, 7, 8]]), DECODER)
    assert torch.allclose(wide[1, :3], short[0])


@pytest.mark.parametrize("autoregressive", [True, False])
def test_padding_changes_nothing(autoregressive):
    network = _network(autoregressive)
    labels = torch.tensor([[5, END]])
    alone = network(ORIGINALS[1:, :2], labels)["loss"]
    wide = network(ORIGINALS[1:], functional.pad(labels, (0, 3), value=PAD))["loss"]
    assert torch.allclose(alone, wide, atol=1e-5)


def test_loss_is_a_token_s_cross_entropy_and_that_of_the_length():
    network = _network(False)
    labels = torch.tensor([[5, 6, END]])
    memory = network.encode(ORIGINALS[:1])
    logits = network.decode(ORIGINALS[:1], memory, network.embed_stretched(ORIGINALS[:1], torch.tensor([3])))
    expected = functional.cross_entropy(logits[0], labels[0])
    expected += 0.1 * functional.cross_entropy(network.length_logits(ORIGINALS[:1], memory), torch.tensor([3]))
    assert torch.allclose(network(ORIGINALS[:1], labels)["loss"], expected, atol=1e-5)


def test_tokens_are_sampled_with_their_probabilities():
    logits = torch.tensor([1.0, 0.0, -2.0, float("-inf")])
    numbers = torch.from_numpy(np.random.default_rng(0).random(20_000))
    sampled = _choose(logits.expand(20_000, 4), numbers, 1.0).numpy()
    shares = np.bincount(sampled, minlength=4) / 20_000
    assert np.allclose(shares, torch.softmax(logits, 0), atol=0.015)
    assert shares[3] == 0
    assert _choose(logits, torch.tensor(0.999), 0.0) == 0


@pytest.mark.parametrize("autoregressive", [True, False])
def test_a_translation_does_not_depend_on_its_batch(autoregressive):
    network = _network(autoregressive)
    originals, numbers = [[3, 4, 5, 6], [7, 8], [9]], np.random.default_rng(1).random((3, 10))
    numbers[:, 0] = [0.99, 0.5, 0.2]  # for the lengths
    together = generate(network, originals, numbers, 1.0)
    assert autoregressive or len({len(tokens) for tokens, _ in together}) > 1
    alone = [generate(network, [row], numbers[n : n + 1], 1.0)[0] for n, row in enumerate(originals)]
    assert together == alone
    assert all(token > END for tokens, _ in together for token in tokens)


def test_an_endless_translation_is_cut():
    network = _network(True)
    with torch.no_grad():
        network.words.weight[END] = -100.0 * network.words.weight[3:].mean(dim=0)
    tokens, finished = generate(network, [[3]], np.full((1, 10), 0.5), 1.0)[0]
    assert (len(tokens), finished) == (9, False) or finished


@pytest.mark.parametrize("positions", [0, 30])
def test_positions_of_fairseq(positions):
    """Sinusoids have no parameters; learnt positions are one table for each side."""
    size = Size(12, 9, 1, 2, 16, 32, 0.0, False, positions, 20)
    network = Translator(size).eval()
    learnt = [name for name, _ in network.named_parameters() if name.startswith("places")]
    assert learnt == [f"places.{table}.weight" for table in range(2 if positions else 0)]
    originals = torch.tensor([[3, 4, 5, PAD]])
    assert network.length_logits(originals, network.encode(originals)).shape == (1, 20)
    assert torch.isfinite(network(originals, torch.tensor([[6, 7, END]]))["loss"])
