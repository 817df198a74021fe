"""Settings of pytest that need a path: in pyproject.toml it would depend on the current folder."""

import os
import tempfile
from pathlib import Path

# Read by numpy when it is first loaded, here and in the notebooks' kernels: on a busy machine BLAS threads
# wait for each other, up to a hundred times longer than they compute at the notebooks' sizes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure(config):
    # Notebooks and doctests show the progress of a reader who has not begun, and never touch a real one.
    empty = tempfile.TemporaryDirectory()
    config.add_cleanup(empty.cleanup)
    os.environ["ATTENTION_PROGRESS"] = str(Path(empty.name) / "progress.json")
    # What nbval must not compare.
    config.option.nbval_sanitize_with = str(Path(__file__).parent / "tests" / "nbval_sanitize.cfg")
