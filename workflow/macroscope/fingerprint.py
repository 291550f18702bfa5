"""A fingerprint of the code that a stage runs: an edited formula re-runs its stage, an edited comment does not.

The hash covers the syntax trees of the stage's modules and of all modules that they import from their own packages and
from this one. It leaves out all that changes no number: comments, docstrings, annotations, log lines, messages, bars of
progress, and paths, since a checkout may be moved. Another version of Python may give other fingerprints.
"""

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from macroscope.digest_cache import DigestCache
from macroscope.errors import MacroscopeError

OWN = "macroscope"

EXEMPT = (
    # Messages for people while a stage runs.
    "macroscope.errors",
    "macroscope.extras",
    "macroscope.progress",
    # How files are written and read: their content comes from the caller, or is an input.
    "macroscope.files",
    "macroscope.strict_yaml",
    # Discovery and calls of stages: their arguments are inputs and parameters of rules.
    "macroscope.cli",
    "macroscope.printing",
    "macroscope.containment",
    "macroscope.registry",
    "macroscope.stages",
    "macroscope.jobs",
)
"""Modules that compute nothing, with their submodules."""

WORDING = ("macroscope.errors", "macroscope.progress")
"""Modules whose functions take strings as messages. Strings given to `files` are content, and count."""


@dataclass(frozen=True)
class _Module:
    """A module's contribution: the digest of its normalised text, and its imports as (module, names from it)."""

    digest: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]


def fingerprint(modules: Iterable[str], resources: Iterable[Path | str] = ()) -> str:
    """Hash the code and the data files that modules compute with.

    Parameters
    ----------
    modules
        Dotted names ("macroscope.critics.coherence.projection"); what they import counts too, imports in function
        bodies included. A package's own `__init__` counts only where a name is imported from it.
    resources
        Data files that they read; their content counts, their paths do not.

    Returns
    -------
    str
        16 hexadecimal digits.

    Raises
    ------
    MacroscopeError
        If a module or a file is missing, or a module cannot be parsed.
    """
    return _fingerprint(tuple(sorted(set(modules))), tuple(sorted({str(path) for path in resources})))


