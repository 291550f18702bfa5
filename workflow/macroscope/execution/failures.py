"""Reasons for failed jobs, from their logs."""

from pathlib import Path

from macroscope.errors import FAILED, UNEXPECTED

_MOST = 3


def reasons_of_failure(logs: Path, since: float) -> list[str]:
    """Return the errors of the jobs that failed, each once, with its log; at most the first three.

    Parameters
    ----------
    logs
        Folder of a run's logs.
    since
        Start of the call in seconds since the epoch; older logs are those of earlier calls.
    """
    logs_by_reason: dict[str, Path] = {}
    recent = [path for path in logs.rglob("*.log") if path.stat().st_mtime >= since]
    for path in sorted(recent, key=lambda path: path.stat().st_mtime):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(FAILED):
                logs_by_reason.setdefault(line.removeprefix(FAILED), path)
            elif line.startswith(UNEXPECTED):
                logs_by_reason.setdefault("a defect of macroscope, not of your input", path)
    return [f"{sentence} ({path})" for sentence, path in list(logs_by_reason.items())[:_MOST]]
