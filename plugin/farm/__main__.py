# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dnn-torch farm: cuts a film into slices, which any number of machines make, and joins them."""
import argparse
import concurrent.futures
import fractions
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import arguments
import chain as chains
import joining
import media
import plan as plans
import planning
import slice as slices
import status
from plan import Failure, Refused

VARIABLES = ("DNN_TORCH_SLICE", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX")


def say(text):
    print(f"dnn-torch farm: {status.printable(text)}", file=sys.stderr, flush=True)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(f"{message}; dnn-torch farm --help")


def reader(read, is_right, what):
    """Returns a function that reads an option's value, and refuses what is not `what`."""
    def checked(text):
        try:
            value = read(text)
            if is_right(value):
                return value
        except (ValueError, ZeroDivisionError):
            pass
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return checked


number = reader(int, lambda value: value >= 0, "a whole number from 0 on")
positive = reader(int, lambda value: value > 0, "a whole number from 1 on")
duration = reader(fractions.Fraction, lambda value: value > 0, "a number of seconds above 0")
pair = reader(lambda text: tuple(map(int, text.split("-"))),
              lambda value: len(value) == 2 and value[0] <= value[1],
              "two slices, the first and the last, such as 3-7")


def make_parser():
    parser = Parser(prog="dnn-torch farm", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND",
                                     parser_class=Parser)
    for name, help_, add in (
        ("plan", "decode a clip once and cut it", add_plan_options),
        ("run", "make slices here; goes on where it stopped", add_run_options),
        ("submit", "hand slices to a scheduler", add_submit_options),
        ("status", "what is done and what is missing", add_status_options),
        ("show", "what will run", None),
        ("join", "make one file of the slices", add_join_options),
        ("verify", "check that file again", add_verify_options),
    ):
        one = commands.add_parser(name, help=help_, description=help_, allow_abbrev=False)
        if name != "plan":
            one.add_argument("folder", metavar="DIR", help="the plan's folder")
            one.add_argument("--trust", action="store_true",
                             help="run a plan of another user: it runs commands")
        if add:
            add(one)
    return parser


def add_plan_options(parser):
    parser.add_argument("clip", metavar="CLIP", help="the source, a file")
    parser.add_argument("--vf", required=True, metavar="CHAIN", help="the filters, as for ffmpeg")
    parser.add_argument("-o", "--output", metavar="OUT",
                        help=".mkv, .mp4 or .mov (CLIP's name with .farm.mkv)")
    parser.add_argument("--slice-seconds", type=duration, metavar="N",
                        help="the work of a slice (at least 120, by measured speed)")
    parser.add_argument("--slice-frames", type=positive, metavar="N", help="the frames of a slice")
    parser.add_argument("--halo", type=duration, metavar="SECONDS",
                        help="how far filters look back and ahead, where that is not known")
    parser.add_argument("--instructions", choices=list(media.LEVELS),
                        help="what the machines have at least (what this one has)")
    parser.add_argument("--retries", type=number, default=2, metavar="N",
                        help="further tries of a slice that fails (2)")
    parser.add_argument("--dir", metavar="FOLDER", help="the plan's folder (OUT's name with .farm)")


def add_run_options(parser):
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--slice", type=number, metavar="K", help="this slice, from 0 on")
    which.add_argument("--slices", type=pair, metavar="A-B", help="these slices")
    which.add_argument("--from-environment", action="store_true",
                       help="the slice that the first of these names: " + ", ".join(VARIABLES))
    parser.add_argument("--retries", type=number, metavar="N", help="instead of the plan's")
    parser.add_argument("--jobs", type=positive, default=1, metavar="N",
                        help="how many slices run at once (1)")


def add_submit_options(parser):
    import submit

    submit.add_options(parser)


def add_status_options(parser):
    parser.add_argument("--json", action="store_true", help="as one JSON object")


def add_join_options(parser):
    parser.add_argument("--replace", action="store_true", help="an existing result")


def add_verify_options(parser):
    parser.add_argument("--frames", action="store_true", help="decode and compare each frame")


# ---- commands ---------------------------------------------------------------


def plan(options, further):
    options.output = options.output or os.path.splitext(options.clip)[0] + ".farm.mkv"
    if options.output.endswith(".farm.mkv") and not options.dir:
        options.dir = options.output[:-len(".mkv")]
    given = arguments.read(further)
    filters = chains.parse(options.vf)
    if any(each.options.get("track", "off") != "off" for each in filters):
        given.warnings.append("track=: objects get their numbers anew in each slice")
    for warning in given.warnings:
        say(warning)
    progress = status.Progress("decoding")
    made = planning.make(options, given, say, progress.tell(0))
    progress.end()
    print(status.table(made))
    print(f"next: dnn-torch farm run {made.where}")
    return 0


def numbers_of(options, made):
    """The slices to run."""
    last = len(made.slices) - 1
    if options.from_environment:
        name = next((name for name in VARIABLES if os.environ.get(name)), None)
        if not name:
            raise Refused(f"none of {', '.join(VARIABLES)} is set")
        try:
            first = end = number(os.environ[name])
        except argparse.ArgumentTypeError:
            raise Refused(f"{name}={os.environ[name]} is no slice's number") from None
    elif options.slice is not None:
        first = end = options.slice
    else:
        first, end = options.slices or (0, last)
    if end > last:
        raise Refused(f"there is no slice {end}: they are numbered from 0 to {last}")
    return [each for each in range(first, end + 1) if not made.record(each)]


def run(options, further):
    made = plans.read(options.folder, options.trust)
    numbers = numbers_of(options, made)
    if not numbers:
        say("nothing to do: done before")
        return 0
    media.check_source(made)
    media.check_files(made)
    media.check_machine(made)
    retries = made.retries if options.retries is None else options.retries
    progress = status.Progress("slices", sum(made.count_of(made.slices[each]) for each in numbers))
    try:
        run_all(made, numbers, options.jobs, retries, progress)
    finally:
        progress.end()
    if not made.missing():
        print(f"all slices are done; next: dnn-torch farm join {options.folder}")
    return 0


def run_all(made, numbers, jobs, retries, progress):
    """Goes on with the other slices after one has failed, and fails in the end."""
    failures = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(slices.run, made, each, retries, progress.tell(each), say)
                   for each in numbers]
        for each in completed(pool, running):
            if error := each.exception():
                if not isinstance(error, Failure) or len(numbers) == 1:
                    raise error
                failures.append(error)
                if not media.is_ending():
                    say(error)
    if failures:
        worst = max(failures, key=lambda error: error.code == 75)
        raise type(worst)(f"{len(failures)} of {len(numbers)} slices failed; the others are done")


