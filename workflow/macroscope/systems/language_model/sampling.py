"""Sampling from a language model, shard by shard; finished samples are kept at once, and shards are merged."""

import hashlib
import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from macroscope.documents import Count, Provenance, read_documents, read_provenance, write_documents
from macroscope.natural_language.words import cut_after_words
from macroscope.systems.language_model.beam_sampler import BeamSampler
from macroscope.systems.language_model.model import context_window, load_model
from macroscope.systems.language_model.options import BeamSampling, LanguageModelSystem
from macroscope.systems.language_model.sampler import GeneratedTokens, Request, Sampler, TokenSampler
from macroscope.systems.prompts import (
    EncodedPrompt,
    Prompt,
    count_short_prompts,
    decode,
    read_encoded_prompts,
    require_room,
)
from macroscope.systems.rejection_sampling import (
    Attempt,
    Queue,
    Sample,
    SampleCount,
    SamplingTask,
    resumed_samples,
    write_samples,
)
from macroscope.systems.tokenizer import boundary_id, end_ids, unknown_id
from macroscope.training import use_threads


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
    """
    use_threads(threads)
    seed += options.seed
    network, tokenizer = load_model(model)
    beginnings = read_encoded_prompts(prompts, options, tokenizer)
    require_room(beginnings, options.max_tokens)
    context = context_window(network.config, options.context)
    sampler = make_sampler(network, boundary_id(tokenizer), context, options, seed, system, end_ids(tokenizer))
    tokens = f"{options.max_tokens} tokens"
    task = SamplingTask(
        system,
        range(shard, options.samples, shards),
        options.titles,
        f"{options.max_words} words or {tokens}" if options.max_words else tokens,
        f"train it longer (training.epochs), raise max_tokens above {options.max_tokens}, or set titles: false if it"
        " was not trained on titles",
        counts=_list_counts(options, sampler, tokenizer, beginnings),
    )
    provenance = Provenance("", _source(options, system, seed, sampler, beginnings), options.model_dump(mode="json"))
    inputs = {
        "weights": [_digest(path) for path in sorted(model.glob("*.safetensors"))],
        "prompts": [prompt.text for prompt in beginnings],
        "options": provenance.options,
        "samples": [system, seed, shard, shards],
    }
    generate = partial(_generate, sampler, tokenizer, options, beginnings)
    with resumed_samples(output, inputs, Sample[bool], generate, task) as samples:
        write_samples(output, _note_lengths(samples, provenance.source), task, provenance)


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
    documents = heapq.merge(*map(read_documents, shards_of_samples), key=lambda document: document.id)
    write_documents(output, documents, provenance)


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


def _generate(
    sampler: Sampler, tokenizer: Any, options: LanguageModelSystem, prompts: Sequence[EncodedPrompt], queue: Queue
) -> Iterator[Attempt[bool]]:
    """Generate the samples of a queue; the data of an attempt is whether a control token ended it."""
    requests: deque[Request] = deque()

    def request_queued() -> None:
        while queue:
            index, attempt = queue.popleft()
            requests.append(Request(index, attempt, prompts[index % len(prompts)].tokens))

    request_queued()
    for generated in sampler.run(requests):
        yield _decode(generated, prompts[generated.request.index % len(prompts)], tokenizer, options)
        request_queued()


def _decode(
    generated: GeneratedTokens, prompt: EncodedPrompt, tokenizer: Any, options: LanguageModelSystem
) -> Attempt[bool]:
    """Decode generated tokens; the number of tokens includes the boundary, and not the prompt."""
    continuation = generated.tokens[len(prompt.tokens) :]
    unknown = int(np.count_nonzero(continuation == unknown_id(tokenizer)))
    totals = {"tokens": len(continuation) + (not generated.cut), "unknown": unknown}
    whole = decode(generated.tokens, prompt, tokenizer)
    text = whole if options.max_words is None else cut_after_words(whole, options.max_words)
    cut = generated.cut or len(text) < len(whole.rstrip())
    is_control = not cut and generated.end != boundary_id(tokenizer)
    return Attempt(generated.request.index, text, cut, totals=totals, data=is_control)


def _list_counts(
    options: LanguageModelSystem, sampler: Sampler, tokenizer: Any, prompts: Sequence[Prompt]
) -> list[SampleCount]:
    control = SampleCount("control token in place of an end", "ends of samples", lambda s: bool(s.data))
    unknown = SampleCount(
        "word outside the vocabulary, generated as <unk>",
        "tokens",
        lambda s: s.totals["unknown"],
        lambda s: s.totals["tokens"],
    )
    return [
        *([control] if len(sampler.ends) > 1 else []),
        *([unknown] if unknown_id(tokenizer) is not None else []),
        *count_short_prompts(prompts, options.prompt_length()),
    ]


def _source(
    options: LanguageModelSystem, system: str, seed: int, sampler: Sampler, prompts: Sequence[Prompt]
) -> dict[str, Any]:
    return {
        "system": system,
        "base": options.base,
        "titles": options.titles,
        "decoding": options.decoding.model_dump(mode="json"),
        "seed": seed,
        "context": sampler.context,
        "stride": sampler.stride,
        "batch_size": options.batch_size,
        "tokens": 0,
        "cut_samples": [],
        "prompt_words": options.prompt_words,
        "prompt_tokens": options.prompt_tokens,
        "prompt_documents": len(prompts) if options.has_prompts() else None,
    }


def _note_lengths(samples: Iterable[Sample[bool]], source: dict[str, Any]) -> Iterator[Sample[bool]]:
    """Yield the samples; add their tokens and the numbers of those that were cut to the source."""
    for sample in samples:
        source["tokens"] += sample.totals["tokens"]
        source["cut_samples"] += [sample.index] if sample.cut else []
        yield sample


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
