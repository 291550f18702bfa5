"""Prompts: samples continue the first words of documents, as if these words had been sampled."""

import itertools
import math
from collections import Counter, deque

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.language_model.architectures.recurrent import RecurrentLM
from macroscope.systems.language_model.beam_sampler import BeamSampler
from macroscope.systems.language_model.decoding import distribution
from macroscope.systems.language_model.options import Ancestral, BeamSampling, LanguageModelSystem, Nucleus
from macroscope.systems.language_model.sampler import Request, TokenSampler
from macroscope.systems.language_model.sampling import merge_shards, sample_shard
from macroscope.systems.prompts import decode, encode_prompts, first_tokens, first_words, read_prompts
from macroscope.systems.tokenizer import train_bpe, train_words
from tests.unit.plan.plans import find_job, plan_systems, wildcards_of

from .conftest import CONTEXT, RECURRENT, SIZES, VOCABULARY, tiny_model

PROMPTS = {0: (), 1: (3,), 2: (5, 5, 2), 3: tuple(range(1, 11)) * 2, 4: (7, 1) * (CONTEXT - 1)}
"""Prompts by sample number; one is longer than the window."""
ANCESTRAL = Ancestral(rule="ancestral")
OPTIONS = {"context": CONTEXT, "batch_size": 4, "max_tokens": 60, "seed": 5, "stream": "test"}


def sampler(model, decoding=ANCESTRAL, **changes):
    kind = BeamSampler if isinstance(decoding, BeamSampling) else TokenSampler
    return kind(model, 0, decoding=decoding, **OPTIONS | {"stride": 4} | changes)


def generate(model, prompts, decoding=ANCESTRAL, **changes):
    requests = deque(Request(index, prompt=prompt) for index, prompt in prompts.items())
    return {result.request.index: result for result in sampler(model, decoding, **changes).run(requests)}


