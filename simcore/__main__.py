"""The command line: `python -m simcore run FILE...` and `python -m simcore verify FILE...`."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from simcore import ENGINE_VERSION
from simcore.costs.feasibility import feasible_scenario
from simcore.costs.plan import cell_plan
from simcore.errors import Problem, ScenarioError, SimulationError
from simcore.results.perfetto import trace_events
from simcore.results.summary import summary
from simcore.scenario.document import Scenario
from simcore.scenario.parse import MAX_DOCUMENT_BYTES, read_document


class ExitCode(IntEnum):
    """What the process returns."""

    DONE = 0
    VIOLATED = 1
    """`verify` found a broken rule."""
    BAD_INPUT = 2
    """A document or an option is wrong, or a file cannot be read or written."""
    OURS = 3
    """The engine broke one of its own promises."""
    OUTPUT_CLOSED = 141
    """Whoever read the output went away, as with `| head`."""


class InputError(Exception):
    """What the caller has to put right, as lines for standard error."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


@dataclass(frozen=True, slots=True)
class Source:
    """A valid document and where it came from."""

    path: str
    scenario: Scenario


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code: int = options.command(options)
        sys.stdout.flush()
    except InputError as error:
        print(error, file=sys.stderr)
        return ExitCode.BAD_INPUT
    except SimulationError as error:
        print(f"simcore {ENGINE_VERSION}: a fault of the engine, please report it: {error}", file=sys.stderr)
        return ExitCode.OURS
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OUTPUT_CLOSED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m simcore", description="Simulate training of language models over several datacenters."
    )
    parser.add_argument("--version", action="version", version=ENGINE_VERSION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="simulate scenarios and print their figures")
    run.add_argument("files", nargs="+", metavar="FILE", help="scenario, YAML or JSON")
    run.add_argument("--json", metavar="FILE|-", help="write all figures as JSON, - for standard output")
    run.add_argument(
        "--timeline", metavar="FILE.json", help="write the timeline for ui.perfetto.dev (one scenario only)"
    )
    run.set_defaults(command=_run)
    verify = commands.add_parser("verify", help="simulate scenarios and check every rule of the model")
    verify.add_argument("files", nargs="+", metavar="FILE", help="scenario, YAML or JSON")
    verify.set_defaults(command=_verify)
    return parser


def _run(options: argparse.Namespace) -> int:
    sources = _sources(options.files, _option_problems(options))
    from simcore.api import simulate  # loads the compiled kernel, which a bad document need not wait for

    results = []
    for source in sources:
        result = simulate(source.scenario)
        results.append(result.figures)
        if options.timeline is not None:
            _write(options.timeline, trace_events(result.timeline, source.scenario.name))
    text = json.dumps(results[0] if len(results) == 1 else results, ensure_ascii=False) + "\n"
    if options.json == "-":
        sys.stdout.write(text)
        return ExitCode.DONE
    if options.json is not None:
        _write(options.json, [text])
    print("\n\n".join(map(summary, results)))
    return ExitCode.DONE


def _verify(options: argparse.Namespace) -> int:
    sources = _sources(options.files, [])
    from simcore.api import simulate
    from simcore.verify import violations

    code = ExitCode.DONE
    for source in sources:
        prefix = _prefix(source.path, options.files)
        timeline = simulate(source.scenario).timeline
        found = violations(source.scenario, timeline)
        for violation in found:
            print(f"{prefix}{violation}")
        if found:
            code = ExitCode.VIOLATED
        else:
            print(f"{prefix}no rule broken by {timeline.num_segments:,} segments")
    return code


def _option_problems(options: argparse.Namespace) -> list[str]:
    """Return what is wrong with where the output should go."""
    problems = []
    if options.timeline is not None:
        if len(options.files) > 1:
            problems.append(f"--timeline: takes one scenario; got {len(options.files)}")
        if not options.timeline.endswith(".json"):
            problems.append(
                f"--timeline: only .json is written so far (Perfetto and Chrome read it); got {options.timeline}"
            )
    outputs = [path for path in (options.timeline, options.json) if path not in (None, "-")]
    if len({os.path.realpath(path) for path in outputs}) < len(outputs):
        problems.append(f"--timeline: is the same file as --json, {options.timeline}")
    inputs = {os.path.realpath(path) for path in options.files}
    problems += [
        f"{path}: is the scenario itself; name another file to write"
        for path in outputs
        if os.path.realpath(path) in inputs
    ]
    return problems


def _prefix(path: str, paths: Sequence[str]) -> str:
    return f"{path}: " if len(paths) > 1 else ""


def _sources(paths: Sequence[str], problems: list[str]) -> list[Source]:
    """Return the valid documents of all files.

    Raises
    ------
    InputError
        Has a line for every problem of every file, behind those given.
    """
    sources, lines = [], list(problems)
    for path in paths:
        try:
            scenario = feasible_scenario(read_document(_text(path)))
            cell_plan(scenario)
            sources.append(Source(path, scenario))
        except OSError as error:
            lines.append(f"{path}: cannot be read: {error.strerror or error}")
        except ScenarioError as error:
            lines += [_prefix(path, paths) + _one_line(problem) for problem in error.problems]
    if lines:
        raise InputError(lines)
    return sources


def _one_line(problem: Problem) -> str:
    """Return `path: problem` without line breaks that the document itself may have brought in."""
    return " ".join(str(problem).splitlines())


def _text(path: str) -> str:
    with open(path, "rb") as file:
        content = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(content) > MAX_DOCUMENT_BYTES:
        raise ScenarioError([Problem("", f"is longer than {MAX_DOCUMENT_BYTES / 1e6:.0f} MB, the most that is read")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError([Problem("", f"is not text in UTF-8: byte {error.start:,} cannot be read")]) from error


def _write(path: str, pieces: Iterable[str]) -> None:
    """Write a file whole or not at all; a device or pipe is written to as it is."""
    target = Path(os.path.realpath(path))
    in_place = target.exists() and not target.is_file()
    scratch = target if in_place else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(scratch, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(pieces)
        if not in_place:
            os.replace(scratch, target)
    except BaseException as error:
        if not in_place:
            scratch.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError([f"{path}: cannot be written: {error.strerror or error}"]) from error
        raise


if __name__ == "__main__":
    sys.exit(main())
