#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts what the last `meson test` in a build folder ran, case by case.

Prints a table by suite, what failed, and as the last line
"N passed, N failed, N skipped". A suite that was to run and ran nothing counts
as a failure: no run of the tests may pass it off as success. Exits with 1 if
anything failed.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

SLOW_SECONDS = 20

# meson's words; whatever else it says (timeout, interrupt, ...) is a failure.
MESON_RESULTS = {"OK": PASSED, "EXPECTEDFAIL": PASSED, "SKIP": SKIPPED, "IGNORED": SKIPPED}


def outcome(case):
    """Of a JUnit <testcase>; None for one that is switched off in its source."""
    tags = {child.tag for child in case}
    if tags & {"failure", "error"}:
        return FAILED
    if "skipped" in tags:
        return SKIPPED
    return None if case.get("status") == "notrun" else PASSED


def cases_of(suites):
    for suite in suites:
        for case in suite.iter("testcase"):
            result = outcome(case)
            if result:
                yield f"{case.get('classname')}.{case.get('name')}", result


class Results:
    """What is under meson-logs, read once."""

    def __init__(self, build):
        self.logs = pathlib.Path(build) / "meson-logs"
        lines = (self.logs / "testlog.json").read_text(errors="replace").splitlines()
        self.runs = [json.loads(line) for line in lines]
        junit = ElementTree.parse(self.logs / "testlog.junit.xml")
        self.junit_suites = list(junit.getroot().iter("testsuite"))

    def run_of(self, test):
        names = logged_names(test)
        return next((run for run in self.runs if run["name"] in names), None)

    def cases(self, test, run):
        """The single cases of a test that reports them; else an empty list."""
        report = pytest_report(test)
        # One from an earlier run does not count.
        if report and report.exists() and report.stat().st_mtime >= int(run["starttime"]):
            return list(cases_of([ElementTree.parse(report).getroot()]))
        name = f"{project_of(test)}.{run['name']}"
        return list(cases_of(suite for suite in self.junit_suites
                             if suite.get("name") == name
                             or suite.get("name").startswith(name + ".")))


def project_of(test):
    return test["suite"][0].partition(":")[0]


def suites_of(test):
    """Those of a test; its project's name, which meson takes as well, if it has none."""
    return [suite.partition(":")[2] or project_of(test) for suite in test["suite"]]


def pytest_report(test):
    """The file that pytest was told to write; None for a test that is not pytest."""
    command = test["cmd"]
    for i, word in enumerate(command):
        option, _, value = word.partition("=")
        if option == "--junit-xml":
            return pathlib.Path(value or command[i + 1])
    return None


def logged_names(test):
    """How meson calls a test in its logs: before 1.10 and since."""
    name, project = test["name"], project_of(test)
    suites = "+".join(suite.partition(":")[2] for suite in test["suite"])
    if not suites:
        return {f"{project} / {name}", f"{project}:{name}"}
    return {f"{project}:{suites} / {name}", f"{suites} - {project}:{name}"}


def count(test, results):
    """[(name, outcome)] of a test that has run."""
    run = results.run_of(test)
    if run is None:
        return []
    whole = MESON_RESULTS.get(run["result"], FAILED)
    cases = [(f"{test['name']}: {name}", result) for name, result in results.cases(test, run)]
    if not cases:
        return [(test["name"], whole)]
    # It may have crashed, hung or leaked after its last case.
    if whole == FAILED and FAILED not in (result for _, result in cases):
        cases.append((f"{test['name']}: {run['result']}, after all its cases had passed", FAILED))
    return cases


def slow_tests(tests, results):
    """(seconds, name) of those that took long, the longest first."""
    runs = ((results.run_of(test), test["name"]) for test in tests)
    times = ((run["duration"], name) for run, name in runs if run)
    return sorted((time for time in times if time[0] >= SLOW_SECONDS), reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--expect", action="append", default=[], metavar="SUITE",
                        help="a suite of which something must have run")
    parser.add_argument("--meson-status", type=int, default=0, metavar="N",
                        help="what `meson test` exited with")
    arguments = parser.parse_args()

    tests = json.loads(subprocess.run(
        ["meson", "introspect", "--tests", arguments.build],
        check=True, stdout=subprocess.PIPE, text=True).stdout)
    results = Results(arguments.build)

    total = collections.Counter()
    by_suite = collections.defaultdict(collections.Counter)
    failures = []
    for suite in arguments.expect:
        by_suite[suite] = collections.Counter()
    for test in tests:
        for name, result in count(test, results):
            total[result] += 1
            if result == FAILED:
                failures.append(name)
            # meson takes a project's name for a suite, too.
            for suite in {*suites_of(test), project_of(test)} & {*by_suite, *suites_of(test)}:
                by_suite[suite][result] += 1

    print(f"\n{'suite':<12}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for suite, counted in sorted(by_suite.items()):
        remark = ""
        if not counted[PASSED] + counted[FAILED]:
            remark = "   all skipped" if counted[SKIPPED] else "   nothing to run"
            if suite in arguments.expect or not counted:
                total[FAILED] += 1
                failures.append(f"suite {suite}, which ran nothing")
        print(f"{suite:<12}{counted[PASSED]:>8}{counted[FAILED]:>8}{counted[SKIPPED]:>8}{remark}")
    # Where a run's time goes; scripts/stages.sh puts it into its table.
    for seconds, name in slow_tests(tests, results):
        print(f"TOOK {seconds:6.0f} s  {name}")
    if arguments.meson_status and not failures:
        total[FAILED] += 1
        failures.append(f"meson test, which exited with {arguments.meson_status}")
    if failures:
        print()
        # scripts/stages.sh finds these words and tells them once more in the end.
        for name in failures:
            print(f"FAILED   {name}")
    print(f"\n{total[PASSED]} passed, {total[FAILED]} failed, {total[SKIPPED]} skipped")
    return 1 if total[FAILED] or not total[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main())
