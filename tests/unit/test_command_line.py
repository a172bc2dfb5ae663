"""`python -m simcore`: what it prints where, what it refuses and how it ends."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import simcore.api
from simcore import ENGINE_VERSION
from simcore.__main__ import ExitCode, main
from simcore.api import Result, simulate
from simcore.errors import SimulationError
from simcore.results.perfetto import trace_events
from tests.casts import GOLDEN_CASTS, scenario, two_regions

DOCUMENT = two_regions(name="two")
PREFILL = GOLDEN_CASTS["prefill-two-shards"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, document: Any) -> str:
    text = yaml.safe_dump(document) if name.endswith(".yaml") else json.dumps(document)
    Path(name).write_text(text, encoding="utf-8")
    return name


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_one_file_gives_one_object(folder, capsys):
    assert main(["run", written("two.yaml", DOCUMENT), "--json", "-"]) == ExitCode.DONE
    out, err = capsys.readouterr()
    figures = json.loads(out)
    assert figures == simulate(scenario(DOCUMENT)).figures
    # F0 10, WAN 8, F F 20, B 20, WAN 8, B B 40.
    assert figures["iteration_time_ns"] == 106_000_000
    assert err == ""


def test_several_files_give_an_array_in_their_order(folder, capsys):
    names = [written("two.yaml", DOCUMENT), written("prefill.json", PREFILL)]
    assert main(["run", *names, "--json", "-"]) == ExitCode.DONE
    figures = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in figures] == ["two", "prefill-two-shards"]
    assert figures[1]["inference"]["ttft_ns"] == simulate(scenario(PREFILL)).figures["inference"]["ttft_ns"]


def test_without_options_a_person_reads_the_figures(folder, capsys):
    assert main(["run", written("two.yaml", DOCUMENT), written("prefill.yaml", PREFILL)]) == ExitCode.DONE
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.splitlines()[:2] == ["two", "  iteration        106 ms (106,000,000 ns)"]
    assert second.splitlines()[0] == "prefill-two-shards"
    assert " served, " in second


def test_json_and_timeline_go_to_files(folder, capsys):
    name = written("two.yaml", DOCUMENT)
    assert main(["run", name, "--json", "figures.json", "--timeline", "timeline.json"]) == ExitCode.DONE
    result = simulate(scenario(DOCUMENT))
    assert json.loads(Path("figures.json").read_text()) == result.figures
    assert Path("timeline.json").read_text() == "".join(trace_events(result.timeline, "two"))
    assert files() == ["figures.json", "timeline.json", "two.yaml"]
    assert capsys.readouterr().out.startswith("two\n")


def test_every_error_of_every_file_has_a_line(folder, capsys):
    one = {
        **DOCUMENT,
        "version": 2,
        "colour": "red",
        "training": {**DOCUMENT["training"], "pipelines": 3, "cell_size": 2},
    }
    other = {**DOCUMENT, "wan": {**DOCUMENT["wan"], "links": [{"between": ["east", "nowhere"], "rtt_ms": -1}]}}
    names = [written("one.yaml", one), written("fine.yaml", DOCUMENT), written("other.json", other), "absent.yaml"]
    assert main(["run", *names, "--json", "-"]) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    starts = [
        "one.yaml: version: ",
        "one.yaml: colour: unknown key; ",
        "one.yaml: training.cell_size: must divide pipelines (3); ",
        "other.json: wan.links[0].rtt_ms: must be at least 0; got -1",
        "other.json: wan.links[0].between: unknown datacenter 'nowhere'; ",
        "absent.yaml: cannot be read: No such file or directory",
    ]
    for start in starts:
        assert any(line.startswith(start) for line in lines), (start, lines)
    assert not any(line.startswith("fine.yaml") for line in lines)


def test_errors_of_a_single_file_start_with_the_path_of_the_field(folder, capsys):
    assert main(["run", written("bad.yaml", {**DOCUMENT, "version": 2})]) == ExitCode.BAD_INPUT
    assert capsys.readouterr() == ("", "version: must be 1; got 2\n")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "document: must be a mapping with the keys version, name, ...; got nothing"),
        (b"[1, 2", "document: is not valid JSON: "),
        (b"a: [1, 2", "document: is not valid YAML: "),
        (b"version: \xff", "document: is not text in UTF-8: byte 9 cannot be read"),
        (b"x" * 32_000_001, "document: is longer than 32 MB, the most that is read"),
    ],
)
def test_what_is_no_document_is_refused_in_a_line(folder, capsys, content, sentence):
    Path("odd.yaml").write_bytes(content)
    assert main(["run", "odd.yaml"]) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
    assert len(err.splitlines()) == 1


def test_a_byte_order_mark_is_no_part_of_the_document(folder, capsys):
    Path("marked.yaml").write_text(yaml.safe_dump(DOCUMENT), encoding="utf-8-sig")
    assert main(["run", "marked.yaml"]) == ExitCode.DONE


def test_a_plan_that_would_take_years_is_refused_before_anything_runs(folder, capsys):
    endless = two_regions(microbatches=1_000_000, compute={"forward_ms": 1e9})
    names = [written("fine.yaml", DOCUMENT), written("endless.yaml", endless)]
    assert main(["run", *names]) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("endless.yaml: training.compute: ")
    assert "at most 146 years" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--timeline", "t.csv"], "--timeline: only .json is written so far (Perfetto and Chrome read it); got t.csv"),
        (["--timeline", "t.parquet"], "--timeline: only .json is written so far"),
        (["two.yaml", "--timeline", "t.json"], "--timeline: takes one scenario; got 2"),
        (["--timeline", "t.json", "--json", "./t.json"], "--timeline: is the same file as --json"),
        (["--json", "two.yaml"], "two.yaml: is the scenario itself"),
        (["--json", "no/where.json"], "no/where.json: cannot be written: No such file or directory"),
        (["--timeline", "folder.json"], "folder.json: cannot be written: Is a directory"),
    ],
)
def test_output_that_cannot_go_there_is_refused(folder, capsys, options, sentence):
    Path("folder.json").mkdir()
    name = written("two.yaml", DOCUMENT)
    assert main(["run", name, *options]) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
    assert yaml.safe_load(Path(name).read_text()) == DOCUMENT
    assert files() == ["folder.json", "two.yaml"]


def test_a_file_that_is_there_is_replaced_whole_or_not_at_all(folder, monkeypatch):
    Path("timeline.json").write_text("before")
    name = written("two.yaml", DOCUMENT)

    def breaks_off(timeline, name):
        yield "half"
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("simcore.__main__.trace_events", breaks_off)
        with pytest.raises(KeyboardInterrupt):
            main(["run", name, "--timeline", "timeline.json"])
    assert Path("timeline.json").read_text() == "before"
    assert files() == ["timeline.json", "two.yaml"]
    assert main(["run", name, "--timeline", "timeline.json"]) == ExitCode.DONE
    assert "traceEvents" in Path("timeline.json").read_text()


def test_a_link_is_followed_and_a_device_written_to(folder):
    Path("real.json").write_text("before")
    Path("link.json").symlink_to("real.json")
    name = written("two.yaml", DOCUMENT)
    assert main(["run", name, "--json", "link.json"]) == ExitCode.DONE
    assert Path("link.json").is_symlink()
    assert json.loads(Path("real.json").read_text())["name"] == "two"
    assert main(["run", name, "--json", os.devnull]) == ExitCode.DONE
    assert not Path(os.devnull).is_file()


def test_verify_says_that_nothing_is_wrong(folder, capsys):
    assert main(["verify", written("two.yaml", DOCUMENT)]) == ExitCode.DONE
    assert capsys.readouterr().out == "no rule broken by 12 segments\n"


def test_verify_prints_every_violation_and_fails(folder, capsys, monkeypatch):
    right = simulate(scenario(DOCUMENT))
    wrong = replace(right, timeline=replace(right.timeline, iteration_time_ns=right.timeline.iteration_time_ns + 1))
    answers = {"two": wrong, "prefill-two-shards": simulate(scenario(PREFILL))}
    monkeypatch.setattr(simcore.api, "simulate", lambda scenario: answers[scenario.name])
    names = [written("two.yaml", DOCUMENT), written("prefill.yaml", PREFILL)]
    assert main(["verify", *names]) == ExitCode.VIOLATED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("two.yaml: iteration-length: ")
    assert lines[-1].startswith("prefill.yaml: no rule broken by ")


def test_verify_refuses_a_bad_document(folder, capsys):
    assert main(["verify", written("bad.yaml", {**DOCUMENT, "version": 2})]) == ExitCode.BAD_INPUT
    assert capsys.readouterr() == ("", "version: must be 1; got 2\n")


def test_a_fault_of_the_engine_is_called_one(folder, capsys, monkeypatch):
    def fails(scenario) -> Result:
        raise SimulationError("the heap is full")

    monkeypatch.setattr(simcore.api, "simulate", fails)
    assert main(["run", written("two.yaml", DOCUMENT)]) == ExitCode.OURS
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"simcore {ENGINE_VERSION}: a fault of the engine, please report it: the heap is full\n"


def test_the_module_runs_as_a_program(folder):
    written("bad.yaml", {**DOCUMENT, "version": 2})
    root = Path(__file__).parents[2]
    program = [sys.executable, "-m", "simcore"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    bad = subprocess.run([*program, "run", "bad.yaml"], capture_output=True, text=True, env=environment)
    assert (bad.returncode, bad.stdout, bad.stderr) == (2, "", "version: must be 1; got 2\n")
    unknown = subprocess.run([*program, "dance"], capture_output=True, text=True, env=environment)
    assert unknown.returncode == 2
    assert "invalid choice: 'dance'" in unknown.stderr


def test_a_reader_that_goes_away_ends_the_program_quietly(folder):
    written("two.yaml", DOCUMENT)
    root = Path(__file__).parents[2]
    program = subprocess.Popen(
        [sys.executable, "-m", "simcore", "run", "two.yaml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    assert program.wait(timeout=120) == ExitCode.OUTPUT_CLOSED
    assert program.stderr.read() == b""
    program.stderr.close()
