"""The filters of deng2022, Appendix E, that look at one document at a time, each with its count."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import batched, chain
from typing import Protocol

