"""Speakers of quotations: "I" refers to the speaker, "you" to the previous speaker."""

from collections.abc import Sequence

from macroscope.critics.coreference.rules.detection import GROUP, PRONOUN, DetectedMention, Detector
from macroscope.critics.coreference.rules.lexicon import ME, SPEECH, YOU

NEAR = 4
"""Largest number of words between a quotation and its speaker."""
TURN = 4
"""Largest number of sentences between two turns of a conversation."""


def assign_speakers(mentions: Sequence[DetectedMention], numbers: Sequence[int], detector: Detector) -> list[int]:
    """Assign "I" and "you" in quotations to the speakers, if the text names these beside the quotation.

    Parameters
    ----------
    mentions, numbers
        Mentions of the text in order, and the entity of each.

    Returns
    -------
    list of int
        Entity of each mention.
    """
    speakers = _find_speakers(mentions, numbers, detector)
    if not speakers:
        return list(numbers)
    addressed = _find_addressees(speakers)
    entities = []
    for mention, number in zip(mentions, numbers, strict=True):
        if mention.kind == PRONOUN and mention.quote:
            if mention.gender == ME and mention.quote in speakers:
                number = speakers[mention.quote][0]
            elif mention.gender == YOU and mention.quote in addressed:
                number = addressed[mention.quote]
        entities.append(number)
    return entities


def _find_speakers(
    mentions: Sequence[DetectedMention], numbers: Sequence[int], detector: Detector
) -> dict[int, tuple[int, int]]:
    """Map quotations to (speaker, sentence): the speaker is a mention near it with an adjacent verb of speech."""
    speakers: dict[int, tuple[int, int]] = {}
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
        # A quotation in the next sentence has another speaker.
        ahead = next((quotes[at] for at in after if quotes[at] and detector.sentences[at] == mention.sentence), 0)
        for quote in (behind, ahead):
            if quote:
                speakers.setdefault(quote, (number, mention.sentence))
    return speakers


def _find_addressees(speakers: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Map quotations to the addressee: the previous speaker, if different and at most `TURN` sentences before."""
    addressees = {}
    before: tuple[int, int] | None = None
    for quote, (speaker, sentence) in sorted(speakers.items()):
        if before is not None and before[0] != speaker and sentence - before[1] <= TURN:
            addressees[quote] = before[0]
        before = (speaker, sentence)
    return addressees
