"""Prompts as tokens of a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.systems.prompts import Prompt


@dataclass(frozen=True)
class EncodedPrompt(Prompt):
    """The beginning of a sample, as text and as the tokens that the model is given."""

    tokens: tuple[int, ...] = ()


def encode_prompts(prompts: Sequence[Prompt], tokenizer: Any) -> list[EncodedPrompt]:
    """Encode prompts; an empty prompt has no tokens."""
    encoded = tokenizer([prompt.text for prompt in prompts], add_special_tokens=False, verbose=False)["input_ids"]
    return [
        EncodedPrompt(prompt.text, prompt.document, prompt.short, tuple(tokens) if prompt.text else ())
        for prompt, tokens in zip(prompts, encoded, strict=True)
    ]


def require_room(prompts: list[EncodedPrompt], max_tokens: int) -> None:
    """Raise `MacroscopeError` if a prompt is as long as the longest sample, so that no token is left to generate."""
    longest = max(prompts, key=lambda prompt: len(prompt.tokens))
    if len(longest.tokens) >= max_tokens:
        raise MacroscopeError(
            f"prompt_words: the prompt from document {longest.document!r} has {len(longest.tokens)} tokens, and a"
            f" sample at most {max_tokens}; raise max_tokens, or lower prompt_words"
        )


def decode(tokens: Any, prompt: EncodedPrompt, tokenizer: Any) -> str:
    """Decode generated tokens; the prompt's text is kept exactly, even if decoding would change it."""
    text = tokenizer.decode(tokens)
    return prompt.text + text[len(tokenizer.decode(list(prompt.tokens))) :] if prompt.tokens else text
