"""The demo prints the truth beside what was found."""

import pytest

from interplay.app import demo


@pytest.mark.user_settings
def test_demo_finds_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    out = capsys.readouterr().out
    assert out.count("yes, true") == 15
    assert "FALSE" not in out
    assert "missed" not in out
