"""README 说的话，文件里都对得上。"""

import re
import tomllib
from pathlib import PurePosixPath
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from attention_core import series
from attention_core.series import SERIES
from notebook_rules import Markdown
from refresh_notebooks import README, ROOT, present_series, readme_text

TEXT = README.read_text(encoding="utf-8")


def commands(language):
    """README 里某种语言的代码块。"""
    return re.findall(rf"^```{language}\n(.*?)\n```$", TEXT, re.MULTILINE | re.DOTALL)


def requirements(path):
    """一个 requirements 文件里的包，不含包自己。"""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if line and line[0] not in "#-"]
    return {requirement.name: requirement.specifier for requirement in wanted}


def lower(specifier):
    return next(bound.version for bound in specifier if bound.operator == ">=")


def test_ci_calls_the_readme_test_command_word_for_word():
    command = next(line for line in commands("bash") if line.endswith("-m pytest"))
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert command in [line.strip() for line in lines]


def test_windows_commands_are_the_same_with_windows_paths():
    posix = [line for line in commands("bash") if line.startswith("python3 -m venv")]
    windows = [line.replace("python3", "py", 1).replace(".venv/bin/", ".venv\\Scripts\\") for line in posix]
    assert commands("bat") == windows
    assert len(windows) == 2


def test_map_is_current():
    assert readme_text(TEXT, present_series(ROOT / "notebooks")) == TEXT
    for notebook in SERIES:
        assert f"| {notebook.section} |" in TEXT


def test_links_and_pictures_resolve():
    markdown = Markdown(TEXT)
    assert markdown.images
    assert all(alternative.strip() for alternative in markdown.images)
    relative = [link for link in markdown.links if "://" not in link]
    assert [link for link in relative if not (ROOT / link).exists()] == []
    assert not [text for text in markdown.texts if "**" in text]


def test_every_package_is_bounded_on_both_sides():
    for name, specifier in requirements("requirements.txt").items():
        assert {bound.operator for bound in specifier} == {">=", "<"}, name


def test_requirements_agree_with_the_package_and_the_oldest_set():
    """三处写着下限：requirements.txt 说了算，另外两处跟着。"""
    wanted = {name: lower(spec) for name, spec in requirements("requirements.txt").items()}
    oldest = requirements("tests/oldest.txt")
    pinned = {name: next(iter(spec)).version for name, spec in oldest.items()}
    assert {name: re.sub(r"(\.0)+$", "", version) for name, version in pinned.items()} == {
        name: re.sub(r"(\.0)+$", "", version) for name, version in wanted.items()
    }
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for line in settings["project"]["dependencies"]:
        requirement = Requirement(line)
        assert lower(requirement.specifier) == wanted[requirement.name], line


# ---------------------------------------------------------------- Binder 和 JupyterHub


def map_in_first_notebook():
    cells = nbformat.read(ROOT / "notebooks" / SERIES[0].filename, as_version=4).cells
    return next(cell.source for cell in cells if "map" in cell.metadata.get("tags", []))


@pytest.mark.parametrize("text", [TEXT, map_in_first_notebook()], ids=["README", "map"])
def test_one_binder_link_for_each_notebook_that_opens_a_file_that_exists(text):
    links = [urlsplit(link) for link in Markdown(text).links if "mybinder.org" in link]
    assert len(links) == len(SERIES)
    for link, notebook in zip(links, SERIES, strict=True):
        # https://mybinder.readthedocs.io: /v2/gh/OWNER/NAME/REF?urlpath=PATH, and lab/tree/ opens JupyterLab.
        assert (link.scheme, link.netloc) == ("https", "mybinder.org")
        assert link.path == f"/v2/gh/{series.REPOSITORY}/{series.BRANCH}"
        (path,) = parse_qs(link.query, strict_parsing=True)["urlpath"]
        file = path.removeprefix("lab/tree/")
        assert path != file == f"notebooks/{notebook.filename}"
        assert (ROOT / file).is_file()


def test_the_link_of_a_class_fetches_the_repository_and_opens_the_first_notebook():
    (command,) = commands("text")
    link = urlsplit(command)
    assert link.path == "/hub/user-redirect/git-pull"
    query = {name: value for name, (value,) in parse_qs(link.query, strict_parsing=True).items()}
    # nbgitpuller clones into a folder that bears the repository's name.
    folder = series.REPOSITORY.split("/")[1]
    assert query == {
        "repo": f"https://github.com/{series.REPOSITORY}",
        "branch": series.BRANCH,
        "urlpath": f"lab/tree/{folder}/notebooks/{SERIES[0].filename}",
    }


def test_binder_gets_a_python_that_the_package_supports():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime = (ROOT / "runtime.txt").read_text(encoding="utf-8").strip()
    # 名字、连字符、版本：repo2docker 认的写法；没有这个文件就会用它自己的缺省版本。
    version = re.fullmatch(r"python-(3\.\d+)", runtime)[1]
    assert version in SpecifierSet(settings["project"]["requires-python"])


def test_nothing_keeps_binder_from_reading_the_files_at_the_root():
    # 看见这两个目录，repo2docker 就不再读根目录的文件；看见后面这些，就改用别的办法装。
    others = ["binder", ".binder", "environment.yml", "Dockerfile", "Pipfile", "Pipfile.lock", "setup.py",
              "apt.txt", "postBuild", "start", "REQUIRE", "Project.toml", "install.R", "DESCRIPTION", "default.nix"]
    assert [name for name in others if (ROOT / name).exists()] == []


def test_binder_installs_the_package_that_the_notebooks_import():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n")
    assert "-e ." in lines


def test_an_installed_copy_holds_every_file_of_the_package():
    """Binder 在 ``-e .`` 之后还会执行 ``pip install .``，换上的是一份拷贝：数据文件一个也不能少。"""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["attention_core"]
    package = ROOT / "attention_core"
    files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    data = [path.relative_to(package) for path in files if path.suffix != ".py"]
    assert len(data) >= 5
    suffixes = {PurePosixPath(pattern).name for pattern in patterns if pattern.startswith("**/*.")}
    assert [str(path) for path in data if f"*{path.suffix}" not in suffixes] == []
    # 没有 __init__.py 的文件夹不算包，里面的 .py 不会被装上。
    folders = {path.parent for path in files if path.suffix == ".py"}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []
