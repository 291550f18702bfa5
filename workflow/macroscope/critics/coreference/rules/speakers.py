"""Who speaks: "I" in a quotation is whoever said it, "you" whoever spoke before."""

from collections.abc import Sequence

from macroscope.critics.coreference.rules.detection import GROUP, PRONOUN, Detector, Found
from macroscope.critics.coreference.rules.lexicon import ME, SPEECH, YOU

NEAR = 4
"""Words between a quotation and who said it, at most."""
TURN = 4
"""Sentences between two turns of one conversation, at most."""


def speakers_joined(mentions: Sequence[Found], numbers: Sequence[int], detector: Detector) -> list[int]:
    """Put "I" and "you" in quotations to the speakers, where the text names these beside the quotation.

    Parameters
    ----------
    mentions, numbers
        All mentions of the text in order, and the entity of each.

    Returns
    -------
    list of int
        Entity of each mention.
    """
    speakers = _speakers(mentions, numbers, detector)
    if not speakers:
        return list(numbers)
    addressed = _addressed(speakers)
    found = []
    for mention, number in zip(mentions, numbers, strict=True):
        if mention.kind == PRONOUN and mention.quote:
            if mention.gender == ME and mention.quote in speakers:
                number = speakers[mention.quote][0]
            elif mention.gender == YOU and mention.quote in addressed:
                number = addressed[mention.quote]
        found.append(number)
    return found


def _speakers(mentions: Sequence[Found], numbers: Sequence[int], detector: Detector) -> dict[int, tuple[int, int]]:
    """Quotation -> (entity that says it, its sentence): the mention beside it that has a verb of speech beside it."""
    found: dict[int, tuple[int, int]] = {}
    quotes, flags = detector.quotes, detector.flags
    end = len(quotes)
    for mention, number in zip(mentions, numbers, strict=True):
        if mention.quote or mention.kind == GROUP or mention.gender in (ME, YOU):
            continue
        verb_before = mention.first > 0 and flags[mention.first - 1] & SPEECH
        verb_after = mention.last < end and flags[mention.last] & SPEECH
        if not (verb_before or verb_after):
            continue
        before = range(mention.first - 1, max(-1, mention.first - 1 - NEAR), -1)
        after = range(mention.last, min(end, mention.last + NEAR))
        behind = next((quotes[at] for at in before if quotes[at]), 0)
        # What follows in another sentence is said by somebody else, or it does not matter.
        ahead = next((quotes[at] for at in after if quotes[at] and detector.sentences[at] == mention.sentence), 0)
        for quote in (behind, ahead):
            if quote:
                found.setdefault(quote, (number, mention.sentence))
    return found


def _addressed(speakers: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Quotation -> who is spoken to: whoever spoke before, where that was somebody else and not long ago."""
    found = {}
    before: tuple[int, int] | None = None
    for quote, (speaker, sentence) in sorted(speakers.items()):
        if before is not None and before[0] != speaker and sentence - before[1] <= TURN:
            found[quote] = before[0]
        before = (speaker, sentence)
    return found
