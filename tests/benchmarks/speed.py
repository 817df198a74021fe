"""量一量快慢和内存：``python tests/benchmarks/speed.py [部分 ...] [--rounds 次数]``。

打印一张 Markdown 表。每个对手都和我们在同一次运行里轮流上场，比的是 CPU 时间之比
（一个 BLAS 线程），取中位数，方括号里是第一、第三四分位数。时间不判对错，这里没有断言。
torch、onnx、onnxruntime 装了哪个就比哪个：``pip install -e ".[bench]"``。
"""

import argparse
import importlib.util
import io
import itertools
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np

import attention_core as ac

ROOT = Path(__file__).parents[2]
# 一个 BLAS 线程；glibc 不把释放的内存还给系统，否则谁排在用内存多的对手后面，谁就替它付重新要内存的时间。
SETTINGS = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
    **dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), str(2**31)),
}
SIZES = [(512, 50), (2048, 7)]
MEMORY_SIZES = [1024, 2048, 4096, 8192, 16384]


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


# 对手 -----------------------------------------------------------------------


def limit(query, key, value):
    """numpy 至少要做的事：两次矩阵乘法，N x N 个 exp；不是注意力。"""
    scores = query @ key.mT
    np.exp(scores, out=scores)
    return scores @ value


def bare(query, key, value):
    """小尺寸的参照：matmul、exp、sum、matmul 四次裸调用。"""
    scores = np.exp(query @ key.T)
    scores.sum(axis=-1, keepdims=True)
    return scores @ value


