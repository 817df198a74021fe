"""练习：读者自己写函数，`check` 说出错在哪里，`show_progress` 记着过了哪些。

每一节的练习在 ``section_NN.py`` 里，要检查那一节时才载入。
"""

from .frame import check
from .overview import show_progress

__all__ = ["check", "show_progress"]
