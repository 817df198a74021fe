"""十三本笔记本的唯一清单：地图、导航、README 和进度都从这里取。

只用标准库，谁都可以引用它而不带进别的依赖。
"""

from dataclasses import dataclass
from urllib.parse import urlencode

# 仓库的地址只写在这里。公开以后用一条命令换掉，全部链接跟着变：
# python tests/refresh_notebooks.py --repository OWNER/NAME
PLACEHOLDER = "OWNER/REPOSITORY"
REPOSITORY = PLACEHOLDER
BRANCH = "main"


@dataclass(frozen=True)
class Notebook:
    """一本笔记本：文件名、章节号、标题、读完带走什么、大约几分钟。"""

    stem: str
    section: int
    title: str
    takeaway: str
    minutes: int

    @property
    def filename(self):
        """``notebooks/`` 里的文件名。"""
        return f"{self.stem}.ipynb"

    @property
    def binder_url(self):
        """在 Binder 上直接打开这一本的网址。"""
        return f"https://mybinder.org/v2/gh/{REPOSITORY}/{BRANCH}?urlpath=lab/tree/notebooks/{self.filename}"

    def class_url(self, hub):
        """一门课的 JupyterHub 里取来全套、打开这一本的网址 (nbgitpuller)。

        Parameters
        ----------
        hub : str
            JupyterHub 的网址，例如 ``"https://hub.example.edu"``。

        Returns
        -------
        url : str
            每人点开时，各自的文件夹里就有一份；老师改过的部分会合进去，自己写的留着。

        Examples
        --------
        >>> SERIES[0].class_url("https://hub.example.edu").startswith("https://hub.example.edu/hub/user-redirect/git-pull?")
        True
        """
        folder = REPOSITORY.rpartition("/")[2]
        query = urlencode(
            {
                "repo": f"https://github.com/{REPOSITORY}",
                "branch": BRANCH,
                "urlpath": f"lab/tree/{folder}/notebooks/{self.filename}",
            }
        )
        return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"


SERIES = (
    Notebook(
        "01_the_cat",
        1,
        "那只猫没过马路，因为它太累了",
        "每个词都改写一遍的笔记会褪色，回头去看不会；全套笔记本的地图和用法",
        15,
    ),
    Notebook(
        "02_dictionary_lookup",
        2,
        "从字典查询说起",
        "精确查找遇到没见过的词就落空；柔性查找按相似度分份额，温度把两者连在一起",
        15,
    ),
    Notebook(
        "03_query_key_value", 3, "三个角色：查询、键、值", "三个矩阵，三种身份：改 W_V，权重不动；改 W_K，权重就动", 20
    ),
    Notebook(
        "04_three_steps",
        4,
        "走查：打分、归一、加权求和",
        "用这一章的分数把「它」那一行从头算到尾，再看书上印的表为什么不是这样算出来的",
        20,
    ),
    Notebook(
        "05_scaling",
        5,
        "为什么要除以维度的平方根",
        "点积的方差随 d_k 增长，softmax 饱和，梯度消失；除以 √d_k 就好了",
        20,
    ),
    Notebook(
        "06_differentiability",
        6,
        "柔性带来的好处：可微",
        "轻推第二名：硬选择纹丝不动，柔性的会动；雅可比矩阵，以及从软到硬的温度",
        20,
    ),
    Notebook(
        "07_self_attention",
        7,
        "自注意力：查询、键、值都来自同一句",
        "同一句话给出 Q、K、V，人人都问，一张表一次算完；打乱词序，输出跟着打乱：里面没有次序",
        15,
    ),
    Notebook(
        "08_two_bottlenecks",
        8,
        "两个痛点，一次解决",
        "路有多长、梯度还剩多少、整张表一次算完要多少：都与循环网络对照着量一遍",
        20,
    ),
    Notebook(
        "09_multi_head", 9, "多头：同一句话，同时看几遍", "几种标准同时看：拆开、各看各的、再合起来；参数一个也没多", 20
    ),
    Notebook(
        "10_causal_mask",
        10,
        "因果掩码：不许偷看后文",
        "softmax 之前填负无穷，而不是之后清零；改动后文，前文不变；「它」能不能知道「累」",
        20,
    ),
    Notebook(
        "11_cross_attention", 11, "交叉注意力：让一段去查另一段", "查询来自一段，键和值来自另一段：一张 L × S 的表", 15
    ),
    Notebook("12_evidence", 12, "作者的判断与证据", "这一章的说法逐条受检：数字复核，再看一个真实模型的 72 个头", 25),
    Notebook(
        "13_where_scores_come_from",
        13,
        "边界与局限：分数从哪里来",
        "不到一秒训练一个小模型，看「它」的查询在「累」时找到猫、在「宽」时找到马路",
        20,
    ),
)


def neighbours(notebook, series=SERIES):
    """返回一本笔记本在清单里的前一本和后一本。

    Parameters
    ----------
    notebook : Notebook
        清单里的一本。
    series : sequence of Notebook, optional
        在哪份清单里找，缺省是全部。

    Returns
    -------
    previous, following : Notebook or None
        头一本没有前一本，末一本没有后一本。

    Examples
    --------
    >>> previous, following = neighbours(SERIES[0])
    >>> previous is None, following.stem
    (True, '02_dictionary_lookup')
    """
    place = series.index(notebook)
    previous = series[place - 1] if place else None
    following = series[place + 1] if place + 1 < len(series) else None
    return previous, following
