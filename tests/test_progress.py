"""进度文件：整个写成或一点不动，坏了从头记，几个内核同时写谁的都不丢，写不进去也不打断读者。"""

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attention_core.exercises import check, progress, show_progress
from attention_core.exercises.frame import find


def solve(id):
    check(id, find(id).rights[0])


def saved(file):
    return json.loads(file.read_text(encoding="utf-8"))["passed"]


def restart():
    """像重启内核那样忘掉这次运行里的。"""
    progress._this_session.clear()


def leftovers(file):
    return sorted(path.name for path in file.parent.iterdir() if path.name not in (file.name, f"{file.name}.lock"))


def test_survives_a_restart(clean_progress):
    solve("04-1")
    solve("02-2")
    assert saved(clean_progress) == ["02-2", "04-1"]
    restart()
    assert progress.load() == ({"02-2", "04-1"}, None)
    assert leftovers(clean_progress) == []


def test_survives_a_new_process(clean_progress):
    solve("04-1")
    code = "from attention_core.exercises import show_progress; print(show_progress())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True,
                         env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert "04_three_steps             1/4  ●○○○" in out.stdout


def test_missing_file_is_an_empty_one_and_looking_creates_nothing(clean_progress):
    assert progress.load() == (set(), None)
    show_progress()
    assert list(clean_progress.parent.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b"{}", b'{"passed": 3}',
                                     b'{"passed": "04-1"}', b'{"passed": [["04-1"]', b"[" * 100_000,
                                     b'{"passed": ["04-1"'])
def test_damaged_file_is_kept_aside_and_counting_starts_again(clean_progress, capsys, content):
    clean_progress.write_bytes(content)
    solve("04-2")
    out = capsys.readouterr().out
    assert "进度文件坏了，从头记起" in out
    assert saved(clean_progress) == ["04-2"]
    aside, = leftovers(clean_progress)
    assert (clean_progress.parent / aside).read_bytes() == content
    assert aside in out
    solve("04-3")
    assert "坏了" not in capsys.readouterr().out


def test_damaged_file_is_reported_below_the_table(clean_progress):
    clean_progress.write_text("{", encoding="utf-8")
    table = show_progress()
    assert "进度文件坏了" in repr(table)
    assert "进度文件坏了" in table._repr_html_()


def test_what_a_newer_version_wrote_is_kept(clean_progress):
    clean_progress.write_text('{"passed": ["14-1", 7], "备注": "留着"}', encoding="utf-8")
    solve("04-1")
    content = json.loads(clean_progress.read_text(encoding="utf-8"))
    assert content == {"passed": ["04-1", "14-1"], "备注": "留着"}


def test_two_kernels_at_once_lose_nothing(clean_progress):
    # 每记一道就忘掉自己记过的，所以只要有一次合并被别人盖掉，文件里就会少一道。
    code = ("import sys\nfrom attention_core.exercises import progress\n"
            "for n in range(40):\n"
            "    progress._this_session.clear()\n"
            "    assert progress.record(f'{sys.argv[1]}-{n}')[1] is None\n")
    kernels = [subprocess.Popen([sys.executable, "-c", code, name]) for name in ("甲", "乙", "丙")]
    assert [kernel.wait(60) for kernel in kernels] == [0, 0, 0]
    assert set(saved(clean_progress)) == {f"{name}-{n}" for name in ("甲", "乙", "丙") for n in range(40)}
    assert leftovers(clean_progress) == []


def test_reading_while_others_write_never_sees_half_a_file(clean_progress):
    code = ("from attention_core.exercises import progress\n"
            "for n in range(60): progress.record(f'{n:02}-' + 'x' * 2000)\n")
    writer = subprocess.Popen([sys.executable, "-c", code])
    while writer.poll() is None:
        if clean_progress.exists():
            saved(clean_progress)
    assert writer.returncode == 0
    assert len(saved(clean_progress)) == 60


def fail_with(number):
    def fail(*arguments, **keywords):
        raise OSError(number, os.strerror(number))
    return fail


