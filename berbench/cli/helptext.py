"""How a verb's line is read and its `--help` looks: arguments as they are typed, limits in words, nothing of the
program's own types, and no option that another of its name hides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typer.core import TyperArgument, TyperCommand, TyperOption

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

MAY_BE_EMPTY = ("description",)

_LIMITS = re.compile(r"(?:([\d.e+-]+)<=)?x<=([\d.e+-]+)|x>=([\d.e+-]+)")


class Verb(TyperCommand):
    """A command whose help says `NAME` and `1 to 256`, where the library would say `{NAME} <str>` and `1<=x<=256`."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """An option that has one value and is given two is an error, and so is what is given as nothing, like
        `--cell "$UNSET"`: no choice, gate or ceiling may vanish unseen."""
        values, _, given = self.make_parser(ctx).parse_args(args=list(args))
        if not ctx.resilient_parsing:
            options = [param for param in given if isinstance(param, TyperOption) and not param.is_flag]
            for number, option in enumerate(options):
                if not option.multiple and option in options[:number]:
                    ctx.fail(f"{option.opts[0]} is given twice.")
            for param in given:
                if param.name not in MAY_BE_EMPTY and _is_empty(values.get(param.name or "")):
                    ctx.fail(
                        f"{_name(param) if isinstance(param, TyperArgument) else param.opts[0]} is empty."
                    )
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """`[OPTIONS] NAME [KEY]`."""
        return ["[OPTIONS]", *(_typed(param) for param in self.params if isinstance(param, TyperArgument))]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Arguments, then options."""
        arguments, options = [], []
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                arguments.append((_name(param), param.help or ""))
            elif record := param.get_help_record(ctx):
                options.append((record[0], _LIMITS.sub(_in_words, record[1])))
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _is_empty(value: object) -> bool:
    """Whether a text was given with nothing in it, or one of several."""
    texts = value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(text, str) and not text.strip() for text in texts)


def _name(argument: TyperArgument) -> str:
    return argument.metavar or (argument.name or "").upper()


def _typed(argument: TyperArgument) -> str:
    name = _name(argument) if argument.required else f"[{_name(argument)}]"
    return name if argument.nargs == 1 else f"{name}..."


def _in_words(limits: re.Match[str]) -> str:
    """`1<=x<=16` → `1 to 16`, `x>=1` → `at least 1`, `x<=9` → `at most 9`."""
    low, high, least = (text and f"{float(text):.15g}" for text in limits.groups())
    if least:
        return f"at least {least}"
    return f"{low} to {high}" if low else f"at most {high}"
