"""Sampling from a language model, shard by shard; finished samples are kept at once, and shards are merged."""

import hashlib
import heapq
import json
import logging
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from macroscope.documents import Count, Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.natural_language.words import cut_after_words
from macroscope.progress import Progress
from macroscope.systems.formats import ATTEMPTS, InvalidSample, invalid_reasons, parse_sample
from macroscope.systems.language_model.beam_sampler import BeamSampler
from macroscope.systems.language_model.model import context_window, load_model
from macroscope.systems.language_model.options import BeamSampling, LanguageModelSystem
from macroscope.systems.language_model.sampler import GeneratedTokens, Request, Sampler, TokenSampler
from macroscope.systems.prompts import EncodedPrompt, Prompt, decode, read_encoded_prompts, require_room
from macroscope.systems.resume import PartialFile
from macroscope.systems.tokenizer import boundary_id, end_ids, unknown_id
from macroscope.training import use_threads

log = logging.getLogger("macroscope")

HOPELESS = 400
"""Number of invalid attempts without a single valid one after which sampling stops with an error."""


@dataclass
class Sample:
    """A valid sample, or one that was given up (no sections), with counts of its attempts.

    Attributes
    ----------
    index
        Number of the sample.
    sections
        Titles (W/ Title) and texts.
    tokens
        Number of generated tokens, with the boundary, without the prompt, and including invalid attempts.
    unknown
        Number of these that are the token for words outside the vocabulary.
    invalid
        Reasons of the invalid attempts before it, with their counts.
    empty_sections
        Number of sections without text that were removed (W/O Title).
    cut
        Whether it was cut at the longest length, in tokens or in words.
    control
        Whether a control token other than the boundary ended it.
    """

    index: int
    sections: list[tuple[str | None, str]] = field(default_factory=list)
    tokens: int = 0
    unknown: int = 0
    invalid: dict[str, int] = field(default_factory=dict)
    empty_sections: int = 0
    cut: bool = False
    control: bool = False


def sample_shard(
    model: Path,
    output: Path,
    options: LanguageModelSystem,
    *,
    system: str,
    seed: int,
    shard: int,
    shards: int,
    prompts: Path | None = None,
    threads: int = 1,
) -> None:
    """Generate the samples of one shard: those whose number is `shard` modulo `shards`.

    The text of a sample depends on its number and the seed, not on the number of shards. Finished samples are kept in
    `<output>.part.jsonl` until the shard is complete, so that a killed run resumes from them.

    Parameters
    ----------
    seed
        Seed of the run; the system's own seed is added.
    prompts
        Documents that provide the prompts, if the options request prompts: see `read_encoded_prompts`.

    Raises
    ------
    MacroscopeError
        If the model hardly ever produces the format, or a prompt is as long as the longest sample.
    """
    use_threads(threads)
    seed += options.seed
    network, tokenizer = load_model(model)
    indices = range(shard, options.samples, shards)
    beginnings = read_encoded_prompts(prompts, options, tokenizer)
    require_room(beginnings, options.max_tokens)
    fingerprint = _fingerprint(model, options, seed, shard, shards, beginnings)
    part = PartialFile(output, fingerprint, Sample)
    done = {sample.index: sample for sample in part}
    if done:
        log.info("resuming with %d of %d samples finished", len(done), len(indices))
    context = context_window(network.config, options.context)
    sampler = make_sampler(network, boundary_id(tokenizer), context, options, seed, system, end_ids(tokenizer))
    with Progress(f"sample {system}", len(indices), "samples") as bar:
        bar.advance(len(done))
        missing = {i: beginnings[i % len(beginnings)] for i in indices if i not in done}
        has_valid = any(sample.sections for sample in done.values())
        for sample in _generate_samples(missing, sampler, tokenizer, options, has_valid):
            part.append(sample)
            done[sample.index] = sample
            bar.advance(1)
    _require_samples(done, system, options)
    has_unknown = unknown_id(tokenizer) is not None
    provenance = _provenance(done, options, system, seed, sampler, beginnings, has_unknown)
    documents = (_document(done[i], system) for i in sorted(done) if done[i].sections)
    write_documents(output, documents, provenance)
    part.remove()


