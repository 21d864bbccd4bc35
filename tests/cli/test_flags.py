"""Every flag, choice and exit code of every command has a test that uses it."""

from __future__ import annotations

import inspect
import re
import sys

import click
import pytest

from symattn.cases.settings import PARTS
from symattn.cli import main as entrance

from . import (
    test_audience,
    test_audit,
    test_corpora,
    test_derive,
    test_draw,
    test_exercise,
    test_extends,
    test_faults,
    test_fix,
    test_letters,
    test_limits,
    test_list,
    test_live,
    test_lsp,
    test_mark,
    test_markdown,
    test_new,
    test_overwriting,
    test_paper,
    test_read,
    test_seal,
    test_sheet,
    test_show,
    test_streams,
    test_vectors,
    test_verify,
    test_word,
)

#: Each word of a command line with the test that says what it does.
TESTS = {
    ("", "--version"): test_list.test_version,
    ("", "--help"): test_list.test_help,
    ("", "-h"): test_list.test_help,
    ("list", "--format text"): test_list.test_text_against_the_files,
    ("list", "--format json"): test_list.test_json_against_the_files,
    ("sheet", "CASES"): test_sheet.test_every_case_without_a_name,
    ("sheet", "-o"): test_sheet.test_only_latex,
    ("sheet", "--output"): test_sheet.test_only_latex,
    ("sheet", "--max-seconds"): test_limits.test_max_seconds,
    ("sheet", "--max-memory"): test_limits.test_max_memory,
    ("sheet", "--jobs"): test_limits.test_jobs,
    ("sheet", "--format html"): test_sheet.test_html,
    ("sheet", "--format md"): test_markdown.test_markdown,
    ("sheet", "--format docx"): test_word.test_word,
    ("sheet", "--format tex"): test_sheet.test_only_latex,
    ("sheet", "--format pdf"): test_sheet.test_all_forms,
    ("sheet", "--count-from"): test_sheet.test_what_rows_are_counted_from,
    ("sheet", "--detail brief"): test_sheet.test_detail,
    ("sheet", "--detail full"): test_sheet.test_detail,
    ("sheet", "--places"): test_sheet.test_places,
    ("sheet", "--for student"): test_audience.test_whom_a_sheet_is_for,
    ("sheet", "--for teacher"): test_audience.test_whom_a_sheet_is_for,
    ("sheet", "--for author"): test_audience.test_whom_a_sheet_is_for,
    **{
        ("sheet", f"--{no}{part}"): test_audience.test_each_part_is_switched
        for no in ("", "no-")
        for part in PARTS
    },
    ("sheet", "--paper a4"): test_audience.test_paper,
    ("sheet", "--paper letter"): test_audience.test_paper,
    ("sheet", "--language"): test_audience.test_language,
    ("audit", "--paper a4"): test_audience.test_paper,
    ("audit", "--paper letter"): test_audience.test_paper,
    ("audit", "--language"): test_audience.test_language,
    ("sheet", "--strict"): test_sheet.test_strict,
    ("draw", "CASES"): test_draw.test_every_case_without_a_name,
    ("draw", "-o"): test_draw.test_one_file,
    ("draw", "--output"): test_draw.test_one_file,
    ("draw", "--what all"): test_draw.test_one_file,
    ("draw", "--what pattern"): test_draw.test_one_file,
    ("draw", "--what flow"): test_draw.test_one_file,
    ("draw", "--what gradients"): test_draw.test_one_file,
    ("draw", "--places"): test_draw.test_places,
    ("draw", "--language"): test_draw.test_language,
    ("draw", "--max-seconds"): test_limits.test_max_seconds,
    ("draw", "--max-memory"): test_limits.test_max_memory,
    ("draw", "--jobs"): test_limits.test_jobs,
    ("show", "CASE"): test_show.test_json_against_the_oracle,
    ("show", "QUANTITY"): test_show.test_json_against_the_oracle,
    ("show", "--at"): test_show.test_at_is_the_entry_of_the_whole,
    ("show", "--put"): test_letters.test_show_puts_numbers_in,
    ("show", "--places"): test_show.test_places,
    ("show", "--rounding"): test_show.test_rounding,
    ("show", "--max-seconds"): test_limits.test_max_seconds,
    ("show", "--max-memory"): test_limits.test_max_memory,
    ("show", "--format text"): test_show.test_text_of_a_matrix,
    ("show", "--format latex"): test_show.test_latex_of_a_matrix,
    ("show", "--format json"): test_show.test_json_against_the_oracle,
    ("verify", "CASES"): test_verify.test_every_case_without_a_name,
    ("verify", "--max-seconds"): test_limits.test_max_seconds,
    ("verify", "--max-memory"): test_limits.test_max_memory,
    ("verify", "--jobs"): test_limits.test_jobs,
    ("verify", "--format text"): test_verify.test_text,
    ("verify", "--format json"): test_verify.test_json,
    ("verify", "--strict"): test_verify.test_strict,
    ("audit", "CASES"): test_audit.test_every_case_without_a_name,
    ("audit", "--max-seconds"): test_limits.test_max_seconds,
    ("audit", "--max-memory"): test_limits.test_max_memory,
    ("audit", "--jobs"): test_limits.test_jobs,
    ("audit", "--fix"): test_fix.test_fix_corrects_in_place_and_tells,
    ("audit", "--diff"): test_fix.test_diff_is_a_patch_that_git_takes,
    ("audit", "--format text"): test_audit.test_text,
    ("audit", "--format json"): test_audit.test_json,
    ("audit", "--format github"): test_audit.test_github,
    ("audit", "--format sarif"): test_audit.test_sarif,
    ("audit", "--format errata"): test_audit.test_errata,
    ("audit", "--format html"): test_audit.test_the_red_pen_in_html,
    ("audit", "--format md"): test_markdown.test_markdown,
    ("audit", "--format docx"): test_word.test_word,
    ("audit", "--format tex"): test_audit.test_the_red_pen_in_latex,
    ("audit", "--format pdf"): test_audit.test_the_red_pen,
    ("audit", "-o"): test_audit.test_output,
    ("audit", "--output"): test_audit.test_output,
    ("audit", "--strict"): test_audit.test_exit_code,
    ("audit", "--all"): test_audit.test_text,
    ("audit", "--corpus"): test_corpora.test_a_corpus,
    ("audit", "--executor"): test_corpora.test_bad_use,
    ("audit", "--watch"): test_corpora.test_bad_use,
    ("exercise", "--executor"): test_corpora.test_exercises_by_a_cluster,
    ("vectors", "--executor"): test_corpora.test_vectors_by_a_cluster,
    ("read", "ARTICLE"): test_read.test_text,
    ("read", "--format text"): test_read.test_text,
    ("read", "--format json"): test_read.test_json,
    ("read", "--format toml"): test_read.test_toml,
    ("read", "-o"): test_read.test_toml,
    ("read", "--output"): test_read.test_output,
    ("read", "--max-seconds"): test_read.test_limits,
    ("read", "--max-memory"): test_read.test_limits,
    ("read", "--allow-outside"): test_read.test_a_side_file,
    ("derive", "NAMES"): test_derive.test_every_derivation_without_a_name,
    ("derive", "--format text"): test_derive.test_text,
    ("derive", "--format html"): test_derive.test_html,
    ("derive", "--format md"): test_markdown.test_markdown,
    ("derive", "--format docx"): test_word.test_word,
    ("derive", "--format tex"): test_derive.test_pages,
    ("derive", "--format pdf"): test_derive.test_pages,
    ("derive", "--format json"): test_derive.test_json,
    ("derive", "-o"): test_derive.test_json_in_a_folder,
    ("derive", "--output"): test_derive.test_pages,
    ("derive", "--strict"): test_derive.test_strict,
    ("derive", "--words"): test_derive.test_words_of_a_text,
    ("derive", "--from"): test_derive.test_the_gradients_of_a_case_are_lines,
    ("derive", "--text"): test_derive.test_the_gradients_of_a_case_are_lines,
    ("derive", "--format certificate"): test_derive.test_a_certificate_is_written_and_replayed,
    ("derive", "--replay"): test_derive.test_a_certificate_is_written_and_replayed,
    ("derive", "--max-seconds"): test_derive.test_limits,
    ("derive", "--max-memory"): test_derive.test_limits,
    ("sheet", "--allow-outside"): test_extends.test_sheets_of_what_is_outside,
    ("draw", "--allow-outside"): test_extends.test_drawing_what_is_outside,
    ("show", "--allow-outside"): test_extends.test_showing_what_is_outside,
    ("verify", "--allow-outside"): test_extends.test_verifying_what_is_outside,
    ("audit", "--allow-outside"): test_extends.test_auditing_what_is_outside,
    ("exercise", "CASE"): test_exercise.test_a_question,
    ("exercise", "-o"): test_exercise.test_versions_with_solutions,
    ("exercise", "--output"): test_exercise.test_versions_with_solutions,
    ("exercise", "--level forward"): test_exercise.test_levels,
    ("exercise", "--level masked"): test_exercise.test_levels,
    ("exercise", "--level backward"): test_exercise.test_levels,
    ("exercise", "--level proof"): test_exercise.test_levels,
    ("exercise", "--solutions"): test_exercise.test_versions_with_solutions,
    ("exercise", "--versions"): test_exercise.test_versions_with_solutions,
    ("exercise", "--seed"): test_exercise.test_another_seed,
    ("exercise", "--largest"): test_exercise.test_places_and_numbers,
    ("exercise", "--ties"): test_exercise.test_places_and_numbers,
    ("exercise", "--places"): test_exercise.test_places_and_numbers,
    ("exercise", "--format html"): test_exercise.test_standard_output,
    ("exercise", "--format md"): test_markdown.test_markdown,
    ("exercise", "--format docx"): test_word.test_word,
    ("exercise", "--format tex"): test_exercise.test_standard_output,
    ("exercise", "--format pdf"): test_exercise.test_a_pdf,
    ("exercise", "--format moodle"): test_exercise.test_questions_for_moodle,
    ("exercise", "--format qti"): test_exercise.test_packages_of_qti,
    ("exercise", "--format stack"): test_exercise.test_a_stack_question,
    ("exercise", "--paper letter"): test_exercise.test_language_and_paper,
    ("exercise", "--language"): test_exercise.test_language_and_paper,
    ("exercise", "--header"): test_exercise.test_letterhead,
    ("exercise", "--logo"): test_exercise.test_letterhead,
    ("exercise", "--interactive"): test_exercise.test_interactive,
    ("exercise", "--students"): test_paper.test_one_version_is_bound_for_students_only,
    ("exercise", "--count-from"): test_exercise.test_what_rows_are_counted_from,
    ("exercise", "--detail full"): test_paper.test_a_solution_works_every_row_or_one,
    ("exercise", "--detail brief"): test_paper.test_a_solution_works_every_row_or_one,
    ("exercise", "--strict"): test_exercise.test_a_pdf,
    ("exercise", "--jobs"): test_exercise.test_places_and_numbers,
    ("exercise", "--paper a4"): test_exercise.test_language_and_paper,
    ("exercise", "--max-seconds"): test_limits.test_max_seconds,
    ("exercise", "--max-memory"): test_limits.test_max_memory,
    ("exercise", "--allow-outside"): test_extends.test_exercises_of_what_is_outside,
    ("mark", "ANSWERS"): test_mark.test_text,
    ("mark", "--key"): test_mark.test_output,
    ("mark", "--begin"): test_mark.test_a_table_to_be_filled,
    ("mark", "-o"): test_mark.test_output,
    ("mark", "--output"): test_mark.test_output,
    ("mark", "--format text"): test_mark.test_text,
    ("mark", "--format csv"): test_mark.test_csv,
    ("mark", "--format json"): test_mark.test_json,
    ("mark", "--language"): test_mark.test_language,
    ("mark", "--max-seconds"): test_mark.test_limits,
    ("mark", "--max-memory"): test_mark.test_limits,
    ("mark", "--jobs"): test_mark.test_limits,
    ("lsp", "--max-seconds"): test_lsp.test_limits,
    ("lsp", "--max-memory"): test_lsp.test_limits,
    ("new", "FILE"): test_new.test_the_example_is_right,
    ("new", "--from"): test_new.test_from_a_bundled_case,
    ("new", "--max-seconds"): test_limits.test_max_seconds,
    ("new", "--max-memory"): test_limits.test_max_memory,
    ("new", "--allow-outside"): test_extends.test_starting_from_what_is_outside,
    ("seal", "NAMES"): test_seal.test_figures_are_stated,
    ("seal", "--lines"): test_seal.test_lines_of_ones_own,
    ("seal", "-o"): test_seal.test_checked,
    ("seal", "--output"): test_seal.test_an_article,
    ("seal", "--check"): test_seal.test_checked,
    ("seal", "--places"): test_seal.test_places,
    ("seal", "--format text"): test_seal.test_text,
    ("seal", "--format json"): test_seal.test_json,
    ("seal", "--max-seconds"): test_limits.test_max_seconds,
    ("seal", "--max-memory"): test_limits.test_max_memory,
    ("seal", "--jobs"): test_limits.test_jobs,
    ("seal", "--allow-outside"): test_extends.test_sealing_what_is_outside,
    ("sheet", "--sealed"): test_seal.test_a_sheet_tells_its_seal,
    ("derive", "--sealed"): test_seal.test_a_derivation_tells_its_seal,
    ("vectors", "--suite"): test_vectors.test_vectors,
    ("vectors", "-o"): test_vectors.test_vectors,
    ("vectors", "--output"): test_vectors.test_any_number_of_jobs,
    ("vectors", "--dtype"): test_vectors.test_vectors,
    ("vectors", "--seeds"): test_vectors.test_vectors,
    ("vectors", "--format all"): test_vectors.test_vectors,
    ("vectors", "--format safetensors"): test_vectors.test_any_number_of_jobs,
    ("vectors", "--format json"): test_vectors.test_any_number_of_jobs,
    ("vectors", "--jobs"): test_vectors.test_any_number_of_jobs,
    ("vectors", "--max-seconds"): test_vectors.test_what_is_stopped_is_a_line,
    ("vectors", "--max-memory"): test_vectors.test_what_is_stopped_is_a_line,
    ("live", "ARTICLE"): test_live.test_live_and_plain,
    ("live", "-o"): test_live.test_output,
    ("live", "--output"): test_live.test_output,
    ("live", "--force"): test_live.test_output,
    ("live", "--plain"): test_live.test_live_and_plain,
    ("live", "--case"): test_live.test_case,
    ("live", "--for myst"): test_live.test_for_whom,
    ("live", "--for pandoc"): test_live.test_for_whom,
    ("live", "--max-seconds"): test_live.test_bad_use,
    ("live", "--max-memory"): test_live.test_bad_use,
    ("live", "--allow-outside"): test_live.test_live_of_what_is_outside,
    ("myst", "--allow-outside"): test_live.test_myst_of_what_is_outside,
    ("pandoc", "--allow-outside"): test_live.test_pandoc_of_what_is_outside,
    ("myst", "--role"): test_live.test_the_protocol_of_myst,
    ("myst", "--directive"): test_live.test_the_protocol_of_myst,
    ("myst", "--transform"): test_live.test_the_protocol_of_myst,
    **{
        (name, limit): test_live.test_limits
        for name in ("myst", "pandoc")
        for limit in ("--max-seconds", "--max-memory")
    },
    ("pandoc", "TARGET"): test_live.test_the_filter_of_pandoc,
    ("pandoc", "--strict"): test_live.test_the_filter_of_pandoc,
    **{
        (name, "--force"): test_overwriting.test_what_symattn_did_not_write
        for name in (
            "audit",
            "derive",
            "draw",
            "exercise",
            "mark",
            "read",
            "seal",
            "sheet",
            "vectors",
        )
    },
}
#: Each exit code other than 0 that a command may end with. ``list``,
#: ``show`` and ``new`` check nothing that could fail.
ENDS = {
    ("list", 2): test_list.test_bad_usage,
    ("sheet", 1): test_sheet.test_strict,
    ("sheet", 2): test_sheet.test_a_failing_engine,
    ("draw", 2): test_draw.test_bad_use,
    ("show", 2): test_streams.test_questions_without_an_answer,
    ("seal", 1): test_seal.test_what_is_not_proved_is_stated_and_told,
    ("seal", 2): test_seal.test_without_coq,
    ("verify", 1): test_verify.test_exit_code,
    ("verify", 2): test_streams.test_the_faults_of_all_cases_together,
    ("audit", 1): test_audit.test_exit_code,
    ("audit", 2): test_audit.test_a_failing_engine,
    ("read", 2): test_read.test_bad_input,
    ("derive", 1): test_derive.test_every_line_has_a_status,
    ("derive", 2): test_faults.test_bad_use,
    ("exercise", 1): test_exercise.test_a_pdf,
    ("exercise", 2): test_exercise.test_bad_use,
    ("mark", 2): test_mark.test_bad_input,
    ("lsp", 2): test_lsp.test_without_the_extra,
    ("new", 2): test_new.test_nothing_is_overwritten,
    ("live", 2): test_live.test_bad_use,
    ("myst", 2): test_live.test_no_tree,
    ("pandoc", 1): test_live.test_the_filter_of_pandoc,
    ("pandoc", 2): test_live.test_no_tree,
    ("vectors", 1): test_vectors.test_what_is_stopped_is_a_line,
    ("vectors", 2): test_vectors.test_what_there_is_not,
}


