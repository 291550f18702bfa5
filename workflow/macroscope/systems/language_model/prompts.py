"""Prompts as a language model sees them: tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.systems.prompts import Prompt


@dataclass(frozen=True)
class EncodedPrompt(Prompt):
    """What a sample begins with; `tokens` are the same as the model sees it."""

    tokens: tuple[int, ...] = ()


def encode_prompts(prompts: Sequence[Prompt], tokenizer: Any) -> list[EncodedPrompt]:
    """Prompts with their tokens; none has any where it is empty."""
    found = tokenizer([prompt.text for prompt in prompts], add_special_tokens=False, verbose=False)["input_ids"]
    return [
        EncodedPrompt(prompt.text, prompt.document, prompt.short, tuple(tokens) if prompt.text else ())
        for prompt, tokens in zip(prompts, found, strict=True)
    ]


def require_room(prompts: list[EncodedPrompt], max_tokens: int) -> None:
    """Raise `MacroscopeError` where a prompt leaves no token to draw."""
    longest = max(prompts, key=lambda prompt: len(prompt.tokens))
    if len(longest.tokens) >= max_tokens:
        raise MacroscopeError(
            f"prompt_words: the prompt from document {longest.document!r} has {len(longest.tokens)} tokens, and a"
            f" sample at most {max_tokens}; raise max_tokens, or lower prompt_words"
        )


def decode(tokens: Any, prompt: EncodedPrompt, tokenizer: Any) -> str:
    """Text of a draw; its prompt as it was, whatever the tokenizer makes of it."""
    text = tokenizer.decode(tokens)
    return prompt.text + text[len(tokenizer.decode(list(prompt.tokens))) :] if prompt.tokens else text
