# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shares of the tests that .ci/run runs on a day: all have their turn, and are told of."""
import datetime
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import shares  # noqa: E402

DAY = datetime.date(2026, 11, 26)
DAYS = [DAY + datetime.timedelta(days=days) for days in range(shares.DAYS)]


def run(*words, day=DAY):
    result = subprocess.run([sys.executable, str(ROOT / "scripts" / "shares.py"), *map(str, words)],
                            env={"DNN_TORCH_TODAY": str(day), "PATH": "/usr/bin:/bin"},
                            capture_output=True, text=True, check=True, cwd=ROOT)
    return result.stdout.splitlines()


@pytest.mark.parametrize("suite, kind", [(suite, kind) for suite, kinds in shares.DIVISIONS.items()
                                         for kind in kinds])
def test_all_have_their_turn_in_each_suite(suite, kind):
    count = shares.DIVISIONS[suite][kind][0]
    assert {shares.chosen(suite, day)[kind] for day in DAYS} == \
        {(number, count) for number in range(1, count + 1)}


def test_names_what_did_not_run_and_when_it_passed(tmp_path):
    record = tmp_path / "record"
    run("passed", "trixie", record, day=DAYS[0])
    run("passed", "sid", record, "--all", day=DAYS[0])
    trixie, sid = run("tell", record, "trixie", "sid", day=DAYS[1])
    earlier, later = (shares.chosen("trixie", day)["golden"][0] for day in DAYS[:2])
    never = [str(n) for n in range(1, 5) if n not in (earlier, later)]
    assert f"golden {' '.join(never)}/4 (never passed here)" in trixie
    assert f"golden {earlier}/4 (passed {DAYS[0]} " in trixie
    assert "never" not in sid and f"(passed {DAYS[0]} " in sid


def test_choice_is_what_pytest_is_told(tmp_path):
    (line,) = run("choose", "sid")
    said = {kind: tuple(map(int, share.split("/")))
            for kind, share in (word.split("=") for word in line.split())}
    assert said == shares.chosen("sid", DAY)


def test_damaged_record_counts_as_none(tmp_path):
    record = tmp_path / "record"
    record.write_text("sid models 1/12\nsid models x/12 a b\n\x00\n")
    (line,) = run("tell", record, "sid")
    assert "never passed here" in line and "passed a" not in line
