"""Building and reading of kept references: the jobs of a user's real texts, without a candidate.

Which outputs are kept follows from the jobs of a comparison: what a job on a candidate reads of what jobs on the real
texts alone made. The real texts themselves stand in for the candidate in that plan, and are judged by nothing.
"""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from macroscope import __version__
from macroscope.criticize import run
from macroscope.criticize.choice import choose
from macroscope.criticize.inputs import CORPUS, GivenFields, make_reference
from macroscope.criticize.kept_profile import read_profile, strip_profile
from macroscope.criticize.learned_parts import LearnedPart, Settings, keep_parts
from macroscope.criticize.profile import choose_language
from macroscope.critics import GivenOptions, critics
from macroscope.documents import Document, Provenance
from macroscope.engine.kept_references import KeptReference, is_kept, read_kept, write_kept
from macroscope.engine.redaction import Passages, Rules
from macroscope.engine.run import run_plan
from macroscope.errors import MacroscopeError, UsageError
from macroscope.execution.limits import Device, device_for_jobs
from macroscope.natural_language.tokens import make_tokenizer
from macroscope.natural_language.words import lower_case_words
from macroscope.options import CONTROL
from macroscope.plan import Plan
from macroscope.readers.reading import KEPT_SUFFIX, read_user_documents

_STAND_IN = "candidate"
_PRIVATE = (
    "words, titles and labels of fewer than {fewest} texts are left out, and so are digests of texts, ids and prompts"
)
_NOT_PRIVATE = "it keeps an embedding or the words of each text, which are of this text alone (--private)"
_WITHOUT_WORDS = "it compares real texts word by word, and the kept reference is without their words (--with-words)"


def build_reference(
    files: Sequence[Path],
    output: Path,
    given: GivenFields,
    requested: Sequence[str],
    options: GivenOptions,
    *,
    language: str | None = None,
    seed: int = 1,
    cores: str = "all",
    device: Device = "auto",
    with_words: bool = False,
    about: Mapping[str, str] | None = None,
    parts: Sequence[LearnedPart[Any]] = (),
    private: int = 0,
) -> KeptReference:
    """Run the jobs of real texts, and write what they made to a file without the texts.

    Parameters
    ----------
    files
        Files of real texts.
    output
        Path of the kept reference, which ends with `KEPT_SUFFIX`.
    requested, options, language, seed, cores, device
        As for a comparison.
    with_words
        Whether critics that compare texts word by word keep them: then the file has the texts.
    about
        What users should know: licence, citation and the like.
    parts
        Parts of commands without a run.
    private
        Number of texts below which nothing is kept that they have in common; 0 for all.

    Raises
    ------
    MacroscopeError
        If the texts cannot be read, or are too few for any critic.
    """
    if output.suffix != KEPT_SUFFIX:
        raise UsageError(f"{output}: a kept reference is recognized by its name; give one that ends with {KEPT_SUFFIX}")
    if private and with_words:
        raise UsageError("--private and --with-words exclude each other; give one of them")
    if any(map(is_kept, files)):
        raise MacroscopeError(f"{next(filter(is_kept, files))}: a kept reference is without its texts; give the texts")
    profile, _ = run.profile_collections(files, [], given)
    chosen_language = choose_language(profile.languages, language)
    choice = choose(profile, [], requested, chosen_language, options)
    left_out = _leave_out(choice.critics, with_words, private)
    choice = replace(choice, critics=[name for name in choice.critics if name not in left_out])
    if not choice.critics:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise MacroscopeError(f"nothing is left to keep ({why}); give other critics")
    stand_in = replace(profile, name=_STAND_IN)
    config = run.implied_config(profile, [stand_in], choice, seed, chosen_language)
    rare_titles = config["corpora"][CORPUS]["filters"]["rare_titles"]
    rare_titles["min_count"] = max(rare_titles["min_count"], private)

    def outputs_of(plan: Plan) -> dict[str, Sequence[str]]:
        samples = plan.systems.samples(CORPUS, _STAND_IN)
        return run.outputs_of(plan, lambda task: samples in task.outputs)

    with TemporaryDirectory(prefix="macroscope-") as name:
        folder = Path(name).resolve()
        number = run.count_cores(cores)
        plan = run_plan(run.plan_of(config), folder, number, device, outputs_of, keeps_logs=False)
        missing = {entry.critic: entry.explanation for entry in plan.config.failed if entry.critic}
        texts = make_reference(files, [], given)
        real = [*read_user_documents(texts.files, Provenance(CORPUS), 0, 0, texts.selection)]
        made = [name for name in choice.critics if name not in missing]
        with device_for_jobs(device):
            settings = Settings(chosen_language, seed, options)
            of_commands, missing_parts = keep_parts(parts, real, settings, made, folder)
        rules = _make_private_rules(real, chosen_language, private) if private else Rules()
        description = {
            "macroscope": __version__,
            "critics": made,
            "left_out": left_out | missing | missing_parts,
            "language": chosen_language,
            "seed": seed,
            "about": dict(about or {}),
            "corpus": {name: value for name, value in config["corpora"][CORPUS].items() if name != "files"},
            "control": config["systems"].get(CONTROL),
            "profile": strip_profile(profile, private, rules.salt),
            **({"private": private} if private else {}),
        }
        passages = Passages(document.text for document in real)
        outputs = {**outputs_of(plan), **of_commands}
        write_kept(
            output, folder, outputs, description, passages, partial(_choose_rules, plan, made, rules, given.label)
        )
    return read_kept(output)