@pytest.mark.parametrize(
    ("name", "number", "reason"),
    [
        ("fsync", errno.ENOSPC, "磁盘满了"),
        ("replace", errno.EACCES, "没有权限"),
        ("replace", errno.EDQUOT, "空间的配额用完了"),
        ("fsync", errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_full_disk_leaves_the_old_file_whole_and_the_exercise_passed(
    clean_progress, monkeypatch, capsys, name, number, reason
):
    solve("04-1")
    before = clean_progress.read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr(progress.os, name, fail_with(number))
        capsys.readouterr()
        solve("04-2")
        out = capsys.readouterr().out.splitlines()
        assert out[0] == "04-2 通过：带温度的 softmax。"
        assert out[2] == f"  进度没能存进文件（{reason}）。这次运行里照样算数，重启以后要再运行一次。"
        assert len(out) == 3
        assert progress.load()[0] >= {"04-1", "04-2"}
    assert clean_progress.read_bytes() == before
    assert leftovers(clean_progress) == []
    solve("04-3")   # 磁盘又有地方了：先前没存下的一并补上
    assert saved(clean_progress) == ["04-1", "04-2", "04-3"]


def test_folder_that_cannot_be_made(tmp_path, monkeypatch, capsys):
    # 文件夹的位置上是一个文件：对 root 也一样写不进去，不像只读权限。
    (tmp_path / "file").touch()
    monkeypatch.setenv("ATTENTION_PROGRESS", str(tmp_path / "file" / "progress.json"))
    solve("04-1")
    assert "进度没能存进文件" in capsys.readouterr().out
    passed, _ = progress.load()
    assert passed == {"04-1"}


def test_path_that_is_a_folder(clean_progress, capsys):
    clean_progress.mkdir()
    solve("04-1")
    assert "进度没能存进文件" in capsys.readouterr().out
    assert "进度没能读出文件" in repr(show_progress())


def test_read_only_folder(clean_progress, monkeypatch, capsys):
    clean_progress.write_text('{"passed": ["04-1"]}', encoding="utf-8")
    read_only = fail_with(errno.EROFS)
    monkeypatch.setattr(progress.tempfile, "mkstemp", read_only)
    monkeypatch.setattr(progress, "_try_lock", read_only)
    solve("04-2")
    assert "磁盘是只读的" in capsys.readouterr().out
    assert progress.load() == ({"04-1", "04-2"}, None)


def test_damaged_file_in_a_read_only_folder(clean_progress, monkeypatch):
    clean_progress.write_text("{", encoding="utf-8")
    monkeypatch.setattr(progress.os, "replace", fail_with(errno.EROFS))
    assert "进度没能读出文件" in repr(show_progress())
    assert clean_progress.read_text(encoding="utf-8") == "{"


def test_a_kernel_that_never_lets_go_is_not_waited_for_forever(clean_progress, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.1)
    with progress._locked(clean_progress):
        start = time.monotonic()
        solve("04-1")
        assert 0.1 <= time.monotonic() - start < 2
    assert saved(clean_progress) == ["04-1"]


def test_passing_again_writes_nothing(clean_progress):
    solve("04-1")
    before = clean_progress.stat().st_mtime_ns
    solve("04-1")
    assert clean_progress.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"ATTENTION_PROGRESS": "/somewhere/p.json"}, "/somewhere/p.json"),
        ({"APPDATA": "/roaming"}, "/roaming/attention_core/progress.json"),
        ({"XDG_DATA_HOME": "/data"}, "/data/attention_core/progress.json"),
        ({"HOME": "/home/me", "USERPROFILE": "/home/me"}, "/home/me/.local/share/attention_core/progress.json"),
        ({"ATTENTION_PROGRESS": "", "XDG_DATA_HOME": "/data"}, "/data/attention_core/progress.json"),
        ({"ATTENTION_PROGRESS": "~/p.json", "HOME": "/home/me", "USERPROFILE": "/home/me"}, "/home/me/p.json"),
        ({"XDG_DATA_HOME": "~/data", "HOME": "/home/me", "USERPROFILE": "/home/me"},
         "/home/me/data/attention_core/progress.json"),
        ({"ATTENTION_PROGRESS": "~no_such_user/p.json"}, "~no_such_user/p.json"),
    ],
)
def test_each_person_has_a_file_of_their_own(monkeypatch, variables, expected):
    for name in ("ATTENTION_PROGRESS", "APPDATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert progress.path() == Path(expected)
