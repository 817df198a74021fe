"""进度表：每一本笔记本的练习过了几道。"""

from dataclasses import dataclass
from html import escape

from ..series import SERIES
from . import progress
from .frame import in_section


@dataclass(frozen=True)
class _Row:
    """表里的一行：一本笔记本，它的练习，其中通过了的。"""

    notebook: object
    exercises: list
    passed: frozenset

    @property
    def done(self):
        return sum(exercise.id in self.passed for exercise in self.exercises)

    @property
    def marks(self):
        """一道题一个圆：实心的通过了。"""
        return "".join("●" if exercise.id in self.passed else "○" for exercise in self.exercises)


class ProgressTable:
    """各本笔记本的练习进度，在笔记本里是一张表，打印出来是几行字。"""

    def __init__(self, passed, trouble=None):
        self._rows = [_Row(notebook, in_section(notebook.section), frozenset(passed)) for notebook in SERIES]
        self._trouble = trouble

    @property
    def summary(self):
        """一句话的总数。"""
        total = sum(len(row.exercises) for row in self._rows)
        return f"一共 {total} 道练习，过了 {sum(row.done for row in self._rows)} 道。"

    def __repr__(self):
        width = max(len(row.notebook.stem) for row in self._rows)
        lines = [f"{row.notebook.stem:<{width}}  {row.done}/{len(row.exercises)}  {row.marks}"
                 for row in self._rows]
        return "\n".join([*lines, self.summary, *([self._trouble] if self._trouble else [])])

    def _repr_html_(self):
        rows = "".join(
            f'<tr><td><a href="{escape(row.notebook.filename)}">{escape(row.notebook.stem[:2])} '
            f"{escape(row.notebook.title)}</a></td><td>{row.done} / {len(row.exercises)}</td>"
            f"<td>{_left(row)}</td></tr>"
            for row in self._rows)
        trouble = f"<p>{escape(self._trouble)}</p>" if self._trouble else ""
        return (f"<table><caption>{self.summary}</caption>"
                '<thead><tr><th scope="col">笔记本</th><th scope="col">通过</th>'
                f'<th scope="col">还没过的练习</th></tr></thead><tbody>{rows}</tbody></table>{trouble}')


def _left(row):
    return "、".join(f"{exercise.id} {escape(exercise.title)}"
                    for exercise in row.exercises if exercise.id not in row.passed) or "全过了"


def show_progress():
    """返回各本笔记本的练习进度；放在一格的最后一行就会显示成表。

    Returns
    -------
    table : ProgressTable
        从不抛出异常；进度文件读不了时，表下面说明一句。
    """
    return ProgressTable(*progress.load())