def _leave_out(names: Sequence[str], with_words: bool, private: int) -> dict[str, str]:
    """Return critic -> why a kept reference lacks it."""
    kept = {name: critics()[name].data.kept_words for name in names}
    if private:
        return {name: _NOT_PRIVATE for name, words in kept.items() if words is None or "text" in words}
    return {name: _WITHOUT_WORDS for name, words in kept.items() if "text" in (words or ()) and not with_words}


def _make_private_rules(real: Sequence[Document], language: str, fewest: int) -> Rules:
    """Return rules with a new salt, by which words and labels of fewer than `fewest` texts become pseudonyms."""
    batch = make_tokenizer(language)([document.text for document in real])
    width = max(1, len(batch.types))
    of_texts = np.unique(batch.texts * width + batch.ids) % width
    tokens = Counter(dict(zip(batch.types, np.bincount(of_texts, minlength=width).tolist(), strict=False)))
    words = Counter(word for document in real for word in {*lower_case_words(document.text), f"label:{document.label}"})
    shared = {word for counts in (tokens, words) for word, number in counts.items() if number >= fewest}
    return Rules(shared=frozenset(shared), salt=secrets.token_bytes(16))


def _choose_rules(plan: Plan, names: Sequence[str], rules: Rules, label: str | None, output: str) -> Rules:
    """Return the rules of the redaction of an output of a run."""
    for name in names:
        words = frozenset(critics()[name].data.kept_words or ())
        if "text" in words and output == plan.critics.place("latents", name, corpus=CORPUS, system=CONTROL):
            return replace(rules, keep=words | {"opening"})
        if f"/{name}/" in output:
            return replace(rules, words=words)
    return replace(rules, keep=frozenset(("label",) if label is not None else ()))


def describe_reference(kept: KeptReference) -> dict[str, str]:
    """Return what users should know of a kept reference: what it holds, for which texts, and what it reveals."""
    header, profile = kept.header, read_profile(kept.path)
    return {
        "texts": f"{profile.documents:,}; {median(profile.words):,.0f} words in the median text",
        "language": header["language"],
        "critics": ", ".join(header["critics"]),
        "commands": ", ".join(
            ["criticize", *(recipe[0] for path, recipe in kept.recipes.items() if path not in kept.of_jobs)]
        ),
        "left out": "; ".join(f"{name}: {why}" for name, why in header["left_out"].items()) or "none",
        "seed": str(header["seed"]),
        **({"private": _PRIVATE.format(fewest=private)} if (private := header.get("private")) else {}),
        "reveals": "; ".join(_list_revealed(header)),
        **header["about"],
        "macroscope": header["macroscope"],
        "digest": kept.digest,
    }


def _list_revealed(header: Mapping[str, Any]) -> list[str]:
    """Return what a kept reference shows of its texts, of all critics and of each."""
    plugins, label = critics(), header["corpus"].get("fields", {}).get("label")
    by_critic = [
        f"{name}: {plugins[name].data.reveals}"
        for name in header["critics"]
        if name in plugins and plugins[name].data.reveals
    ]
    digests = "" if header.get("private") else "; whether a text, an id or a prompt that you know is among them"
    return [f"lengths and languages{digests}", *([f"labels of the texts: {label}"] if label else []), *by_critic]