def make_sampler(
    model: Any,
    boundary: int,
    context: int,
    options: LanguageModelSystem,
    seed: int,
    stream: str,
    ends: Iterable[int] = (),
) -> Sampler:
    """Return the sampler for the options' decoding rule; arguments of `Sampler`."""
    kind = BeamSampler if isinstance(options.decoding, BeamSampling) else TokenSampler
    return kind(
        model,
        boundary,
        ends=ends,
        context=context,
        stride=options.stride or context // 2,
        batch_size=options.batch_size,
        max_tokens=options.max_tokens,
        decoding=options.decoding,
        seed=seed,
        stream=stream,
    )


def merge_shards(shards_of_samples: Sequence[Path], output: Path, corpus: str) -> None:
    """Merge the shards of a system in the order of the samples' numbers, with their provenance."""
    provenance = merge_provenance([read_provenance(path) for path in shards_of_samples], corpus)
    write_documents(output, _merged(shards_of_samples), provenance)


def merge_provenance(parts: Sequence[Provenance], corpus: str) -> Provenance:
    """Merge the provenance of shards: sum the counts of each filter and the tokens, and join the cut samples."""
    counts: dict[tuple[str, str], Count] = {}
    for part in parts:
        for count in part.counts:
            total = counts.setdefault((count.filter, count.unit), Count(count.filter, 0, 0, count.unit))
            total.kept += count.kept
            total.dropped += count.dropped
    tokens = sum(part.source["tokens"] for part in parts)
    cut = sorted(index for part in parts for index in part.source["cut_samples"])
    source = parts[0].source | {"tokens": tokens, "cut_samples": cut}
    return Provenance(corpus, source, parts[0].options, list(counts.values()))


def parse_sample_number(name: str) -> int:
    """Return the number of a sample, from its id."""
    return int(name.rpartition("-")[2])


def _generate_samples(
    prompts: dict[int, EncodedPrompt],
    sampler: Sampler,
    tokenizer: Any,
    options: LanguageModelSystem,
    has_valid: bool,
) -> Iterator[Sample]:
    """Generate until every sample is valid or given up, and yield each.

    Parameters
    ----------
    prompts
        Prompts of the samples to generate, by sample number.
    has_valid
        Whether there are valid samples from an earlier run. After a kill, hundreds of samples with invalid first
        attempts may be left, which is no reason to stop.
    """
    unfinished = {index: Sample(index) for index in prompts}
    requests = deque(Request(index, prompt=prompt.tokens) for index, prompt in prompts.items())
    invalid = 0
    for generated in sampler.run(requests):
        sample = unfinished[generated.request.index]
        reason = _fill(sample, generated, prompts[sample.index], tokenizer, options)
        if reason is None:
            has_valid = True
            yield unfinished.pop(sample.index)
            continue
        invalid += 1
        sample.invalid[reason] = sample.invalid.get(reason, 0) + 1
        if not has_valid and invalid >= HOPELESS:
            raise MacroscopeError(
                f"none of {invalid} attempts of the language model is a document of the format; train it longer"
                f" (training.epochs), raise max_tokens above {sampler.max_tokens}, or set titles: false if it was not"
                " trained on titles"
            )
        if generated.request.attempt + 1 < ATTEMPTS:
            requests.append(replace(generated.request, attempt=generated.request.attempt + 1))
        else:
            yield unfinished.pop(sample.index)


def _fill(
    sample: Sample, generated: GeneratedTokens, prompt: EncodedPrompt, tokenizer: Any, options: LanguageModelSystem
) -> str | None:
    """Fill a sample from generated tokens; return the reason if they are invalid, else None."""
    continuation = generated.tokens[len(prompt.tokens) :]
    sample.tokens += len(continuation) + (not generated.cut)
    sample.unknown += int(np.count_nonzero(continuation == unknown_id(tokenizer)))
    whole = decode(generated.tokens, prompt, tokenizer)
    text = whole if options.max_words is None else cut_after_words(whole, options.max_words)
    try:
        sections, empty = parse_sample(text, options.titles)
    except InvalidSample as error:
        return str(error)
    sample.sections = [(section.title, section.text) for section in sections]
    sample.empty_sections, sample.cut = empty, generated.cut or len(text) < len(whole.rstrip())
    sample.control = not sample.cut and generated.end != boundary_id(tokenizer)
    return None


