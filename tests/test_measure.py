"""fastest_seconds, peak_bytes: what the notebooks measure on the reader's machine."""

import re
import threading
import time
import tracemalloc

import numpy as np
import pytest

from attention_core.measure import fastest_seconds, peak_bytes


def test_the_fastest_run_counts():
    own = []

    def call():
        start = time.perf_counter()
        time.sleep(0.001 if len(own) == 1 else 0.1)
        own.append(time.perf_counter() - start)

    seconds = fastest_seconds(call, repeat=3)
    # Bounded by what the three runs measured of themselves.
    assert sorted(own)[0] <= seconds < sorted(own)[1]
    assert len(own) == 3


def test_twelve_runs_unless_told():
    calls = []
    fastest_seconds(lambda: calls.append(1))
    assert len(calls) == 12


@pytest.mark.parametrize(("call", "n_arrays"), [
    (lambda: np.ones(100_000), 1),                              # the result counts
    (lambda: np.ones(100_000).sum(), 1),                        # what is gone at the end, too
    (lambda: (np.ones(100_000) + np.ones(100_000)).sum(), 2),   # numpy adds into the first
    (lambda: [np.ones(100_000).sum() for _ in range(3)], 1),    # at once, not in all
    (lambda: None, 0),
])
def test_most_bytes_at_once(call, n_arrays):
    # 100,000 float64 are 800,000 bytes; beside them a few small Python objects.
    assert 0 <= peak_bytes(call) - n_arrays * 800_000 < 20_000


def test_what_was_there_before_does_not_count():
    tracemalloc.start()
    try:
        before = np.ones(300_000)
        del before
        kept = np.ones(100_000)
        assert 800_000 <= peak_bytes(lambda: kept + 1) < 820_000
        assert tracemalloc.is_tracing()   # whoever traces goes on tracing
    finally:
        tracemalloc.stop()


def test_two_threads_measure_one_after_the_other():
    # JupyterLab runs a slider's callback beside the cell that is running. Each thread is alone with its array.
    peaks = {}

    def allocate(size):
        array = np.ones(size)
        time.sleep(0.01)   # the other thread's turn, if it could take it
        return array

    def measure(size):
        peaks[size] = [peak_bytes(allocate, size) for _ in range(5)]

    threads = [threading.Thread(target=measure, args=(size,)) for size in (100_000, 300_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for size, measured in peaks.items():
        assert all(0 <= peak - 8 * size < 50_000 for peak in measured), (size, measured)
    assert not tracemalloc.is_tracing()


def test_times_are_measured_one_after_the_other():
    running, together = [], []

    def call():
        running.append(1)
        together.append(len(running))
        time.sleep(0.01)
        running.pop()

    threads = [threading.Thread(target=fastest_seconds, args=(call,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [1] * 24


def test_a_measured_function_may_measure():
    assert 800_000 <= peak_bytes(lambda: fastest_seconds(lambda: np.ones(100_000), repeat=1)) < 820_000


def test_an_error_passes_and_tracing_ends():
    with pytest.raises(ZeroDivisionError):
        peak_bytes(lambda: 1 / 0)
    assert not tracemalloc.is_tracing()


def test_arguments_are_passed_on():
    seen = []
    fastest_seconds(lambda *arguments: seen.append(arguments), 1, "猫", repeat=2)
    peak_bytes(lambda *arguments: seen.append(arguments), 3)
    assert seen == [(1, "猫"), (1, "猫"), (3,)]


@pytest.mark.parametrize("measure", [fastest_seconds, peak_bytes])
@pytest.mark.parametrize("wrong", [3.5, None, "f(x)", np.ones(2)])
def test_a_result_instead_of_a_function(measure, wrong):
    with pytest.raises(ValueError, match=r"function 应为能调用的函数，收到的是 .+分开"):
        measure(wrong)


def test_a_long_result_is_shown_in_short():
    with pytest.raises(ValueError, match="function 应为") as error:
        peak_bytes(np.arange(10_000).reshape(100, 100))
    assert len(str(error.value)) < 200
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("repeat", [0, -1, 1.5, True, "12"])
def test_no_runs(repeat):
    with pytest.raises(ValueError, match=re.escape(f"repeat 应为不小于 1 的整数，收到的是 {repeat!r}")):
        fastest_seconds(lambda: None, repeat=repeat)
