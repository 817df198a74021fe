"""Fixtures that more than one test file uses."""

import pytest

from attention_core.exercises import progress


@pytest.fixture
def clean_progress(tmp_path, monkeypatch):
    """一位还没动手的读者：返回进度文件的位置，文件还不存在。"""
    file = tmp_path / "progress.json"
    monkeypatch.setenv("ATTENTION_PROGRESS", str(file))
    monkeypatch.setattr(progress, "_this_session", set())
    return file
