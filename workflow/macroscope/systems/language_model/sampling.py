"""Samples of a language model: one shard of valid documents, kept as they come."""

import hashlib
import heapq
import json
import logging
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from macroscope.documents import Count, Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.progress import Progress
from macroscope.systems.formats import ATTEMPTS, InvalidDraw, parse_draw, reasons
from macroscope.systems.language_model.beam_sampler import BeamSampler
from macroscope.systems.language_model.model import context_window, load_model
from macroscope.systems.language_model.options import BeamSampling, LanguageModelSystem
from macroscope.systems.language_model.prompts import EncodedPrompt, decode, encode_prompts, require_room
from macroscope.systems.language_model.sampler import Draw, Request, Sampler
from macroscope.systems.language_model.token_sampler import TokenSampler
from macroscope.systems.prompts import Prompt, read_prompts
from macroscope.systems.resume import Unfinished
from macroscope.systems.tokenizer import boundary_id, unknown_id
from macroscope.training import use_threads

log = logging.getLogger("macroscope")

HOPELESS = 400
"""Invalid draws without a single valid one after which the model is given up."""


@dataclass
class Sample:
    """A valid sample, or one that was given up (no sections), with what happened on the way.

    Attributes
    ----------
    index
        Number of the sample.
    sections
        Titles (W/ Title) and texts.
    tokens
        Drawn for it, boundary included, prompt not; tokens of invalid draws are counted as well.
    unknown
        How many of these are the token for words that the vocabulary lacks.
    invalid
        Reasons of the invalid draws before it, with their counts.
    empty_sections
        Sections without text that were removed (W/O Title).
    cut
        Whether it was cut at the longest length.
    """

    index: int
    sections: list[tuple[str | None, str]] = field(default_factory=list)
    tokens: int = 0
    unknown: int = 0
    invalid: dict[str, int] = field(default_factory=dict)
    empty_sections: int = 0
    cut: bool = False


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
    """Draw the samples of one shard: those whose number is `shard` modulo `shards`.

    A sample's number and the seed decide what it says, so the number of shards does not. Finished samples are kept in
    `<output>.part.jsonl` until the shard is whole, and a killed run goes on from there.

    Parameters
    ----------
    seed
        Seed of the run; the system's own is added.
    prompts
        Documents that the samples' prompts are taken from, where the options ask for prompts: see `read_prompts`.

    Raises
    ------
    MacroscopeError
        Where the model hardly ever produces the format, or a prompt is as long as a sample may be.
    """
    use_threads(threads)
    seed += options.seed
    network, tokenizer = load_model(model)
    indices = range(shard, options.samples, shards)
    beginnings = encode_prompts(read_prompts(prompts, options.prompt_words, options.titles), tokenizer)
    require_room(beginnings, options.max_tokens)
    fingerprint = _fingerprint(model, options, seed, shard, shards, beginnings)
    part = Unfinished(output, fingerprint)
    done = {sample.index: sample for sample in (Sample(**row) for row in part)}
    if done:
        log.info("%d of %d samples were finished before", len(done), len(indices))
    context = context_window(network.config, options.context)
    sampler = make_sampler(network, boundary_id(tokenizer), context, options, seed, system)
    with Progress(f"sample {system}", len(indices), "samples") as bar:
        bar.advance(len(done))
        begun = {i: beginnings[i % len(beginnings)] for i in indices if i not in done}
        is_hopeful = any(sample.sections for sample in done.values())
        for sample in _draw(begun, sampler, tokenizer, options.titles, is_hopeful):
            part.append(vars(sample))
            done[sample.index] = sample
            bar.advance(1)
    _require_samples(done, system, options)
    has_unknown = unknown_id(tokenizer) is not None
    provenance = _provenance(done, options, system, seed, sampler, beginnings, has_unknown)
    documents = (_document(done[i], system) for i in sorted(done) if done[i].sections)
    write_documents(output, documents, provenance)
    part.remove()


def make_sampler(
    model: Any, boundary: int, context: int, options: LanguageModelSystem, seed: int, stream: str
) -> Sampler:
    """Return the sampler for the options' decoding rule; arguments as for `Sampler`."""
    kind = BeamSampler if isinstance(options.decoding, BeamSampling) else TokenSampler
    return kind(
        model,
        boundary,
        context=context,
        stride=options.stride or context // 2,
        batch_size=options.batch_size,
        max_tokens=options.max_tokens,
        decoding=options.decoding,
        seed=seed,
        stream=stream,
    )


