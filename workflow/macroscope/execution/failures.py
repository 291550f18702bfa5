"""Why jobs failed: what they said last, from their logs."""

from pathlib import Path

from macroscope.errors import FAILED, UNEXPECTED

_MOST = 3


def reasons_of_failure(logs: Path, since: float) -> list[str]:
    """Sentences of the jobs that failed, each once, with their logs; the first ones.

    Parameters
    ----------
    logs
        Folder of a run's logs.
    since
        Seconds since the epoch: older logs are those of earlier calls.
    """
    found: dict[str, Path] = {}
    recent = [path for path in logs.rglob("*.log") if path.stat().st_mtime >= since]
    for path in sorted(recent, key=lambda path: path.stat().st_mtime):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(FAILED):
                found.setdefault(line.removeprefix(FAILED), path)
            elif line.startswith(UNEXPECTED):
                found.setdefault("an error that is macroscope's, and not yours", path)
    return [f"{sentence} ({path})" for sentence, path in list(found.items())[:_MOST]]