def _document(sample: Sample, system: str) -> Document:
    sections = tuple(Section(title, text) for title, text in sample.sections)
    return Document(f"{system}-{sample.index:07d}", "test", None, sections)


def _require_samples(done: dict[int, Sample], system: str, options: LanguageModelSystem) -> None:
    given_up = sum(not sample.sections for sample in done.values())
    if given_up > len(done) / 2:
        raise MacroscopeError(
            f"system {system}: {given_up} of {len(done)} samples had {ATTEMPTS} invalid attempts in a row; the model"
            f" does not produce the format {'W/' if options.titles else 'W/O'} Title; train it longer"
        )


def _provenance(
    done: dict[int, Sample],
    options: LanguageModelSystem,
    system: str,
    seed: int,
    sampler: Sampler,
    prompts: Sequence[Prompt],
    has_unknown: bool,
) -> Provenance:
    samples = list(done.values())
    valid = [sample for sample in samples if sample.sections]
    invalid: Counter[str] = Counter()
    for sample in samples:
        invalid.update(sample.invalid)
    sections = sum(len(sample.sections) for sample in valid)
    cut = sum(sample.cut for sample in valid)
    counts = [Count(reason, len(valid), invalid[reason], "attempts") for reason in invalid_reasons(options.titles)]
    counts += [
        Count(f"{ATTEMPTS} invalid attempts in a row", len(valid), len(samples) - len(valid), "samples"),
        Count("section without text", sections, sum(sample.empty_sections for sample in valid), "sections"),
        Count(f"end of a sample beyond {_longest(options)}", len(valid) - cut, cut, "ends of samples"),
    ]
    if len(sampler.ends) > 1:
        control = sum(sample.control for sample in valid)
        counts.append(Count("control token in place of an end", len(valid) - control, control, "ends of samples"))
    if has_unknown:
        unknown, tokens = sum(sample.unknown for sample in samples), sum(sample.tokens for sample in samples)
        counts.append(Count("word outside the vocabulary, generated as <unk>", tokens - unknown, unknown, "tokens"))
    if length := options.prompt_length():
        short = sum(prompts[sample.index % len(prompts)].short for sample in samples)
        counts.append(Count(f"prompt shorter than {length}", len(samples) - short, short, "whole prompts"))
    source = {
        "system": system,
        "base": options.base,
        "titles": options.titles,
        "decoding": options.decoding.model_dump(mode="json"),
        "seed": seed,
        "context": sampler.context,
        "stride": sampler.stride,
        "batch_size": options.batch_size,
        "tokens": sum(sample.tokens for sample in samples),
        "cut_samples": sorted(sample.index for sample in valid if sample.cut),
        "prompt_words": options.prompt_words,
        "prompt_tokens": options.prompt_tokens,
        "prompt_documents": len(prompts) if options.has_prompts() else None,
    }
    return Provenance("", source, options.model_dump(mode="json"), counts)


def _longest(options: LanguageModelSystem) -> str:
    """Return the longest length of a sample, with its units."""
    tokens = f"{options.max_tokens} tokens"
    return tokens if options.max_words is None else f"{options.max_words} words or {tokens}"


def _fingerprint(
    model: Path, options: LanguageModelSystem, seed: int, shard: int, shards: int, prompts: Sequence[Prompt]
) -> str:
    digest = hashlib.sha256(json.dumps([prompt.text for prompt in prompts]).encode())
    for path in sorted(model.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    inputs = {"options": options.model_dump(mode="json"), "seed": seed, "shard": shard, "shards": shards}
    return json.dumps(inputs | {"model": digest.hexdigest()}, sort_keys=True)


def _merged(shards: Sequence[Path]) -> Iterator[Document]:
    yield from heapq.merge(*(read_documents(path) for path in shards), key=lambda document: document.id)
