"""Tasks in several processes of one job."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context

Task = Callable[[], None]

_tasks: Sequence[Task] = ()


def run_tasks(tasks: Sequence[Task], processes: int) -> None:
    """Run tasks that write files, at most so many at the same time; the first one that fails ends it.

    The processes are copies of this one, so that tasks may hold anything; where a system cannot copy processes, the
    tasks run one after the other.
    """
    if min(processes, len(tasks)) < 2 or "fork" not in get_all_start_methods():
        for task in tasks:
            task()
        return
    global _tasks
    _tasks = tasks
    with ProcessPoolExecutor(min(processes, len(tasks)), mp_context=get_context("fork")) as pool:
        for _ in pool.map(_run, range(len(tasks))):
            pass


def _run(number: int) -> None:
    _tasks[number]()
