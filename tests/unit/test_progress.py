"""Progress in the log: a line at the end, and none of what runs inside."""

from macroscope.progress import Progress, progress


def test_the_outer_progress_speaks_for_all(caplog):
    caplog.set_level("INFO", "macroscope")
    with Progress("judge", 2, "texts") as bar:
        for _ in range(2):
            assert list(progress([1, 2, 3], "embed")) == [1, 2, 3]
            bar.advance(1)
    assert [message.partition(",")[0] for message in caplog.messages] == ["judge: 2 of 2 texts"]
    caplog.clear()
    assert list(progress([1], "embed")) == [1]
    assert [message.partition(",")[0] for message in caplog.messages] == ["embed: 1 of 1 it"]


def test_an_error_inside_silences_nothing_after_it(caplog):
    caplog.set_level("INFO", "macroscope")
    try:
        with Progress("judge", 2, "texts"):
            raise ValueError
    except ValueError:
        caplog.clear()
    assert list(progress([1], "embed")) == [1]
    assert len(caplog.messages) == 1
