"""Members that installed packages bring: found by entry point, told apart, named in every mistake."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onechange import family
from onechange.recipe import Recipe
from own_members import MARK, NORM, as_in_a_new_process, written
from small_studies import in_haste, onechange

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a package of one module, `NORM` unless told otherwise, and its entry point where Python finds packages."""
    made: list[str] = []
    monkeypatch.setenv("MARK", str(tmp_path / MARK))
    as_in_a_new_process()

    def installed(
        name: str, entry: str = "mine = {}", content: str = NORM, version: str = "1.2", group: str = "norm"
    ) -> None:
        site = tmp_path / f"site-{name}-{version}"
        site.mkdir()
        (site / f"{name}.py").write_text(content)
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[onechange.{group}]\n{entry.format(name)}\n")
        monkeypatch.syspath_prepend(site)
        made.append(name)

    yield installed
    for name in made:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("entry", ["mine = {}", "mine = {}:Mine"])
def test_a_module_or_a_class_is_a_member(install: Install, entry: str):
    assert "mine" not in family.members("norm")
    install("bringing_one", entry)
    assert "mine" in family.members("norm") and "mine" not in family.members("mlp")
    assert family.resolve("norm", {"name": "mine", "epsilon": 1}) == {"name": "mine", "epsilon": 1.0}
    assert family.summary("norm", "mine") == "Divide by the length of the feature vector."
    assert family.source("norm", "mine") == "Nguyen and Salazar 2019, https://arxiv.org/abs/1910.05895"
    assert family.package("norm", "mine") == "bringing_one 1.2"
    assert family.version("norm", "mine") == "bringing_one 1.2, version 1"


def test_the_list_names_words_and_packages(install: Install):
    install("bringing_one")
    assert "mine" in onechange("list").out
    rows = {row["norm"]: row for row in onechange("list", "norm", "--json").document}
    assert rows["mine"]["package"] == "bringing_one 1.2" and rows["layer"]["package"] is None
    assert rows["mine"]["settings"] == {"epsilon": 0.5}
    assert "bringing_one 1.2" in onechange("list", "norm").out


def test_a_word_that_is_built_in_stays_so(install: Install):
    install("bringing_one", "layer = {}")
    assert family.member("norm", "layer").__module__ == "onechange.norm.layer"
    assert family.version("norm", "layer") == 1 and family.package("norm", "layer") is None
    assert family.members("norm").count("layer") == 1


def test_a_word_of_two_packages_is_refused_with_both_names(install: Install):
    install("bringing_one")
    install("bringing_two", version="2.0")
    with pytest.raises(
        LookupError, match=r"norm 'mine': bringing_one 1\.2 and bringing_two 2\.0 both bring it"
    ):
        family.member("norm", "mine")


@pytest.mark.parametrize(
    ("entry", "content", "message"),
    [
        ("mine = {}", "x = 1\n", "it holds no member of norm: derive one class from onechange.norm.Norm"),
        ("mine = {}", "import torhc\n", "ModuleNotFoundError: No module named 'torhc'"),
        ("mine = {}:Absent", NORM, "cannot be imported: AttributeError"),
        ("mine = {}:MARK", "MARK = 3\n", "is neither a module nor a class"),
        ("mine = {}:Mine", NORM.replace("@final", ""), "Mine must be marked @final"),
        ("mine = {}:Mine", NORM.replace("(Norm)", "(nn.Module)"), "Mine is no member of norm"),
    ],
)
def test_what_is_wrong_in_a_package_is_one_line_that_names_it(
    install: Install, entry: str, content: str, message: str
):
    install("bringing_one", entry, content)
    with pytest.raises(ValueError, match=r"^norm 'mine' of the package bringing_one 1\.2: ") as caught:
        family.member("norm", "mine")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_run_records_the_package_and_is_read_without_it(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    study = written(tmp_path, arms='\n[[arm]]\nname = "mine"\nfrom = "plain"\nchange.norm = "mine"\n')
    before = list(sys.path)
    install("bringing_one")
    out = tmp_path / "out"
    run = out / "arms/mine/seed-0"
    with in_haste(tmp_path / "cache"):
        assert onechange("run", study, "--scale", "tiny", "--out", out).status == 0
        environment = json.loads((run / "environment.json").read_text())
        assert environment["components"]["norm"] == "bringing_one 1.2, version 1"
        assert onechange("sample", run).status == 0  # installed: trusted
        monkeypatch.setattr(sys, "path", list(before))
        install("bringing_one", version="1.3")
        found = onechange("run", study, "--scale", "tiny", "--out", out, "--resume")
        assert found.status == 2 and "bringing_one 1.2, version 1, is now bringing_one 1.3" in found.err
        monkeypatch.setattr(sys, "path", list(before))
        as_in_a_new_process()
        assert "mine" not in family.members("norm")
        assert Recipe.read(run / "recipe.toml").norm == {"name": "mine", "epsilon": 0.5}
        for words in (["report", out], ["status", out], ["plan", out], ["compare", run, out / "arms/plain"]):
            assert onechange(*words).status == 0, words
        found = onechange("sample", run, "--trust")
        assert found.status == 2 and "is from the package bringing_one 1.2, version 1" in found.err
