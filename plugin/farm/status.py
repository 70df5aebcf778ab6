# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What people read: the progress bar, and the commands status and show."""
import json
import os
import shlex
import sys
import time

import joining
import media
import slice as slices


def clock(seconds):
    """A duration in two units."""
    seconds = round(seconds)
    for unit, size, below, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60),
                                    ("min", 60, "s", 1)):
        if seconds >= size:
            return f"{seconds // size} {unit} {seconds % size // part} {below}"
    return f"{seconds} s"


class Progress:
    """One line that is drawn over, if standard error is a terminal."""

    def __init__(self, what, total=None):
        self.what, self.total, self.done, self.last = what, total, {}, 0.0
        self.began, self.base = time.monotonic(), 0
        self.is_shown = sys.stderr.isatty()

    def tell(self, key):
        def take(count):
            self.done[key] = count
            self.draw()
        return take

    def draw(self, at_once=False):
        now = time.monotonic()
        if not self.is_shown or (now - self.last < 0.2 and not at_once):
            return
        self.last = now
        done = self.base + sum(self.done.values())
        text = f"{self.what}: {done} frames"
        if self.total:
            filled = min(30, 30 * done // self.total)
            text = f"{self.what} [{'#' * filled}{'.' * (30 - filled)}] {done}/{self.total} frames"
            rate = (done - self.base) / max(now - self.began, 1e-3)
            if rate > 0:
                text += f", {clock((self.total - done) / rate)} left"
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
        sys.stderr.write(f"\r{text[:columns - 1]:<{columns - 1}}")
        sys.stderr.flush()

    def end(self):
        if self.is_shown:
            self.draw(at_once=True)
            sys.stderr.write("\n")


def work_of(plan, count):
    return count * plan.seconds_a_frame + plan.seconds_to_start


def table(plan):
    """What a plan will take."""
    slices_, longest = plan.slices, max(piece.count for piece in plan.slices)
    each = work_of(plan, longest)
    lines = [
        f"{plan.frames} frames in {len(slices_)} slices of {longest}, "
        f"{plan.seconds_a_frame:.4g} s a frame and {plan.seconds_to_start:.1f} s to start on this "
        f"machine of {plan.cores} cores",
        "machines like this    time"]
    for machines in (1, 10, 100):
        rounds = -(-len(slices_) // machines)
        lines.append(f"{machines:>8}              {clock(rounds * each)}")
    return "\n".join(lines)


def facts(plan):
    missing = plan.missing()
    gone = set(missing)
    done = [number for number in range(len(plan.slices)) if number not in gone]
    failed = [number for number in missing if plan.log(number).exists()]
    joined = os.path.exists(plan.output) and (plan.where / "join.json").exists()
    return {
        "folder": str(plan.where), "output": plan.output, "slices": len(plan.slices),
        "done": len(done), "missing": missing, "failed": failed, "frames": plan.frames,
        "frames_done": sum(plan.slices[number].count for number in done), "joined": joined,
        "seconds_left": round(sum(work_of(plan, plan.slices[number].count) for number in missing), 1),
    }


def status(plan, as_json):
    """Returns the exit code: 0 if the slices are done, 3 if some are missing."""
    found = facts(plan)
    if as_json:
        print(json.dumps(found))
    else:
        print(f"{found['done']} of {found['slices']} slices, {found['frames_done']} of "
              f"{found['frames']} frames")
        if found["missing"]:
            print(f"missing: {ranges_in_words(found['missing'])}; {clock(found['seconds_left'])} on one "
                  "machine")
        for number in found["failed"][:5]:
            print(f"slice {number} failed: {plan.log(number)}")
        print(f"{plan.output} is joined" if found["joined"] else
              "not joined yet" if found["missing"] else f"next: dnn-torch farm join {plan.where}")
    return 3 if found["missing"] else 0


def ranges(numbers):
    """[0, 1, 2, 5] as ["0-2", "5"]."""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [str(first) if first == last else f"{first}-{last}" for first, last in found]


def ranges_in_words(numbers):
    words, most = ranges(numbers), 20
    return ", ".join(words[:most] + (["..."] if len(words) > most else []))


def printable(text):
    """Text of a plan that others wrote, which may hold what a terminal obeys."""
    return "".join(letter if letter.isprintable() or letter == "\n" else f"\\x{ord(letter):02x}"
                   for letter in str(text))


def show(plan):
    """What will run, as a shell would take it."""
    piece = plan.slices[0]
    text = [f"in {shlex.quote(plan.folder)}",
            "variables: " + " ".join(f"{name}={value}" for name, value in plan.environment.items()),
            "slice 0: " + shlex.join(media.launched(
                slices.arguments(plan, piece, plan.path(0, "part")))),
            "join: " + shlex.join([media.FFMPEG, *joining.arguments(
                plan, plan.where / "slices" / "join.ffconcat", piece.start, plan.output)]),
            "made with: " + ", ".join(f"{name} {value}" for name, value in plan.machine.items()),
            table(plan)]
    print(printable("\n".join(text)))
