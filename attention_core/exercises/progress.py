"""进度：过了哪些练习，记在一个小小的 JSON 文件里。

文件要么整个写成，要么一点不动；坏了就放到一边从头记；两个内核同时写，谁的都不丢；写不进去也不
打断读者，这次运行里照样算通过。环境变量 ``ATTENTION_PROGRESS`` 可以指定文件放在哪里。
"""

import contextlib
import errno
import json
import os
import tempfile
import time
from pathlib import Path
from types import MappingProxyType

if os.name == "nt":   # pragma: no cover
    import msvcrt

    def _try_lock(file):
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(file):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

_PATIENCE = 5.0   # 秒；别的内核只占用锁几毫秒，等这么久还没有轮到，就不等了

_REASONS = MappingProxyType({
    errno.ENOSPC: "磁盘满了",
    errno.EDQUOT: "空间的配额用完了",
    errno.EROFS: "磁盘是只读的",
    errno.EACCES: "没有权限",
    errno.EPERM: "没有权限",
})

# 这个内核里通过的练习：文件写不进去时也算数，下一次写得进去时一并补上
_this_session = set()


def path():
    """返回进度文件的位置。

    Returns
    -------
    path : pathlib.Path
        环境变量 ``ATTENTION_PROGRESS``；没有设时在用户自己的数据文件夹里。
    """
    data = os.environ.get("APPDATA") or os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    chosen = os.environ.get("ATTENTION_PROGRESS") or os.path.join(data, "attention_core", "progress.json")
    return Path(os.path.expanduser(chosen))   # Path.expanduser 遇到没有的用户会抛出异常


def record(id):
    """记下一道通过的练习。

    Parameters
    ----------
    id : str
        题号。

    Returns
    -------
    passed : set of str
        到现在为止通过的全部题号。
    trouble : str or None
        没能存下时的一行说明；从不抛出异常。
    """
    _this_session.add(id)
    return _synchronise(write=True)


def load():
    """读出通过的练习：文件里的，加上这次运行里的。

    Returns
    -------
    passed : set of str
        到现在为止通过的全部题号。
    trouble : str or None
        文件读不了或者坏了时的一行说明；从不抛出异常。
    """
    return _synchronise(write=False)


def _synchronise(write):
    """把文件与这次运行合在一起；``write`` 时把合好的存回去。"""
    file, trouble = path(), None
    try:
        if write:
            file.parent.mkdir(parents=True, exist_ok=True)
        elif not file.exists():
            return set(_this_session), None
        with _locked(file):
            content, trouble = _read(file)
            passed = content["passed"] | _this_session
            if write and passed != content["passed"]:
                _replace(file, json.dumps({**content, "passed": sorted(passed)}, ensure_ascii=False))
    except OSError as error:
        reason = _REASONS.get(error.errno) or error.strerror or type(error).__name__
        doing = "存进" if write else "读出"
        return set(_this_session), f"进度没能{doing}文件（{reason}）。这次运行里照样算数，重启以后要再运行一次。"
    return passed, trouble


def _read(file):
    """读文件；没有就是空的，坏了就挪到一边、从空的开始。"""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(content["passed"], list):
            raise TypeError
        passed = {id for id in content["passed"] if isinstance(id, str)}
    except FileNotFoundError:
        return {"passed": set()}, None
    except (ValueError, TypeError, KeyError, RecursionError):
        aside = file.with_name(f"{file.name}.damaged-{time.time_ns()}")
        os.replace(file, aside)
        return {"passed": set()}, f"进度文件坏了，从头记起；坏的那份留在旁边（{aside.name}）。"
    return {**content, "passed": passed}, None


def _replace(file, text):
    """先写满一个临时文件，再一下子换上去：别人看到的不是旧的就是新的。"""
    handle, temporary = tempfile.mkstemp(prefix=f"{file.name}.", suffix=".tmp", dir=file.parent)
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _locked(file):
    """读、合、写的时候不让别的内核插进来；锁不上（只读、网络盘）就不锁。"""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context(open(file.with_name(f"{file.name}.lock"), "ab"))
            deadline = time.monotonic() + _PATIENCE
            while True:
                try:
                    _try_lock(lock)
                    break
                except (BlockingIOError, PermissionError):
                    if time.monotonic() > deadline:
                        break
                    time.sleep(0.01)
        yield   # 关上文件，锁就放开了
