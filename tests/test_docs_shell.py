"""Shell commands in the documentation: blocks marked `bash` are run, those marked `sh` are only shown."""

import os
import re
import shutil
import sys
from pathlib import Path

import patience
import pytest
from test_docs import PAGES, assert_alike, of

BLOCK = re.compile(r"^```bash\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(shutil.which("bash") is None, reason="the commands are for bash")
@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=of)
def test_commands_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in BLOCK.finditer(text):
        place = f"{of(page)}, commands in line {text.count(chr(10), 0, block.start()) + 1}"
        done = patience.run(
            ["bash", "-euo", "pipefail", "-c", block[1]],
            cwd=tmp_path,
            env={**os.environ, "PATH": programs},
        )
        assert done.returncode == 0, f"{place}: {done.stderr}"
        if block[2] is not None:
            assert_alike(done.stdout, block[2], place)
