"""The project's English, as far as patterns can hold it; `make lint` runs this file.

Checked are docstrings that begin with a word that begins no noun phrase, public functions without a docstring, names
that say nothing by themselves, and sentences of documentation that are too long.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = "workflow/macroscope"
CODE = (PACKAGE, "workflow/scripts", "tests", "examples")
PAGES = ("README.md", "CONTRIBUTING.md", "docs")
GENERATED = REPOSITORY / "docs" / "generated"
OPENINGS = re.compile(r"(What|Of|Whether|Those|That|Which|How|Where|Whoever)\b")
EMPTY_NAMES = frozenset({"found", "some", "known", "own", "one", "other", "side"})
MAX_WORDS = 25
_BLOCK = re.compile(r"```.*?```|^(?: {4}|\t|\||#|!\[).*$", re.DOTALL | re.MULTILINE)
"""Parts of a page that are not prose: code, tables, headings and pictures."""
_ITEM = re.compile(r"\n\s*(?:[-*]|\d+\.)\s+|\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])[\"”')*`]*\s+(?=[A-Z\"“`\[*(0-9])")


def problems_of_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, problem) of a module's docstrings and names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring and OPENINGS.match(docstring):
                line = node.body[0].lineno
                yield line, f"a docstring begins with '{docstring.split()[0]}'; begin with a verb or a noun"
        for name in _bound_names(node):
            if name in EMPTY_NAMES:
                yield node.lineno, f"a name is only '{name}'; say what it holds"  # type: ignore[attr-defined]


def undocumented(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, problem) of each public function or method of more than one statement that has no docstring."""
    nodes = list(ast.parse(text).body)
    for node in nodes:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            nodes += node.body
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if len(node.body) > 1 and ast.get_docstring(node) is None:
            yield node.lineno, f"'{node.name}' has more than one statement and no docstring; add one"


def _bound_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    return [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []


def problems_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, problem) of a Markdown page's sentences."""
    prose = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    start = 0
    for paragraph in _ITEM.split(prose):
        line = prose.count("\n", 0, prose.find(paragraph, start)) + 1
        start = prose.find(paragraph, start) + len(paragraph)
        for sentence in _SENTENCE_END.split(paragraph):
            words = len(re.sub(r"\]\([^)]*\)", "]", sentence).split())
            if words > MAX_WORDS:
                yield line, f"a sentence has {words} words, more than {MAX_WORDS}: '{' '.join(sentence.split()[:8])} …'"


def problems() -> Iterator[str]:
    """Yield every problem as "file:line: problem"."""
    for folder in CODE:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            missing = undocumented(text) if folder == PACKAGE else ()
            for line, problem in (*problems_of_code(text), *missing):
                yield f"{path.relative_to(REPOSITORY)}:{line}: {problem}"
    for name in PAGES:
        place = REPOSITORY / name
        for path in [place] if place.is_file() else sorted(place.rglob("*.md")):
            if GENERATED not in path.parents:
                for line, problem in problems_of_page(path.read_text(encoding="utf-8")):
                    yield f"{path.relative_to(REPOSITORY)}:{line}: {problem}"


if __name__ == "__main__":
    found_problems = list(problems())
    print("\n".join(found_problems))
    sys.exit(f"{len(found_problems)} problems" if found_problems else 0)
