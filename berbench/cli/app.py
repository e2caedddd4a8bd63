"""The program: its verbs, and the one place where errors become a sentence and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from typer.main import get_command

from berbench import __version__
from berbench.cli import (
    clean,
    console,
    demo,
    doctor,
    experiment_create,
    experiment_list,
    experiment_show,
    experiment_validate,
    init,
    regrade,
    report,
    run,
    schema,
    show_error,
    task_audit,
    task_create,
    task_lint,
    task_list,
    task_scan,
    task_show,
    task_validate,
    task_verify,
    tool_list,
    tool_show,
)
from berbench.cli.helptext import Verb
from berbench.cli.options import Settings
from berbench.errors import BerbenchError, Interrupted

app = typer.Typer(
    name="berbench",
    help="Your own merged pull requests as proven coding tasks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
task_app = typer.Typer(
    help="Find, create, review and prove tasks.", no_args_is_help=True, rich_markup_mode=None
)

experiment_app = typer.Typer(
    help="Write and check what is compared.", no_args_is_help=True, rich_markup_mode=None
)
tool_app = typer.Typer(help="The agents that can be compared.", no_args_is_help=True, rich_markup_mode=None)

app.command("init", cls=Verb)(init.init)
app.command("doctor", cls=Verb)(doctor.doctor)
app.command("demo", cls=Verb)(demo.demo)
app.command("clean", cls=Verb)(clean.clean)
app.command("schema", cls=Verb)(schema.schema)
app.command("run", cls=Verb)(run.run)
app.command("report", cls=Verb)(report.report)
app.command("regrade", cls=Verb)(regrade.regrade)
app.add_typer(task_app, name="task")
task_app.command("scan", cls=Verb)(task_scan.scan)
task_app.command("create", cls=Verb)(task_create.create)
task_app.command("lint", cls=Verb)(task_lint.lint)
task_app.command("show", cls=Verb)(task_show.show)
task_app.command("list", cls=Verb)(task_list.list_tasks)
task_app.command("validate", cls=Verb)(task_validate.validate)
task_app.command("verify", cls=Verb)(task_verify.verify)
task_app.command("audit", cls=Verb)(task_audit.audit)
app.add_typer(experiment_app, name="experiment")
experiment_app.command("create", cls=Verb)(experiment_create.create)
experiment_app.command("validate", cls=Verb)(experiment_validate.validate)
experiment_app.command("show", cls=Verb)(experiment_show.show)
experiment_app.command("list", cls=Verb)(experiment_list.list_experiments)
app.add_typer(tool_app, name="tool")
tool_app.command("list", cls=Verb)(tool_list.list_tools)
tool_app.command("show", cls=Verb)(tool_show.show)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"berbench {__version__}")
        raise typer.Exit


@app.callback()
def _settings(
    context: typer.Context,
    repository: Annotated[
        Path | None,
        typer.Option(
            "--repository", "-C", metavar="FOLDER", help="The repository to work on [default: here]."
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    context.obj = Settings(repository=repository or Path.cwd())


def _stopped(_signal: int, _frame: FrameType | None) -> None:
    # As by Ctrl-C, and no BerbenchError: those are caught wherever one task's trouble must not be another's.
    raise KeyboardInterrupt


def _in_utf8() -> None:
    """Begin again in Python's UTF-8 mode where the locale has another encoding.

    Names in git are bytes that are read as UTF-8 throughout, and given back to the system as such. What is
    printed keeps the locale's encoding.
    """
    if sys.getfilesystemencoding() != "utf-8":
        os.environ.setdefault("PYTHONIOENCODING", getattr(sys.stdout, "encoding", "utf-8"))
        os.execv(sys.executable, [sys.executable, "-P", "-X", "utf8", "-m", "berbench", *sys.argv[1:]])


@cache
def _program() -> Callable[..., int | None]:
    """The verbs with their options, put together once however often the program runs in this process."""
    return get_command(app)


def main() -> None:
    """Run the program and end the process with the exit code that the outcome deserves."""
    _in_utf8()
    for number in (
        signal.SIGTERM,
        signal.SIGHUP,
    ):  # a closed terminal is no reason to leave containers behind
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` asked for that
            signal.signal(number, _stopped)
    console.prepare()
    try:
        code = _program()(standalone_mode=False)
        if code == Interrupted.exit_code:  # what Ctrl-C has become on its way here
            raise KeyboardInterrupt
        console.flush()
    except BerbenchError as error:
        show_error.expected(error)
        code = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        show_error.expected(Interrupted("Stopped."))
        code = Interrupted.exit_code
    except show_error.CommandLineError as error:
        code = show_error.usage(error)
    except Exception as error:
        code = show_error.bug(error)
    sys.exit(code or 0)