@torch.inference_mode()
def generate_plainly(model, index, prompt, *, stride=4, max_tokens=60, rule=ANCESTRAL):
    """Generate one document without a cache, by the loop of an unprompted sampler with forced first tokens."""
    generator = sampler(model).generator(Request(index))
    tokens, start, forced = [0], 0, list(prompt)
    while True:
        if not isinstance(model, RecurrentLM) and len(tokens) - start > CONTEXT - 1:
            start = len(tokens) - (CONTEXT - stride)
        if forced:
            tokens.append(forced.pop(0))
            continue
        cumulative = distribution(model(torch.tensor([tokens[start:]])).logits[:, -1], rule)[0].numpy().cumsum()
        token = int(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"))
        tokens.append(token)
        if token == 0:
            return tokens[1:-1]
        if len(tokens) > max_tokens:
            return tokens[1:]


@pytest.mark.parametrize("stride", [1, 4, CONTEXT - 1])
@pytest.mark.parametrize("kind", [*SIZES, *RECURRENT])
def test_prompted_samples_equal_unprompted_ones_with_forced_tokens(kind, stride):
    model = tiny_model(kind)
    tokens = {index: result.tokens.tolist() for index, result in generate(model, PROMPTS, stride=stride).items()}
    assert tokens == {index: generate_plainly(model, index, prompt, stride=stride) for index, prompt in PROMPTS.items()}
    assert all(tuple(tokens[index][: len(prompt)]) == prompt for index, prompt in PROMPTS.items())


def continuations(model, prompt, longest):
    """Compute P(continuation | prompt) of every continuation of at most `longest` tokens, by enumeration."""
    probabilities = {}
    for length in range(longest + 1):
        for tokens in itertools.product(range(1, VOCABULARY), repeat=length):
            with torch.inference_mode():
                logs = model(torch.tensor([[0, *prompt, *tokens]])).logits[0].double().log_softmax(-1)
            path = [*tokens, 0]
            probabilities[tokens] = math.exp(sum(float(logs[len(prompt) + i, token]) for i, token in enumerate(path)))
    return probabilities


def test_continuations_come_with_their_exact_conditional_probabilities():
    n, prompt, model = 3000, (4, 2), tiny_model("gpt2", 3.0)
    exact = continuations(model, prompt, 2)
    results = generate(model, dict.fromkeys(range(n), prompt), batch_size=64, max_tokens=len(prompt) + 3)
    counts = Counter(tuple(result.tokens.tolist()[2:]) for result in results.values())
    common = [tokens for tokens, p in exact.items() if p * n >= 5]
    observed, expected = [counts[tokens] for tokens in common], [exact[tokens] * n for tokens in common]
    observed.append(n - sum(observed))
    expected.append(n - sum(expected))
    assert len(common) >= 5
    assert chisquare(observed, expected).pvalue > 1e-4


def test_nucleus_samples_continue_prompts_too(gpt2):
    rule = Nucleus(rule="nucleus", p=0.8)
    tokens = {index: result.tokens.tolist() for index, result in generate(gpt2, PROMPTS, rule).items()}
    assert tokens == {index: generate_plainly(gpt2, index, prompt, rule=rule) for index, prompt in PROMPTS.items()}


@torch.inference_mode()
def plain_beam(model, index, prompt, beams, stride=4, max_tokens=60):
    """Generate one document that begins with a prompt, encoding every sequence of the beam again for every token."""
    generator = sampler(model).generator(Request(index))
    live, ended, start = [((0, *prompt), 0.0)], [], 0
    for length in range(1, len(prompt) + 1):
        start = length - (CONTEXT - stride) if length - start > CONTEXT - 1 else start
    while True:
        length = len(live[0][0])
        start = length - (CONTEXT - stride) if length - start > CONTEXT - 1 else start
        uniforms, new = generator.random((len(live), beams)), {}
        for (tokens, log), numbers in zip(live, uniforms, strict=True):
            logs = model(torch.tensor([tokens[start:]])).logits[0, -1].double().log_softmax(-1).numpy()
            cumulative = np.exp(logs).cumsum()
            for token in np.searchsorted(cumulative, numbers * cumulative[-1], side="right"):
                new[(*tokens, int(token))] = log + logs[token]
        kept = sorted([*ended, *new.items()], key=lambda item: -item[1])[:beams]
        ended = [item for item in kept if item[0][-1] == 0]
        live = [item for item in kept if item[0][-1] != 0]
        best = kept[0][0]
        if best[-1] == 0:
            return list(best[1:-1])
        if len(best) > max_tokens:
            return list(best[1:])


def test_beams_that_begin_with_prompts_equal_a_plain_loop():
    # With this scale the model seldom ends, so that sequences get long.
    model, rule = tiny_model("gpt2", 3.0), BeamSampling(rule="beam_sampling", beams=3)
    tokens = {index: result.tokens.tolist() for index, result in generate(model, PROMPTS, rule, batch_size=6).items()}
    assert tokens == {index: plain_beam(model, index, prompt, 3) for index, prompt in PROMPTS.items()}


def test_one_beam_with_a_prompt_is_ancestral_sampling(gpt2):
    prompts = dict.fromkeys(range(300), (3, 8))
    beam = generate(gpt2, prompts, BeamSampling(rule="beam_sampling", beams=1), max_tokens=3, batch_size=64)
    ancestral = generate(gpt2, prompts, max_tokens=3, batch_size=64)
    assert {i: d.tokens.tolist() for i, d in beam.items()} == {i: d.tokens.tolist() for i, d in ancestral.items()}


RULES = {
    "ancestral": {"rule": "ancestral"},
    "nucleus": {"rule": "nucleus", "p": 0.9},
    "beam": {"rule": "beam_sampling", "beams": 2},
}
TEXTS = ["aa bb\n\ncc d e f", "f", "  a  b \n c d", "g:g a\nb\n\n\nc d a b c d e f g " * 3]
WORDS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory, letters):
    folder = tmp_path_factory.mktemp("prompted")
    tiny_model("gpt2", scale=1.0).save_pretrained(folder / "model")
    letters.save_pretrained(folder / "model")
    texts = [Document(f"text-{n}", "test", None, (Section(None, text),)) for n, text in enumerate(TEXTS)]
    write_documents(folder / "control.parquet", texts, Provenance("c"))
    return folder