def completed(pool, running):
    try:
        yield from concurrent.futures.as_completed(running)
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise


def submit(options, further):
    import submit as submitting

    made = plans.read(options.folder, options.trust)
    seconds = max(status.work_of(made, piece.count) for piece in made.slices)
    places = {str(made.where), os.path.dirname(made.source), os.path.dirname(made.output),
              made.folder, *map(os.path.dirname, made.files)}
    work = submitting.Work(
        folder=str(made.where), name=os.path.basename(made.output), count=len(made.slices),
        missing=tuple(made.missing()), seconds=seconds, cores=made.cores, retries=made.retries,
        trust=options.trust, launcher=media.LAUNCHER, places=tuple(sorted(places)))
    try:
        return submitting.submit(work, options, further)
    except submitting.Refused as error:
        failure = Refused(str(error))
        failure.code = error.code
        raise failure from None


def show_status(options, further):
    return status.status(plans.read(options.folder, options.trust), options.json)


def show(options, further):
    status.show(plans.read(options.folder, trust=True))
    return 0


def join(options, further):
    made = plans.read(options.folder, options.trust)
    facts = joining.join(made, options.replace)
    print(f"{made.output}: {facts['frames']} frames, checked against {len(made.slices)} slices and "
          "the source's times")
    return 0


def verify(options, further):
    made = plans.read(options.folder, options.trust)
    facts = joining.verify(made, options.frames)
    print(f"{made.output}: {facts['frames']} frames are as planned")
    return 0


COMMANDS = {"plan": plan, "run": run, "submit": submit, "status": show_status, "show": show,
            "join": join, "verify": verify}


def end(signal_number, frame):
    """What runs is ended, and unwinding removes what is unfinished."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    media.end_all()
    raise KeyboardInterrupt(signal_number)


def main(words):
    further = []
    if "--" in words and words[0] in ("plan", "submit"):
        place = words.index("--")
        words, further = words[:place], words[place + 1:]
    options = make_parser().parse_args(words)
    return COMMANDS[options.command](options, further)


def guarded():
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, end)
    try:
        return main(sys.argv[1:])
    except Failure as error:
        say(error)
        return error.code
    except KeyboardInterrupt as error:
        return 128 + (error.args[0] if error.args else signal.SIGINT)
    except BrokenPipeError:
        return 141


if __name__ == "__main__":
    sys.exit(guarded())