@cache
def closure(modules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the dotted names of `modules` and of all that they import from their own packages and from this one."""
    roots = frozenset({OWN, *(_root(name) for name in modules)})
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(_imported(name, roots))
    _parsed().save()
    return tuple(sorted(seen))


@cache
def packages(modules: tuple[str, ...]) -> frozenset[str]:
    """Return the top-level packages that modules and their closure import, for types, too."""
    return frozenset(_root(imported) for name in closure(modules) for imported, _ in _module(name).imports)


@cache
def _fingerprint(modules: tuple[str, ...], resources: tuple[str, ...]) -> str:
    parts = [f"{name} {_module(name).digest}" for name in closure(modules)]
    parts += sorted(f"{Path(path).name} {_content(path)}" for path in resources)
    return _digest("\n".join(parts).encode())[:16]


@cache
def _module(name: str) -> _Module:
    path = _path(name)
    if path is None:
        raise MacroscopeError(f"there is no module '{name}' to take the fingerprint of; is its package installed?")
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    content = path.read_bytes()
    digest, imports = _parsed().get([package.encode(), content], lambda: _parse(path, content, package))
    return _Module(digest, tuple((module, tuple(names)) for module, names in imports))


@cache
def _parsed() -> DigestCache:
    rules = repr((Path(__file__).read_text(encoding="utf-8"), sys.version_info, EXEMPT, WORDING))
    return DigestCache("parsed_modules.json", rules.encode())


def _parse(path: Path, content: bytes, package: str) -> tuple[str, list[tuple[str, tuple[str, ...]]]]:
    """Return the fields of a `_Module`."""
    try:
        tree = ast.parse(content, filename=str(path))
    except SyntaxError as error:
        raise MacroscopeError(f"{path}, line {error.lineno}: {error.msg}; repair it before anything runs") from None
    strip = _Strip(package, tree)
    strip.visit(tree)
    nodes = list(ast.walk(tree))
    unused = strip.dropped - {node.id for node in nodes if isinstance(node, ast.Name)}
    # Names in annotations of fields are followed: an option's default may be a model of another module. Names only in
    # annotations of functions are not, so no module may re-export them (a test checks this for our modules).
    followed = _imports(nodes, package, unused - strip.of_fields)
    _DropImports(unused).visit(tree)
    return _digest(ast.unparse(tree).encode()), sorted(followed)


def _imported(name: str, roots: frozenset[str]) -> Iterator[str]:
    """Yield the modules that a module imports from the top-level packages `roots`, without the exempt ones."""
    for module, names in _module(name).imports:
        if _root(module) not in roots:
            continue
        inside = [f"{module}.{name}" for name in names if _path(f"{module}.{name}")]
        candidates = inside if names and len(inside) == len(names) else [*inside, module]
        yield from (name for name in candidates if _path(name) and not _within(name, EXEMPT))


@cache
def _content(path: str) -> str:
    try:
        return _digest(Path(path).read_bytes())
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file, and a stage is to be tracked by its content") from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---- modules on disk -------------------------------------------------------------------------------------------------


def _root(name: str) -> str:
    return name.partition(".")[0]


def _within(name: str, modules: Iterable[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


@cache
def _path(name: str) -> Path | None:
    """Return the file of a module without importing it; None if there is no such module or it has no source."""
    places, file = _places(_root(name))
    inside = name.split(".")[1:]
    if not inside:
        return file
    for place in places:
        base = place.joinpath(*inside)
        for path in (base.parent / f"{base.name}.py", base / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _places(root: str) -> tuple[tuple[Path, ...], Path | None]:
    """Return the folders of a top-level package, and its file."""
    try:
        spec = find_spec(root)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return (), None
    file = Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    return tuple(Path(place) for place in spec.submodule_search_locations or ()), file


# ---- normalisation of a module's code --------------------------------------------------------------------------------


class _Strip(ast.NodeTransformer):
    """Transformer that removes from a syntax tree, in place, everything that changes no result.

    Attributes
    ----------
    dropped, of_fields
        Names in the removed code; those among them that stand in annotations of classes' fields.
    """

    def __init__(self, package: str, tree: ast.Module) -> None:
        self.package = package
        self.dropped: set[str] = set()
        self.of_fields: set[str] = set()
        nodes = list(ast.walk(tree))
        self.loggers = {name for node in nodes for name in _loggers(node)}
        self.wording = {name for node in nodes for name in _bound(node, package, WORDING)}

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[union-attr]
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        node.names = [alias for alias in node.names if not _within(alias.name, EXEMPT)]
        return node if node.names else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        module = _absolute(node, self.package)
        if _within(module, EXEMPT):
            return None
        node.names = [alias for alias in node.names if not _within(f"{module}.{alias.name}", EXEMPT)]
        return node if node.names else None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._drop(node.returns)
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        self._drop(node.annotation)
        node.annotation = None
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        for field in node.body:
            if isinstance(field, ast.AnnAssign):
                self.of_fields |= _names(field.annotation)
                self._drop(field.annotation)
                field.annotation = _FIELD
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.annotation is not _FIELD:
            self._drop(node.annotation)
            if node.value is None:
                return None
            assignment = ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)
            return self.visit(assignment)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if _loggers(node):
            self._drop(node)
            return None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if _last(node.test) != "TYPE_CHECKING":
            return self.generic_visit(node)
        self._drop(node.test)
        instead = ast.Module(body=node.orelse, type_ignores=[])
        self.generic_visit(instead)
        return instead.body

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None  # a docstring
        if self._is_log_line(node.value):
            self._drop(node)
            return None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _leftmost(node.func) in self.wording:
            texts = [word for word in node.args if _is_text(word)]
            named = [word for word in node.keywords if _is_text(word.value)]
            for dropped in (*texts, *named):
                self._drop(dropped)
            node.args = [word for word in node.args if word not in texts]
            node.keywords = [word for word in node.keywords if word not in named]
        return self.generic_visit(node)

    def _is_log_line(self, node: ast.expr) -> bool:
        function = node.func if isinstance(node, ast.Call) else None
        return isinstance(function, ast.Attribute) and _leftmost(function) in self.loggers

    def _drop(self, node: ast.AST | None) -> None:
        if node is not None:
            self.dropped |= _names(node)


class _DropImports(ast.NodeTransformer):
    """Transformer that removes the imports of `names` from a syntax tree, in place."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, ast.expr) else super().visit(node)  # an expression holds no imports

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        return self._without(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return self._without(node)

    def _without(self, node: ast.Import | ast.ImportFrom) -> ast.AST | None:
        node.names = [alias for alias in node.names if _binds(alias) not in self.names]
        return node if node.names else None


_FIELD = ast.Constant(value=None)
"""Replacement of every annotation of a class's field: the field stays, since its name and default count."""


def _imports(nodes: Iterable[ast.AST], package: str, without: set[str]) -> set[tuple[str, tuple[str, ...]]]:
    """Return the imports as (module, names from it), without the names `without`."""
    imports: set[tuple[str, tuple[str, ...]]] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            imports.update((alias.name, ()) for alias in node.names if _binds(alias) not in without)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names if _binds(alias) not in without)
            imports.update([(_absolute(node, package), names)] if names else [])
    return imports


def _binds(alias: ast.alias) -> str:
    """Return the name that an import binds."""
    return alias.asname or _root(alias.name)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the dotted name of the module of a `from` import."""
    if not node.level:
        return node.module or ""
    parents = package.split(".")
    return ".".join([*parents[: len(parents) - node.level + 1], *([node.module] if node.module else [])])


def _bound(node: ast.AST, package: str, modules: Iterable[str]) -> Iterator[str]:
    """Yield the names that an import binds to one of `modules` or to a member of one."""
    if isinstance(node, ast.ImportFrom):
        module = _absolute(node, package)
        for alias in node.names:
            if _within(module, modules) or _within(f"{module}.{alias.name}", modules):
                yield alias.asname or alias.name


def _loggers(node: ast.AST) -> list[str]:
    """Return the names that a statement binds to a logger."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
        return []
    if _last(node.value.func) != "getLogger":
        return []
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _names(node: ast.AST) -> set[str]:
    return {inside.id for inside in ast.walk(node) if isinstance(inside, ast.Name)}


def _leftmost(node: ast.expr) -> str | None:
    """Return the name that a dotted expression begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _last(node: ast.expr) -> str | None:
    """Return the name that a dotted expression ends with."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _is_text(node: ast.expr) -> bool:
    """Return whether an expression is text by its form: a string, an f-string, or a combination of these."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Mod) and (_is_text(node.left) or _is_text(node.right))
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) and _is_text(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
