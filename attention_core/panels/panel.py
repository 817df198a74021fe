"""把“设置 → 画面”的纯函数接到滑块上。

为什么是一个就地更新的 ``HTML`` 控件，而不是 ``interact`` 加 ``plt.show()``：同一幅画面，
从按键到像素改变快好几倍（``tests/benchmarks/`` 里有两者同场的测量），高度不变，不闪。

没有内核的地方（GitHub、导出的网页、刚打开还没运行、没有被信任的笔记本）看到的是
`View.still` 的图。它与活的面板是两个输出：放在同一个输出里时，JupyterLab 先挑控件，
而控件这时只会说 "model not found"。活的面板一出现，样式表里的 ``:has()`` 就把图藏起来，
所以不会看到两遍。
"""

import threading

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from .._arrays import fail
from .palette import PAGE_STYLE, STYLE
from .view import View

HINT = "（这里是可以拖动的面板：运行这个单元格，上面的图就会跟着滑块动。）"

# ipywidgets 不给滑块的把手起名字，JupyterLab 的快捷键在把手上也照样生效（按 b 会多出一格）。
# 一小段脚本把这两件事补上；没有它面板照样能用。
_SCRIPT = """
(() => {
  const mend = () => {
    const items = '.ac-panel :is(.noUi-handle,select,input,button)';
    const done = 'data-lm-suppress-shortcuts';
    for (const item of document.querySelectorAll(`${items}:not([${done}])`)) {
      item.setAttribute(done, 'true');
      const label = item.closest('.widget-inline-hbox')?.querySelector('.widget-label');
      if (item.matches('.noUi-handle') && label) item.setAttribute('aria-label', label.textContent);
    }
    for (const line of document.querySelectorAll('.ac-finding .widget-html-content:not([aria-live])'))
      line.setAttribute('aria-live', 'polite');
  };
  window.attentionPanels?.disconnect();
  window.attentionPanels = new MutationObserver(mend);
  window.attentionPanels.observe(document.body, {childList: true, subtree: true});
  mend();
})();
""".strip()

# 单元格 -> `(那一次运行的编号, 它造的面板)`
_made_by = {}


def _running_cell():
    """正在运行的单元格和这一次运行的编号；不在笔记本里时是 None。

    JupyterLab 在消息里写了单元格的 id；没有写的前端 (nbclient) 就用单元格的内容代替。
    """
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    parent = shell.kernel.get_parent("shell")
    cell = (parent.get("metadata", {}).get("cellId")
            or parent.get("content", {}).get("code"))
    return (cell, parent["header"]["msg_id"]) if cell else None


def open_panels():
    """还开着的、由单元格造出来的面板，按造出来的先后。"""
    return [panel for _, panels in _made_by.values() for panel in panels if not panel.closed]


class Panel:
    """一个活的面板：控件一动，画面就跟着变。

    Parameters
    ----------
    render : callable
        纯函数，``render(**settings) -> View``；参数名与 controls 的键相同。
    controls : dict of str to widget
        参数名到控件，见 `controls` 模块。面板里按这个顺序排。

    Attributes
    ----------
    controls : dict
    view : View
        最近一次成功画出的画面。
    error : Exception or None
        render 最近一次抛出的异常；它会显示在面板里。

    Examples
    --------
    >>> from attention_core.panels import blocks, controls
    >>> def render(n):
    ...     return View([blocks.bars(["n"], {"值": [n]})], f"n 是 {n}")
    >>> panel = Panel(render, {"n": controls.integer("个数 n", 1, 1, 5)})
    >>> panel.set(n=3).finding
    'n 是 3'
    >>> panel.close()
    """

    def __init__(self, render, controls):
        self.controls = dict(controls)
        self._render = render
        self._start = {name: control.value for name, control in self.controls.items()}
        self._batch = False
        # JupyterLab 把控件的消息放在另一个线程里处理：两次更新不能交错，否则先开始、后画完的那一次
        # 会把旧画面留在新设置上。同一个线程可以再进来：set 里的控件会叫 _on_change。
        self._lock = threading.RLock()
        self.closed = False
        self.error = None
        self.view = self._first = self.render(**self._start)
        if not isinstance(self.view, View):
            raise TypeError(f"render 应当返回 View，收到 {type(self.view).__name__}。")
        self._build()
        self._remember()

    @property
    def settings(self):
        """各控件现在的值。"""
        return {name: control.value for name, control in self.controls.items()}

    def render(self, **settings):
        """这些设置下的画面，不动控件。"""
        return self._render(**settings)

    def set(self, **settings):
        """像读者那样动控件，一次可以动几个，返回新的画面；有一个值不行就一个也不动。关掉以后什么也不做。"""
        for name in settings:
            if name not in self.controls:
                fail("控件的名字", f"{'、'.join(self.controls)} 之一", name, "写法要与 panel.controls 里的相同。")
        with self._lock:
            if self.closed:
                return self.view
            before, self._batch = self.settings, True
            try:
                for name, value in settings.items():
                    self.controls[name].value = value
            except BaseException:   # 有一个值控件不收：已经改了的放回去，设置才与画面对得上
                for name in settings:
                    self.controls[name].value = before[name]
                raise
            finally:
                self._batch = False
            self._update()
            return self.view

    def reset(self):
        """回到开始时的设置。"""
        return self.set(**self._start)

    def close(self):
        """拆掉接线，关掉所有控件。"""
        with self._lock:
            for control in self.controls.values():
                control.unobserve_all()
            self._button.on_click(self._on_reset, remove=True)
            for part in (*self.controls.values(), self._button, self._style, self._picture,
                         self._finding, self._row, self.widget):
                part.close()
                # 布局和样式是另外的模型，不跟着关；不关的话每运行一遍就多留十几个在内存里。
                part.layout.close()
                if part.has_trait("style"):
                    part.style.close()
            self.closed = True

    def _build(self):
        self._button = ipywidgets.Button(
            description="重来", tooltip="把所有控件放回开始的位置",
            layout=ipywidgets.Layout(width="72px"))
        self._row = ipywidgets.Box(
            [*self.controls.values(), self._button],
            layout=ipywidgets.Layout(display="flex", flex_flow="row wrap", align_items="center",
                                     max_width="100%", overflow="hidden"))
        self._style = ipywidgets.HTML(f"<style>{STYLE}{PAGE_STYLE}</style>",
                                      layout=ipywidgets.Layout(display="none"))
        self._finding = ipywidgets.HTML()
        self._finding.add_class("ac-finding")
        self._picture = ipywidgets.HTML()
        self.widget = ipywidgets.VBox([self._style, self._row, self._finding, self._picture],
                                      layout=ipywidgets.Layout(max_width="100%"))
        self.widget.add_class("ac-panel")
        # 页面上的元素与内核里的面板对得上号（浏览器测试要用）。
        self.widget.add_class(f"ac-{self.widget.model_id}")
        self._show(self.view)
        for control in self.controls.values():
            control.observe(self._on_change, names="value")
        self._button.on_click(self._on_reset)

    def _remember(self):
        """再次运行同一个单元格时，关掉它上一次造的面板；别的单元格的不动。"""
        cell = _running_cell()
        if cell is None:
            return
        key, run = cell
        last_run, panels = _made_by.get(key, (None, []))
        if last_run != run:
            for panel in panels:
                if not panel.closed:
                    panel.close()
            panels = []
        _made_by[key] = (run, [*panels, self])

    def _on_change(self, change):
        with self._lock:
            if not self._batch and not self.closed:
                self._update()

    def _on_reset(self, button):
        self.reset()

    def _update(self):
        # observe 里抛出的异常谁也看不见，画面只是不动了；所以在这里接住，写进面板。
        # 中断 (KeyboardInterrupt) 也一样，另外再抛出去：内核要知道。
        try:
            view = self.render(**self.settings)
            self._show(view)
        except (Exception, KeyboardInterrupt) as error:
            self.error = error
            self._show_error(error)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            self.view, self.error = view, None

    def _show(self, view):
        self._finding.value = view.finding_html()
        self._picture.value = view.html()

    def _show_error(self, error):
        details = f"：{error}" if str(error) else ""
        message = View((), f"这里出了错，下面的图还停在上一次：{type(error).__name__}{details}")
        self._finding.value = message.finding_html()
        self._picture.value = f'<div class="ac-stale">{self.view.html()}</div>'

    def _ipython_display_(self):
        display({"text/html": self._first.still(), "text/plain": self._first.finding}, raw=True)
        if self.closed:
            return
        display({"application/javascript": _SCRIPT, "text/plain": ""}, raw=True)
        bundle = self.widget._repr_mimebundle_()
        display({**bundle, "text/plain": HINT}, raw=True)
