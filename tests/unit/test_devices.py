"""The tests on a pretended device, in a process of their own.

PyTorch counts its devices when it first goes backward: one that is made known later has no place.
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def test_no_tensor_is_made_elsewhere_and_the_host_waits_only_where_it_must() -> None:
    tests = Path(__file__).with_name("on_a_device.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(tests), "-p", "no:xdist", "-p", "no:cacheprovider"],
        cwd=Path(__file__).parents[2],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counted = re.search(r"(\d+) passed", done.stdout)
    assert counted is not None
    assert int(counted[1]) == 23