def options(**changes):
    defaults = {"base": "x", "titles": False, "samples": 10, "batch_size": 4, "max_tokens": 60, "stride": 4}
    return LanguageModelSystem(kind="language_model", **defaults | {"prompt_words": WORDS} | changes)


def sample_documents(folder, output, parsed, shards=1):
    paths = [output.with_name(f"{output.name}-{shard}") for shard in range(shards)]
    for shard, path in enumerate(paths):
        sample_shard(
            folder / "model", path, parsed, system="lm", seed=1, shard=shard, shards=shards,
            prompts=folder / "control.parquet",
        )  # fmt: skip
    merge_shards(paths, output, "c")
    return [(document.id, document.sections) for document in read_documents(output)]


def text(sections):
    return "\n\n".join(section.text for section in sections)


@pytest.mark.parametrize("rule", list(RULES))
def test_every_sample_begins_with_the_words_of_its_document(folder, tmp_path, rule):
    samples = sample_documents(folder, tmp_path / "s", options(decoding=RULES[rule]))
    assert len(samples) == 10
    for number, (name, sections) in enumerate(samples):
        words = TEXTS[number % len(TEXTS)].split()[:WORDS]
        assert name == f"lm-{number:07d}"
        assert text(sections).split()[: len(words) - 1] == words[:-1]
        assert text(sections).split()[len(words) - 1].startswith(words[-1])
    assert len({text(sections) for _, sections in samples[1::4]}) > 1, "samples of one prompt differ"


@pytest.mark.parametrize("rule", list(RULES))
def test_prompted_samples_do_not_depend_on_the_shards_or_the_batch(folder, tmp_path, rule):
    whole = sample_documents(folder, tmp_path / "one", options(decoding=RULES[rule]))
    assert sample_documents(folder, tmp_path / "three", options(decoding=RULES[rule]), shards=3) == whole
    assert sample_documents(folder, tmp_path / "batch", options(decoding=RULES[rule], batch_size=7)) == whole


def test_short_documents_are_prompts_as_a_whole_and_counted(folder, tmp_path):
    sample_documents(folder, tmp_path / "s", options(), shards=3)
    provenance = read_provenance(tmp_path / "s")
    counts = {count.filter: (count.kept, count.dropped) for count in provenance.counts}
    assert counts["prompt shorter than 3 words"] == (7, 3)  # text-1 is the prompt of samples 1, 5 and 9
    assert (provenance.source["prompt_words"], provenance.source["prompt_documents"]) == (WORDS, len(TEXTS))
    assert provenance.source["cut_samples"] == sorted(set(provenance.source["cut_samples"]))


def test_tokens_of_prompts_are_not_counted_as_generated(folder, tmp_path):
    sample_documents(folder, tmp_path / "s", options(samples=1, max_tokens=10))  # "aa bb\n\ncc" has 9 tokens
    assert read_provenance(tmp_path / "s").source["tokens"] == 1


def test_unknown_words_of_a_prompt_keep_their_text(tmp_path):
    tokenizer = train_words(iter(["the owl sleeps. the owl wakes."] * 5), 8)
    write_documents(
        tmp_path / "d", [Document("x", "test", None, (Section(None, "the lynx sleeps."),))], Provenance("c")
    )
    (prompt,) = encode_prompts(read_prompts(tmp_path / "d", 2, False), tokenizer)
    assert (prompt.text, prompt.document, prompt.short) == ("the lynx", "x", False)
    more = tokenizer("the lynx owl", add_special_tokens=False)["input_ids"]
    assert list(prompt.tokens) == more[:2]
    assert decode(more, prompt, tokenizer) == "the lynx owl"


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [("a  b\n\nc d", 3, "a  b\n\nc"), ("a b", 2, "a b"), ("a", 5, "a"), ("", 2, ""), ("a\u00a0b c", 2, "a\u00a0b")],
)
def test_first_words(text, words, expected):
    assert first_words(text, words) == expected
    assert first_words(text, words).split() == text.split()[:words]


