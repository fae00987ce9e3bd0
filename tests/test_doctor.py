"""What is missing is named with its task and its remedy."""

from pathlib import Path

import doctor
import pytest


@pytest.mark.parametrize("need", doctor.NEEDS, ids=lambda need: need.names[0])
def test_a_program_is_found_or_has_a_remedy(
    need: doctor.Need, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"{need.names[0]}: missing for {need.tasks}; {need.remedy}" in doctor.lines()
    (tmp_path / need.names[-1]).touch(0o755)
    assert f"{need.names[0]}: {tmp_path / need.names[-1]}" in doctor.lines()


def test_variables_that_change_a_build_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.platform, "machine", lambda: "arm64")
    assert any("judged: portable" in line for line in doctor.lines())
    monkeypatch.setenv("DRIFT_POLICY", "exact")
    said = "\n".join(doctor.lines())
    assert "judged: exact" in said
    assert "DRIFT_POLICY=exact is set" in said
