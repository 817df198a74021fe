"""README 说的话，文件里都对得上。"""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

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


def test_binder_gets_a_python_that_the_package_supports():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime = (ROOT / "runtime.txt").read_text(encoding="utf-8").strip()
    version = re.fullmatch(r"python-(3\.\d+)", runtime)[1]
    assert version in SpecifierSet(settings["project"]["requires-python"])
    # Binder 看见这两个目录，就不再读根目录的文件。
    assert not (ROOT / "binder").exists()
    assert not (ROOT / ".binder").exists()
