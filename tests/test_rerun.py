"""读者不总是从头到尾运行一遍：运行两遍、跳着运行、中途打断、重启内核，都要说得通。"""

import asyncio
import subprocess
import threading
import time

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

from notebook_rules import output_texts
from refresh_notebooks import CELL_TIMEOUT, NOTEBOOKS, clean_output

# 一本有面板、有练习、有手算；它们在每一本里都是同一套代码。
STEM = "04_three_steps"


def shown(outputs):
    """一格的输出里给人看的文字；出错时是错误的名字和原话。"""
    texts, stream = [], ""
    for output in outputs:
        if output.output_type == "stream":
            stream += output.text  # 同一段打印会分成几批送来
            continue
        texts += [stream] * bool(stream)
        stream = ""
        if output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        else:
            clean_output(output)
            # 图是重画的，字节会变；其余给人看的都要一样。
            texts += [text for text in output_texts(output) if "data:image/png" not in text]
    return texts + [stream] * bool(stream)


class Reader:
    """一位读者，开着一本笔记本和它的内核。"""

    def __init__(self, path, folder):
        cells = nbformat.read(path, as_version=4).cells
        code = [cell for cell in cells if cell.cell_type == "code"]
        self.sources = [cell.source for cell in code]
        self.expected = [shown(cell.outputs) for cell in code]
        # 自己的事件循环，用完关上；jupyter_client 的同步接口会留下没关的。
        self.runner = asyncio.Runner()
        self.manager = AsyncKernelManager(
            kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager())
        arguments = ["--HistoryManager.hist_file=:memory:"]
        # 内核自己写到终端的启动提示与笔记本无关。
        self.runner.run(self.manager.start_kernel(
            cwd=str(folder), extra_arguments=arguments, stderr=subprocess.DEVNULL))
        self.client = self.manager.client()
        self.client.start_channels()
        self.runner.run(self.client.wait_for_ready(timeout=CELL_TIMEOUT))

    def type(self, source):
        """运行一格，返回它给人看的文字。"""
        outputs = []

        def keep(message):
            if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
                outputs.append(nbformat.v4.output_from_msg(message))

        self.runner.run(self.client.execute_interactive(
            source, output_hook=keep, timeout=CELL_TIMEOUT, allow_stdin=False))
        return shown(outputs)

    def run_all(self):
        return [self.type(source) for source in self.sources]

    def interrupt_when(self, started):
        """等文件 ``started`` 出现，再按一次“停止”。"""
        def press():
            while not started.exists():
                time.sleep(0.02)
            time.sleep(0.1)
            asyncio.run(self.manager.interrupt_kernel())

        thread = threading.Thread(target=press, daemon=True)
        thread.start()

    def restart(self):
        self.runner.run(self.manager.restart_kernel(now=True))
        self.runner.run(self.client.wait_for_ready(timeout=CELL_TIMEOUT))

    def close(self):
        self.client.stop_channels()
        self.runner.run(self.manager.shutdown_kernel(now=True))
        self.runner.close()


@pytest.fixture
def reader(tmp_path, clean_progress):
    reader = Reader(NOTEBOOKS / f"{STEM}.ipynb", tmp_path)
    yield reader
    reader.close()


def test_every_cell_twice_shows_the_same(reader):
    count = "print(len(get_ipython().kernel.comm_manager.comms))"
    for source, expected in zip(reader.sources, reader.expected, strict=True):
        assert reader.type(source) == expected
        widgets = reader.type(count)
        assert reader.type(source) == expected
        # 旧的面板关掉了，不会有两个抢一个滑块。
        assert reader.type(count) == widgets
    assert widgets != ["0\n"]


def test_out_of_order_says_which_name_is_missing_and_recovers(reader):
    backwards = [reader.type(source) for source in reversed(reader.sources)]
    errors = [text for texts in backwards for text in texts if "Error: " in text]
    # 还没有运行前面的格子：Python 说得出缺哪个名字，README 说怎么办；没有别的错误。
    assert errors
    assert [error for error in errors if not error.startswith("NameError: ")] == []
    assert reader.run_all() == reader.expected


@pytest.mark.parametrize("endless", [
    "while True:\n    panel.set(temperature=2)\n    panel.set(temperature=1)",
    "def my_softmax(scores):\n    while True:\n        pass\n\nexercises.check('04-1', my_softmax)",
], ids=["panel", "exercise"])
def test_interrupted_in_the_middle_of_a_cell(reader, tmp_path, endless):
    started = tmp_path / "started"
    first = reader.run_all()
    reader.type("from pathlib import Path\nfrom attention_core import exercises, panels\npanel = panels.three_steps()")
    reader.interrupt_when(started)
    texts = reader.type(f"Path({str(started)!r}).touch()\n{endless}")
    # 停下来就是停下来：不当成答错了，也不吞掉。
    # 恰好停在没有行号的指令上时（标准库的 ElementTree 里有），IPython 说不出是哪一行，只说它排版失败了。
    stopped = ("KeyboardInterrupt", "Unexpected exception formatting exception")
    assert any(text.startswith(stopped) for text in texts), texts
    assert not any("不对" in text for text in texts)
    # 面板还能用，一批设置没有卡在半路。
    assert reader.type("print(panel.set(temperature=0).finding)\nprint(panel.error)")[0].endswith("None\n")
    assert reader.run_all() == first == reader.expected


def test_kernel_restarted(reader):
    reader.run_all()
    reader.restart()
    assert any(text.startswith("NameError: ") for text in reader.type(reader.sources[2]))
    assert reader.run_all() == reader.expected