def test_every_sample_begins_with_the_tokens_of_its_document(folder, tmp_path):
    parsed = options(prompt_words=None, prompt_tokens=4)
    samples = sample_documents(folder, tmp_path / "s", parsed)
    # One letter is a token; " " at the end of "a  b" and line breaks are left out.
    for (_, sections), prompt in zip(samples[:3], ["aa b", "f", "a  b"], strict=True):
        assert text(sections).startswith(prompt)
    provenance = read_provenance(tmp_path / "s")
    assert "prompt shorter than 4 tokens" in {count.filter for count in provenance.counts}
    assert (provenance.source["prompt_tokens"], provenance.source["prompt_documents"]) == (4, len(TEXTS))


def test_first_tokens_end_with_whole_characters_and_words():
    tokenizer = train_bpe(iter(["the owl sleeps"] * 5), 270)  # "é" is two tokens, a byte each
    ids = tokenizer("owl é the")["input_ids"]
    for tokens in range(1, len(ids) + 2):
        prompt = first_tokens("owl é the", tokens, tokenizer)
        assert "owl é the".startswith(prompt.text)
        assert prompt.text == prompt.text.rstrip()
        assert prompt.tokens == tuple(ids[: len(prompt.tokens)])
        assert tokenizer.decode(list(prompt.tokens)) == prompt.text
        assert tokens - len(prompt.tokens) <= 2
        assert prompt.short == (tokens > len(ids))
    assert prompt.text == "owl é the"


def test_invalid_prompts_are_one_sentence(folder, tmp_path):
    model, arguments = folder / "model", {"system": "lm", "seed": 1, "shard": 0, "shards": 1}
    with pytest.raises(MacroscopeError, match="there are no documents to take prompts from"):
        sample_shard(model, tmp_path / "s", options(), **arguments)
    arguments["prompts"] = folder / "control.parquet"
    with pytest.raises(MacroscopeError, match="prompts are for untitled texts; set titles: false"):
        sample_shard(model, tmp_path / "s", options(titles=True), **arguments)
    with pytest.raises(MacroscopeError, match="from document 'text-0' has 9 tokens, and a sample at most 9; raise"):
        sample_shard(model, tmp_path / "s", options(max_tokens=9), **arguments)


LM = {"kind": "language_model", "base": "tiny-gpt2", "titles": False}
AGAIN = {"kind": "resampled", "of": "lm", "decoding": {"rule": "ancestral"}}


def test_prompts_are_the_controls_documents():
    plan = plan_systems(lm={**LM, "prompt_words": 10}, again=AGAIN, free={**AGAIN, "prompt_words": 0})
    sample = find_job(plan, "sample")
    control = "results/default/systems/wiki/control/samples.parquet"
    assert [sample.inputs["prompts"](wildcards_of(name)) for name in ("lm", "again", "free")] == [
        [control],
        [control],
        [],
    ]
    assert '"prompt_words": null' in sample.options(wildcards_of("free"))


def test_a_resampled_system_may_have_prompts_of_tokens_instead():
    plan = plan_systems(lm={**LM, "prompt_words": 10}, again={**AGAIN, "prompt_tokens": 35}, same=AGAIN)
    of = {name: plan.systems.all[name].as_language_model(plan.config) for name in ("again", "same")}
    assert [(of[name].prompt_words, of[name].prompt_tokens) for name in of] == [(None, 35), (10, None)]
    with pytest.raises(MacroscopeError, match="prompt_words and prompt_tokens are both given; give one"):
        plan_systems(lm={**LM, "prompt_words": 10, "prompt_tokens": 35})


@pytest.mark.parametrize(
    "systems",
    [
        {"lm": {**LM, "titles": True, "prompt_words": 5}},
        {"lm": {**LM, "titles": True}, "x": {**AGAIN, "prompt_words": 5}},
    ],
)
def test_prompts_for_titled_texts_are_one_sentence(systems):
    with pytest.raises(MacroscopeError, match=r"systems\.(lm|x)\.prompt_words: prompts are for untitled texts"):
        plan_systems(**systems)