def commands():
    """Each command with its name, and the group of all with none."""
    # The package holds a function by the name of its module, which has the group.
    group = sys.modules[entrance.__module__].__dict__["_group"]
    context = click.Context(group)
    return {"": group} | {
        name: group.get_command(context, name) for name in group.list_commands(context)
    }


def words(name, command):
    """Every word that a command takes: names of arguments, flags, flags with each choice."""
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            yield name, parameter.name.upper()
        elif isinstance(parameter.type, click.Choice):
            yield from (
                (name, f"{parameter.opts[0]} {choice}") for choice in parameter.type.choices
            )
        else:
            yield from ((name, flag) for flag in (*parameter.opts, *parameter.secondary_opts))
    if not name:
        context = click.Context(command, **command.context_settings)
        yield from ((name, flag) for flag in command.get_help_option_names(context))


def test_every_word_has_a_test() -> None:
    """The table has every parameter of every command, and nothing that no command takes."""
    known = {pair for name, command in commands().items() for pair in words(name, command)}
    assert set(TESTS) == known


@pytest.mark.parametrize(("command", "word"), TESTS)
def test_the_test_uses_the_word(command, word) -> None:
    """The test named in the table runs the command, with the flag and its choice."""
    source = inspect.getsource(TESTS[command, word])
    # Choices and flags stand in quotation marks, in a list or in words of their own.
    wanted = [] if word.isupper() else word.split()
    for piece in filter(None, [command, *wanted]):
        assert re.search(rf'"{re.escape(piece)}"', source), piece


