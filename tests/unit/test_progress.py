"""Progress in the log: a line at the end, and none of what runs inside."""

import pytest

from macroscope.progress import PacedLog, Progress, progress, without_progress


@pytest.fixture
def speaks_at_once(monkeypatch):
    monkeypatch.setattr("macroscope.progress.SILENT_SECONDS", 0)


def said(caplog):
    """Return the different lines, without their times."""
    return list(dict.fromkeys(message.partition(",")[0] for message in caplog.messages))


@pytest.mark.usefixtures("speaks_at_once")
def test_the_outer_progress_speaks_for_all(caplog):
    caplog.set_level("INFO", "macroscope")
    with Progress("judge", 2, "texts") as bar:
        for _ in range(2):
            assert list(progress([1, 2, 3], "embed")) == [1, 2, 3]
            bar.advance(1)
    assert said(caplog) == ["judge: 1 of 2 texts", "judge: 2 of 2 texts"]
    caplog.clear()
    assert list(progress([1], "embed")) == [1]
    assert said(caplog) == ["embed: 1 of 1 it"]


@pytest.mark.usefixtures("speaks_at_once")
def test_an_error_inside_silences_nothing_after_it(caplog):
    caplog.set_level("INFO", "macroscope")
    try:
        with Progress("judge", 2, "texts"):
            raise ValueError
    except ValueError:
        caplog.clear()
    assert list(progress([1], "embed")) == [1]
    assert said(caplog) == ["embed: 1 of 1 it"]


def test_short_work_is_silent_and_long_work_speaks_early(caplog, monkeypatch):
    caplog.set_level("INFO", "macroscope")
    clock = [0.0]
    monkeypatch.setattr("macroscope.progress.time.monotonic", lambda: clock[0])
    for seconds in (2.9, 3.1):
        with Progress("look", unit="texts") as bar:
            clock[0] += seconds
            bar.advance(1)
            said = len(caplog.messages)
        assert (said, len(caplog.messages)) == ((1, 2) if seconds > 3 else (0, 0))


@pytest.mark.usefixtures("speaks_at_once")
def test_progress_can_be_switched_off(caplog):
    caplog.set_level("INFO", "macroscope")
    with without_progress():
        assert list(progress([1], "embed")) == [1]
    assert not caplog.messages


@pytest.mark.usefixtures("speaks_at_once")
@pytest.mark.parametrize(("unit", "single"), [("texts", "text"), ("batches", "batch"), ("pages", "page")])
def test_one_of_a_unit_is_in_the_singular(unit, single, caplog):
    caplog.set_level("INFO", "macroscope")
    list(progress(["a"], "read", unit=unit))
    assert said(caplog) == [f"read: 1 of 1 {single}"]


@pytest.mark.usefixtures("speaks_at_once")
def test_a_loop_has_a_line_every_so_often_and_all_in_log_files(caplog):
    caplog.set_level("DEBUG", "macroscope")
    paced = PacedLog()
    for number in range(3):
        paced.line("iteration %d", number)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "iteration 0"),
        ("DEBUG", "iteration 1"),
        ("DEBUG", "iteration 2"),
    ]
