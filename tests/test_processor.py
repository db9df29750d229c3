"""What a machine can do decides what a run uses; what it lacks is said once, and recorded."""

import sysconfig
from pathlib import Path
from typing import Any

import pytest
import torch

from onechange import laboratory, processor
from small_studies import STUDY, onechange, study_file

WORK = 1e18
"""Operations enough for any compilation to pay."""

AMD = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu sse avx512f avx512_bf16\n"
INTEL = "processor\t: 0\nmodel name\t: Intel Xeon\nflags\t\t: fpu avx512f amx_bf16 amx_tile\n"
HIDDEN = (
    "vendor_id\t: GenuineIntel\nmodel name\t: Intel Xeon\nflags\t\t: fpu avx512f avx512_bf16 avx512_vnni\n"
)
OLD = "processor\t: 0\nmodel name\t: Old\nflags\t\t: fpu sse avx2 bmi1\nvmx flags\t: avx512_bf16\nbugs\t\t: amx_bf16\n"
ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm\n"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No compiler to be found; the folder is the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    return tmp_path


def program(folder: Path, name: str) -> Path:
    """Something that can be run."""
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where Python's headers should be, and are."""
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "Python.h").write_text("")
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(folder)})
    return folder


def test_no_compiler(bare: Path, headers: Path) -> None:
    assert "C++ compiler" in (processor.why_not_compile() or "")
    program(bare, "g++")
    assert processor.why_not_compile() is None


@pytest.mark.usefixtures("headers")
def test_torch_looks_for_one_compiler_only(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without CXX torch takes g++ on Linux, clang++ on macOS, and no other."""
    for name in ("c++", "cc", "clang++"):
        program(bare, name)
    monkeypatch.setattr("sys.platform", "linux")
    assert "g++" in (processor.why_not_compile() or "")
    monkeypatch.setattr("sys.platform", "darwin")
    assert processor.why_not_compile() is None


@pytest.mark.usefixtures("headers")
def test_cxx_names_the_compiler(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(program(bare, "mine")))
    assert processor.why_not_compile() is None
    program(bare, "g++")
    for wrong in ("no-such-compiler", "ccache g++", ""):  # torch takes the variable as one program's name
        monkeypatch.setenv("CXX", wrong)
        assert f"({wrong})" in (processor.why_not_compile() or "")


def test_no_headers(bare: Path, headers: Path) -> None:
    program(bare, "g++")
    (headers / "Python.h").unlink()
    assert "Python.h" in (processor.why_not_compile() or "")


def test_compile_on_without_the_means_is_an_error(bare: Path) -> None:
    with pytest.raises(ValueError, match=r'compile = "on".*C\+\+ compiler.*"auto" or "off"'):
        processor.compiles("on", WORK)
    assert processor.compiles("auto", WORK) is False
    assert processor.compiles("off", WORK) is False


def test_auto_compiles_where_it_pays(bare: Path, headers: Path) -> None:
    program(bare, "g++")
    assert processor.compiles("auto", WORK) is True
    assert processor.compiles("auto", processor.OPERATIONS_WORTH_COMPILING) is True
    assert processor.compiles("auto", processor.OPERATIONS_WORTH_COMPILING / 2) is False
    assert processor.compiles("on", 1) is True
    assert processor.compiles("off", WORK) is False


@pytest.mark.parametrize(
    ("cpuinfo", "fast", "name"),
    [
        (AMD, True, "AMD EPYC 9R14"),
        (INTEL, True, "Intel Xeon"),
        (HIDDEN, False, "Intel Xeon"),
        (OLD, False, "Old"),
        (ARM, False, None),
        ("", False, None),
    ],
)
def test_bf16_is_read_from_the_processor_s_flags(
    monkeypatch: pytest.MonkeyPatch, cpuinfo: str, fast: bool, name: str | None
) -> None:
    monkeypatch.setattr(processor, "_cpuinfo", lambda: cpuinfo)
    assert processor.has_fast_bf16() is fast
    assert processor.precision("auto") == ("bf16" if fast else "float32")
    assert processor.precision("bf16") == "bf16"
    assert processor.precision("float32") == "float32"
    if name:
        assert processor.machine()["processor"] == name


def test_0_threads_are_all_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {1, 5, 6}, raising=False)
    assert processor.threads(0) == 3
    assert processor.threads(2) == 2
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert processor.threads(0) == 7


def test_a_run_records_machine_and_versions() -> None:
    machine, versions = processor.machine(), processor.versions()
    assert machine["processors"] >= 1
    assert machine["memory_bytes"] is None or machine["memory_bytes"] > 2**28
    assert versions["torch"] == torch.__version__.split("+")[0] or versions["torch"] == torch.__version__
    assert set(versions) >= {"onechange", "torch", "numpy", "safetensors"}


def study_that_would_compile(folder: Path, wanted: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A study on a text of its own, for which compiling pays if any does."""
    monkeypatch.setattr(processor, "OPERATIONS_WORTH_COMPILING", 0.0)
    monkeypatch.setattr(laboratory.report, "write", lambda folder: None)
    monkeypatch.setenv("COLUMNS", "100")
    (folder / "t.txt").write_text("\n<|endoftext|>\n".join(f"Tom ran {n} times. " * 4 for n in range(20)))
    file = study_file(
        folder, STUDY.replace("evaluate_every = 3", f'evaluate_every = 3\ncompile = "{wanted}"')
    )
    out = folder / "out"
    return ["run", file, "--scale", "tiny", "--data", f"file:{folder / 't.txt'}", "--out", out, "--json"]


def test_a_study_without_a_compiler_is_eager_says_so_once_and_records_it(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = study_that_would_compile(bare, "auto", monkeypatch)
    dry = onechange(*words[:-1], "--dry-run")
    assert dry.err.count("C++ compiler") == 1
    outcome = onechange(*words)
    assert outcome.status == 0, outcome.err
    assert outcome.err.count("C++ compiler") == 1
    assert "eager" in outcome.err
    for arm in outcome.document["arms"]:
        assert arm["settings"]["compile"] is False
        assert "compile = false" in (bare / f"out/arms/{arm['name']}/seed-0/recipe.toml").read_text()


def test_a_study_that_must_compile_and_cannot_is_refused(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = onechange(*study_that_would_compile(bare, "on", monkeypatch))
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "C++ compiler" in outcome.err
    assert not (bare / "out").exists()


@pytest.mark.usefixtures("headers")
def test_a_study_keeps_the_means_that_it_was_started_with(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine, or the same with a compiler installed meanwhile, must not mix its numbers in."""
    words = study_that_would_compile(bare, "auto", monkeypatch)
    monkeypatch.setattr(processor, "_cpuinfo", lambda: OLD)
    file: Any = words[1]
    file.write_text(file.read_text().replace('precision = "float32"', 'precision = "auto"'))
    first = onechange(*words, "--arm", "plain").document
    program(bare, "g++")
    monkeypatch.setattr(processor, "_cpuinfo", lambda: AMD)
    assert processor.compiles("auto", WORK)
    assert processor.precision("auto") == "bf16"
    second = onechange(*words, "--resume")
    assert second.status == 0, second.err
    for arm in second.document["arms"]:
        assert arm["settings"]["compile"] is False
        assert arm["settings"]["precision"] == "float32"
    assert second.document["arms"][0] == first["arms"][0]