def _draw(
    prompts: dict[int, EncodedPrompt], sampler: Sampler, tokenizer: Any, titles: bool, is_hopeful: bool
) -> Iterator[Sample]:
    """Draw until every sample is valid or given up; samples are those of which a prompt is given, by their number.

    After a kill those are left whose first draws were invalid, hundreds in a row: `is_hopeful` says that there were
    valid ones before.
    """
    unfinished = {index: Sample(index) for index in prompts}
    requests = deque(Request(index, prompt=prompt.tokens) for index, prompt in prompts.items())
    invalid = 0
    for draw in sampler.run(requests):
        sample = unfinished[draw.request.index]
        reason = _read(draw, sample, prompts[sample.index], tokenizer, titles)
        if reason is None:
            is_hopeful = True
            yield unfinished.pop(sample.index)
            continue
        invalid += 1
        sample.invalid[reason] = sample.invalid.get(reason, 0) + 1
        if not is_hopeful and invalid >= HOPELESS:
            raise MacroscopeError(_hopeless(sampler, f"none of {invalid} draws"))
        if draw.request.attempt + 1 < ATTEMPTS:
            requests.append(replace(draw.request, attempt=draw.request.attempt + 1))
        else:
            yield unfinished.pop(sample.index)


def _read(draw: Draw, sample: Sample, prompt: EncodedPrompt, tokenizer: Any, titles: bool) -> str | None:
    """Fill a sample from a draw; returns the reason where the draw is invalid."""
    drawn = draw.tokens[len(prompt.tokens) :]
    sample.tokens += len(drawn) + (not draw.cut)
    sample.unknown += int(np.count_nonzero(drawn == unknown_id(tokenizer)))
    try:
        sections, empty = parse_draw(decode(draw.tokens, prompt, tokenizer), titles)
    except InvalidDraw as error:
        return str(error)
    sample.sections = [(section.title, section.text) for section in sections]
    sample.empty_sections, sample.cut = empty, draw.cut
    return None


def _document(sample: Sample, system: str) -> Document:
    sections = tuple(Section(title, text) for title, text in sample.sections)
    return Document(f"{system}-{sample.index:07d}", "test", None, sections)


def sample_number(name: str) -> int:
    """Number of a sample, from its id."""
    return int(name.rpartition("-")[2])


def _require_samples(done: dict[int, Sample], system: str, options: LanguageModelSystem) -> None:
    given_up = sum(not sample.sections for sample in done.values())
    if given_up > len(done) / 2:
        raise MacroscopeError(
            f"system {system}: {given_up} of {len(done)} samples had {ATTEMPTS} invalid draws in a row; the model does"
            f" not produce the format {'W/' if options.titles else 'W/O'} Title; train it longer"
        )


def _hopeless(sampler: Sampler, what: str) -> str:
    return (
        f"{what} of the language model is a document of its format; train it longer (training.epochs), raise max_tokens"
        f" above {sampler.max_tokens}, or set titles: false where it was not trained on titles"
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
    counts = [Count(reason, len(valid), invalid[reason], "draws") for reason in reasons(options.titles)]
    counts += [
        Count(f"{ATTEMPTS} invalid draws in a row", len(valid), len(samples) - len(valid), "samples"),
        Count("section without text", sections, sum(sample.empty_sections for sample in valid), "sections"),
        Count(f"end of a sample beyond {options.max_tokens} tokens", len(valid) - cut, cut, "ends of samples"),
    ]
    if has_unknown:
        unknown, tokens = sum(sample.unknown for sample in samples), sum(sample.tokens for sample in samples)
        counts.append(Count("word that the vocabulary lacks, drawn as <unk>", tokens - unknown, unknown, "tokens"))
    if options.prompt_words:
        short = sum(prompts[sample.index % len(prompts)].short for sample in samples)
        counts.append(
            Count(f"prompt shorter than {options.prompt_words} words", len(samples) - short, short, "whole prompts")
        )
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
        "prompt_documents": len(prompts) if options.prompt_words else None,
    }
    return Provenance("", source, options.model_dump(mode="json"), counts)


def _fingerprint(
    model: Path, options: LanguageModelSystem, seed: int, shard: int, shards: int, prompts: Sequence[Prompt]
) -> str:
    digest = hashlib.sha256(json.dumps([prompt.text for prompt in prompts]).encode())
    for path in sorted(model.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    known = {"options": options.model_dump(mode="json"), "seed": seed, "shard": shard, "shards": shards}
    return json.dumps(known | {"model": digest.hexdigest()}, sort_keys=True)


def gather(shards_of_samples: Sequence[Path], output: Path, corpus: str) -> None:
    """Merge shards in the order of the samples' numbers; counts, tokens and numbers of cut samples are put together."""
    provenance = merge_provenance([read_provenance(path) for path in shards_of_samples], corpus)
    write_documents(output, _merged(shards_of_samples), provenance)


def merge_provenance(parts: Sequence[Provenance], corpus: str) -> Provenance:
    """Add up the counts of each filter, which all shards have, and the tokens; list the samples that were cut."""
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


def _merged(shards: Sequence[Path]) -> Iterator[Document]:
    yield from heapq.merge(*(read_documents(path) for path in shards), key=lambda document: document.id)
