"""清单本身说得通，并且与笔记本、README 对得上。"""

import re

from attention_core.series import SERIES, neighbours


def test_sections_run_from_1_to_13_and_name_the_files():
    assert [notebook.section for notebook in SERIES] == list(range(1, 14))
    for notebook in SERIES:
        assert re.fullmatch(rf"{notebook.section:02d}_[a-z_]+", notebook.stem)


def test_neighbours_form_one_chain():
    seen, notebook = [], SERIES[0]
    while notebook is not None:
        seen.append(notebook)
        notebook = neighbours(notebook)[1]
    assert tuple(seen) == SERIES
    assert [neighbours(notebook)[0] for notebook in SERIES[1:]] == list(SERIES[:-1])


def test_binder_link_opens_the_very_notebook():
    assert SERIES[3].binder_url.endswith("?urlpath=lab/tree/notebooks/04_three_steps.ipynb")
