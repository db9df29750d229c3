"""Memory that is kept: the system is not asked again for what was freed a moment ago."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import torch
from onechange.allocator import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory()
def use():
    torch.ones(25_000_000)  # 100 MB, freed at once
for _ in range(20):  # the heap grows until it has room between what lies in it
    use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    use()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep memory")
def test_a_large_tensor_is_not_mapped_anew_each_time():
    def page_faults(how: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    pages_of_one_tensor = 100_000_000 // 4096
    assert page_faults("default") > 5 * pages_of_one_tensor, "or there is nothing to gain here any more"
    assert page_faults("kept") < 1000
