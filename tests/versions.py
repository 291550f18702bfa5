"""Versions of stages against the code that they run: `python tests/versions.py` after raising the version of a stage.

The list of versions has a line for each stage: its name, its versions (with those of the stages upstream), and a digest
of the code and of the resources that it computes with. Comments, docstrings, annotations and messages do not count.
"""

import argparse
import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from macroscope.corpora import sources
from macroscope.files import CAPTIONS, PACKAGE, REPOSITORY, RESOURCES
from macroscope.jobs import Job
from macroscope.plan import Plan, load_plan
from macroscope.stages import describe_versions, module_of
from macroscope.strict_yaml import read_yaml
from tests.calibration.promises import all_cases, module_of_case

LISTED = REPOSITORY / "tests" / "contract" / "versions.txt"
Line = tuple[str, str]
"""Versions of a stage, and the digest of what it computes with."""
ROOTS = {"macroscope": PACKAGE, "tests": REPOSITORY / "tests"}
EXEMPT = {
    # Messages, bars of progress, how files are written, and what calls stages.
    *("cli", "errors", "extras", "files", "jobs", "printing", "progress", "registry", "stages"),
    "strict_yaml",
}
"""Modules of the package, with their submodules, that compute nothing."""


def read_list(text: str) -> dict[str, Line]:
    """Read the lines of a list of versions: stage -> versions and digest."""
    return {name: (versions, digest) for name, versions, digest in map(str.split, text.splitlines())}


def render_list(lines: dict[str, Line]) -> str:
    """Return a list of versions, sorted."""
    return "".join(f"{name} {versions} {digest}\n" for name, (versions, digest) in sorted(lines.items()))


def list_changed(listed: dict[str, Line], present: dict[str, Line]) -> list[str]:
    """List the stages whose code has changed since the list was written and whose versions have not."""
    return [
        name
        for name, (versions, digest) in sorted(present.items())
        if name in listed and listed[name][0] == versions and listed[name][1] != digest
    ]


@cache
def present_lines() -> dict[str, Line]:
    """Return the line of each stage as it is now."""
    return {name: (versions, digest(modules)) for name, versions, modules in _stages()}


def digest(modules: Iterable[str]) -> str:
    """Hash the code and the resources that modules, and all that they import from here, compute with."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += _parsed(name)[1]
    parts = sorted(f"{name} {_parsed(name)[0]}" for name in seen)
    return sha256("\n".join(parts).encode()).hexdigest()[:12]


def _stages() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the name, the versions and the modules of everything that has a version."""
    plan = load_plan(read_yaml(REPOSITORY / "config.yaml"))
    where = SimpleNamespace(corpus="wiki", system="lm-titles")
    for job in plan.jobs():
        if not callable(job.version):  # that of a source, below
            yield job.name, _versions(plan, job), job.modules_of(where)
    for name, source in sources().items():
        if source.data.read:
            yield f"extract_{name}", str(source.data.version), [module_of(source.data.read, source.package)]
        for kind, simulation in source.data.simulations.items():
            code = [module_of(place, source.package) for place in (simulation.write, simulation.generate)]
            yield f"simulate_{kind}", str(simulation.version), code
    for case in all_cases():
        name = case.declared.removeprefix("macroscope.").replace(":", ".")
        yield f"calibration_{name}", str(case.version), [module_of_case(case)]


def _versions(plan: Plan, job: Job) -> str:
    """Return the versions of a job of the plan, with those upstream if it is a critic's."""
    for critic in plan.critics.plugins.values():
        for stage, declared in critic.data.all_stages.items():
            if declared == job.stage and f"--critic {critic.name} --stage {stage}" in job.command:
                return describe_versions(critic.data.versions_of(stage)).removeprefix("versions:")
    return str(job.stage.version)


@cache
def _parsed(name: str) -> tuple[str, list[str]]:
    """Return the digest of a module and of the resources that it names, and the modules that it imports."""
    path = _path(name)
    assert path is not None, name
    tree = _Computing().visit(ast.parse(path.read_text(encoding="utf-8")))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    nodes = list(ast.walk(tree))
    imported = sorted({module for node in nodes for module in _imported(node, package)})
    words = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    data = b"".join(file.read_bytes() for word in sorted(words) for file in _resources(word))
    return sha256(ast.dump(tree).encode() + data).hexdigest(), [name for name in imported if not _is_exempt(name)]


def _imported(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the modules of this repository that an import reads."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _path(alias.name))
    elif isinstance(node, ast.ImportFrom):
        parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        module = ".".join([*parents, *([node.module] if node.module else [])])
        for alias in node.names:
            yield from (place for place in (f"{module}.{alias.name}",) if _path(place))
        if _path(module):
            yield module


def _path(name: str) -> Path | None:
    """Return the file of a module of this repository; None for all others."""
    root, *inner = name.split(".")
    if root not in ROOTS or not inner:
        return None
    place = ROOTS[root].joinpath(*inner)
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _is_exempt(name: str) -> bool:
    root, inner, *_ = name.split(".")
    return root == "macroscope" and inner in EXEMPT


def _resources(word: str) -> list[Path]:
    """Return the files of the project's resources and captions that a string names."""
    if not word or word.startswith((".", "/")) or len(word) > 60:
        return []
    places = [folder / word for folder in (RESOURCES, CAPTIONS)]
    return [
        file
        for place in places
        for file in (sorted(p for p in place.rglob("*") if p.is_file()) if place.is_dir() else [place])
        if file.is_file()
    ]


class _Computing(ast.NodeTransformer):
    """Transformer that leaves the nodes of a syntax tree that compute something."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise()

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


def main() -> None:
    """Write the list of versions, unless code has changed under a version that has not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numbers-unchanged", nargs="*", default=[], metavar="STAGE", help="stages of equal results")
    parser.add_argument("--all", action="store_true", help="with --numbers-unchanged: all stages; rewrites the list")
    arguments = parser.parse_args()
    present = present_lines()
    listed = {} if arguments.all else read_list(LISTED.read_text(encoding="utf-8"))
    if unknown := set(arguments.numbers_unchanged) - present.keys():
        sys.exit(f"--numbers-unchanged {' '.join(sorted(unknown))}: not in {LISTED}")
    if undecided := [name for name in list_changed(listed, present) if name not in arguments.numbers_unchanged]:
        sys.exit(describe(undecided))
    LISTED.write_text(render_list(present), encoding="utf-8")


def describe(names: list[str]) -> str:
    """Return a message about stages whose code has changed under a version that has not, and what to do."""
    return (
        f"The code of these stages has changed, and their versions have not: {' '.join(names)}\n"
        "For those that now give other numbers, raise `version` in their declaration, and run\n"
        "    python tests/versions.py\n"
        "For those that give the same numbers as before, run\n"
        "    python tests/versions.py --numbers-unchanged STAGE ...    (or --all)"
    )


if __name__ == "__main__":
    main()