@pytest.mark.parametrize(
    ("command", "flag", "default"),
    [
        ("sheet", "-o, --output DIR", "sheets"),
        ("sheet", "--jobs N", "1"),
        ("draw", "-o, --output DIR|FILE.svg", "drawings"),
        ("draw", "--what [all|pattern|flow|gradients]", "all"),
        ("show", "--places INTEGER", "6"),
        ("show", "--max-seconds S", "300"),
        ("show", "--max-memory MB", "2048"),
        ("show", "--format [text|latex|json]", "text"),
        ("verify", "--format [text|json]", "text"),
        ("audit", "--format [text|json|github|sarif|errata|html|tex|md|docx|pdf]", "text"),
        ("read", "--format [text|json|toml]", "text"),
        ("exercise", "-o, --output DIR", "exercises"),
        ("exercise", "--format [html|tex|md|docx|pdf|moodle|stack|qti]", "html"),
        ("vectors", "--suite NAME", "standard"),
        ("vectors", "-o, --output DIR", "vectors"),
        ("vectors", "--format [all|safetensors|json]", "all"),
    ],
)
def test_the_help_names_defaults(command, flag, default, symattn) -> None:
    """What a flag is without a word stands behind it in the help."""
    text = " ".join(symattn(command, "--help").out.partition("Options:")[2].split())
    about = text.partition(f"{flag} ")[2].partition(" -")[0]
    # What a number may be stands behind its default.
    assert re.search(rf"\[default: {re.escape(default)}(; x>=\d)?\]$", about)


def test_every_exit_code_has_a_test() -> None:
    """Each command has a test for each way to end that its help and the group's tell of."""
    held = commands()
    epilog = " ".join(held.pop("").epilog.split())
    assert epilog == "Exit codes: 0 success, 1 a check failed, 2 wrong usage or input."
    # What a help says of 1 is there; the others can't fail a check.
    failing = {name for name, command in held.items() if ends_with_one(command)}
    assert failing == {
        "sheet",
        "verify",
        "audit",
        "derive",
        "exercise",
        "vectors",
        "pandoc",
        "seal",
    }
    assert set(ENDS) == {(name, 2) for name in held} | {(name, 1) for name in failing}


def ends_with_one(command):
    """Whether a command's help, or that of one of its flags, tells of exit code 1."""
    texts = [command.help, *(getattr(parameter, "help", "") or "" for parameter in command.params)]
    return any(re.search(r"[Ee]xits?\s+with\s+1\b", text) for text in texts)


@pytest.mark.parametrize(("command", "code"), ENDS)
def test_the_test_runs_the_command(command, code) -> None:
    """The test named in the table runs that command and looks at the exit code."""
    source = inspect.getsource(ENDS[command, code])
    assert f'"{command}"' in source
    assert ".code" in source