def usual(query, key, value, mask=None, root=math.sqrt):
    """常见的 numpy 写法。"""
    scores = query @ key.mT / root(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ value, weights


def four_products(d_output, query, key, value, table):
    """反向传播里的四次矩阵乘法，别的都不做。"""
    return table.mT @ d_output, d_output @ value.mT, table @ key, table.mT @ query


def onnx_model(causal):
    from onnx import TensorProto, helper

    node = helper.make_node("Attention", ["Q", "K", "V"], ["Y"], is_causal=int(causal))
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "QKVY"]
    graph = helper.make_graph([node], "attention", tensors[:3], tensors[3:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


def onnx_rivals(arrays, causal):
    """ONNX 的 numpy 参考实现，以及 onnxruntime 的编译内核；没有装就没有。"""
    feeds = dict(zip("QKV", arrays, strict=True))
    if importlib.util.find_spec("onnx") is None:
        return
    from onnx.reference import ReferenceEvaluator

    reference = ReferenceEvaluator(onnx_model(causal))
    yield "ONNX 的 numpy 参考实现", lambda: reference.run(None, feeds)
    if importlib.util.find_spec("onnxruntime") is None:
        return
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            onnx_model(causal).SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        session.run(None, feeds)
    except Exception as error:   # 旧版本没有这个算子：说一声，接着量别的
        print(f"onnxruntime 跑不了：{str(error)[:80]}", file=sys.stderr)
        return
    yield "onnxruntime（编译内核）", lambda: session.run(None, feeds)


def torch_rivals(arrays, causal):
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    torch.set_num_threads(1)
    tensors = [torch.from_numpy(x) for x in arrays]
    attend = torch.nn.functional.scaled_dot_product_attention
    yield "PyTorch（编译内核）", lambda: attend(*tensors, is_causal=causal)


def torch_backward(d_output, *arrays):
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    torch.set_num_threads(1)
    tensors = [torch.from_numpy(x).requires_grad_() for x in arrays]
    output = torch.nn.functional.scaled_dot_product_attention(*tensors)
    gradient = torch.from_numpy(d_output)
    yield "PyTorch 的反向", lambda: torch.autograd.grad(output, tensors, gradient, retain_graph=True)


# 计时 -----------------------------------------------------------------------


def take_turns(contestants, rounds, inner=1):
    """轮流计时，每轮的次序随机；返回每个名字的 CPU 秒数，长度 ``rounds``。"""
    times = {name: [] for name in contestants}
    order = np.random.default_rng(0)
    for call in contestants.values():
        call()
    for _ in range(rounds):
        for name in order.permutation(list(contestants)):
            start = time.process_time()
            for _ in range(inner):
                contestants[name]()
            times[name].append((time.process_time() - start) / inner)
    return {name: np.array(t) for name, t in times.items()}


def rows_of(section, times):
    """一组计时变成表里的几行；第一个是比值的分母。"""
    reference = next(iter(times.values()))
    for name, t in times.items():
        digits = 2 if np.median(t / reference) > 0.1 else 4
        low, middle, high = (f"{x:.{digits}f}" for x in np.quantile(t / reference, [0.25, 0.5, 0.75]))
        shown = f"{np.median(t) * 1e3:.1f} ms" if np.median(t) > 1e-3 else f"{np.median(t) * 1e6:.1f} µs"
        yield section, name, shown, "1" if t is reference else f"{middle} [{low}, {high}]"


# 各个部分 -------------------------------------------------------------------


def forward(rounds):
    for n, most in SIZES:
        arrays = [normal(1, 8, n, 64, seed=seed) for seed in range(3)]
        large = [10 * arrays[0], *arrays[1:]]   # 要减去最大值
        for causal in (False, True):
            mask = ac.causal_mask(n) if causal else None
            contestants = {
                "下限：两次乘法加 exp（不遮）": partial(limit, *arrays),
                "attention_core": partial(ac.scaled_dot_product_attention, *arrays, mask=mask),
                "attention_core 分块": partial(ac.tiled_attention, *arrays, causal=causal),
                "attention_core，分数大十倍": partial(ac.scaled_dot_product_attention, *large, mask=mask),
                "attention_core 分块，分数大十倍": partial(ac.tiled_attention, *large, causal=causal),
                "常见的 numpy 写法": partial(usual, *arrays, mask),
                "同上，np.sqrt 变成 float64": partial(usual, *arrays, mask, np.sqrt),
                **dict(onnx_rivals(arrays, causal)),
                **dict(torch_rivals(arrays, causal)),
            }
            title = f"正向{'，因果' if causal else ''} (1, 8, {n}, 64)"
            yield from rows_of(title, take_turns(contestants, rounds or most))


def backward(rounds):
    for n, most in SIZES:
        arrays = [normal(1, 8, n, 64, seed=seed) for seed in range(4)]
        weights = ac.scaled_dot_product_attention(*arrays[1:])[1]
        contestants = {
            "下限：四次乘法": partial(four_products, *arrays, weights),
            "attention_core": partial(ac.scaled_dot_product_attention_backward, *arrays, weights=weights),
            **dict(torch_backward(*arrays)),
        }
        yield from rows_of(f"反向 (1, 8, {n}, 64)", take_turns(contestants, rounds or most))


def toy(rounds):
    mask = ac.causal_mask(11)
    for dtype in (np.float64, np.float32):
        arrays = [normal(11, 8, dtype=dtype, seed=seed) for seed in range(3)]
        contestants = {
            "四次裸调用": partial(bare, *arrays),
            "attention_core": partial(ac.scaled_dot_product_attention, *arrays),
            "attention_core，因果掩码": partial(ac.scaled_dot_product_attention, *arrays, mask=mask),
            "常见的 numpy 写法": partial(usual, *arrays),
            "常见的 numpy 写法，因果掩码": partial(usual, *arrays, mask),
        }
        times = take_turns(contestants, 20 * (rounds or 20), inner=50)
        yield from rows_of(f"笔记本里的大小 (11, 8)，{np.dtype(dtype).name}", times)


def redraws(panel):
    """一次又一次挪动面板的第一个滑块，来回走遍；每挪一步，内核里重画一次。"""
    sliders = (control for control in panel.controls.values() if "Slider" in type(control).__name__)
    slider = next(sliders)
    place, last = ("index", len(slider.options) - 1) if hasattr(slider, "options") else ("value", slider.max)
    first = getattr(slider, "min", 0)
    round_trip = [*range(first, last), *range(last, first, -1)]
    for stop in round_trip:   # 先走一圈：第 8 节的秒表第一次到一档要现量
        setattr(slider, place, stop)
    for stop in itertools.cycle(round_trip):
        if stop != getattr(slider, place):
            setattr(slider, place, stop)
            yield


def sliders(rounds):
    """滑块动一步，内核里用去的 CPU 时间；从按键到像素的全程见 panel_latency.py。"""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import rival_panel

    from attention_core import panels

    temperatures = itertools.cycle([0.25, 0.5, 1.0, 2.0])

    def rival():
        rival_panel.draw(next(temperatures))
        plt.savefig(io.BytesIO(), format="png", bbox_inches="tight", dpi=72)   # 笔记本里缺省的样子
        plt.close()

    contestants = {"interact 加 matplotlib，第 4 节的同一幅画": rival}
    contestants |= {f"面板 {name}": partial(next, redraws(getattr(panels, name)())) for name in panels.PANELS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")   # 没有窗口可以显示，也许还缺汉字
        yield from rows_of("滑块动一步", take_turns(contestants, rounds or 15))


PEAK = """
import sys, tracemalloc, numpy as np, attention_core as ac
sys.path.insert(0, {folder!r})
from speed import normal, usual
arrays = [normal({n}, 64, seed=seed) for seed in range(3)]
tracemalloc.start()
output = {call}
print(tracemalloc.get_traced_memory()[1] - output.nbytes)
"""
CALLS = {
    "attention_core 分块": "ac.tiled_attention(*arrays)",
    "attention_core": "ac.scaled_dot_product_attention(*arrays)[0]",
    "常见的 numpy 写法": "usual(*arrays)[0]",
}


def memory(rounds):
    """子进程里，输入和输出以外最多同时占多少内存（tracemalloc 记下的峰值）。"""
    del rounds
    for name, call in CALLS.items():
        for n in MEMORY_SIZES:
            code = PEAK.format(folder=str(Path(__file__).parent), n=n, call=call)
            child = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
            shown = f"{int(child.stdout) / 2**20:.1f} MiB" if child.returncode == 0 else "放不下"
            yield "内存，一个头，float32", f"{name}，N = {n}", shown, ""


def imports(rounds):
    """新进程里 import 用去的 CPU 时间，不算启动 Python，也不算头一回编译成字节码。"""
    code = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
    times = {"numpy": [], "attention_core": []}
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(1 + (rounds or 15)):
            for module, t in times.items():
                command = [sys.executable, "-c", code.format(module)]
                child = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, env=env)
                if turn:   # 第一轮只为编译
                    t.append(float(child.stdout))
    yield from rows_of("导入", {f"import {module}": np.array(t) for module, t in times.items()})


RUN = """
import json, sys, time, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
start = time.perf_counter()
client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": sys.argv[2]}})
with client.setup_kernel():
    ready = time.perf_counter()
    for index, cell in enumerate(notebook.cells):
        client.execute_cell(cell, index)
    end = time.perf_counter()
print(json.dumps([ready - start, end - ready]))
"""


def notebooks(rounds):
    """每本笔记本从新内核跑到底的钟表时间（不是 CPU 时间）。"""
    del rounds
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        child = subprocess.run(
            [sys.executable, "-c", RUN, str(path), str(path.parent)],
            capture_output=True, encoding="utf-8", check=False,
        )
        if child.returncode:
            yield "笔记本", path.stem, "没跑完", ""
            continue
        kernel, cells = json.loads(child.stdout)
        yield "笔记本", path.stem, f"{cells:.1f} s", f"另加启动内核 {kernel:.1f} s"


SECTIONS = {
    "forward": forward,
    "backward": backward,
    "toy": toy,
    "sliders": sliders,
    "memory": memory,
    "imports": imports,
    "notebooks": notebooks,
}


def machine():
    """日期、处理器、版本；没有主机名和路径。"""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text(encoding="utf-8").splitlines() if "model name" in line]
        model = names[0].split(":")[1].strip() if names else model
    versions = f"Python {platform.python_version()}，numpy {np.__version__}"
    return f"{date.today()}，{platform.system()}，{model}，{os.cpu_count()} 核，{versions}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], help="缺省是全部")
    parser.add_argument("--rounds", type=int, default=0, help="每组轮几次")
    options = parser.parse_args()
    print(f"{machine()}\n\n| 部分 | 谁 | 中位数 | 比值 |\n|---|---|---|---|", flush=True)
    for name in options.sections or SECTIONS:
        for row in SECTIONS[name](options.rounds):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in SETTINGS.items()):
        # 这些在程序一开始就定下了，所以换好环境再跑一遍自己。
        sys.exit(subprocess.call([sys.executable, *sys.argv], env=os.environ | SETTINGS))
    main()
