"""训练时的进度条。"""

import ipywidgets
from IPython.display import display

EVERY = 10


def progress_bar(n_steps):
    """显示一条进度条，返回可以交给 `attention_core.learning.train` 的 ``progress``。

    Parameters
    ----------
    n_steps : int

    Returns
    -------
    progress : callable
        ``progress(step, loss)``。
    """
    bar = ipywidgets.IntProgress(max=n_steps, description="训练", tooltip="训练的进度")
    # 没有内核时看到的是这一行字，而不是控件的构造参数
    display(bar._repr_mimebundle_() | {"text/plain": f"（进度条：训练 {n_steps} 步）"}, raw=True)

    def advance(step, loss):
        # 每一步都通知网页的话，通知比训练还慢
        if step % EVERY == 0 or step == n_steps:
            bar.value, bar.description = step, f"损失 {loss:.2f}"

    return advance
