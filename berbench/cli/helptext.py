"""How a verb's line is read and its `--help` looks: arguments as they are typed, limits in words, nothing of the
program's own types, and no option that another of its name hides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typer.core import TyperArgument, TyperCommand, TyperOption

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

_LIMITS = re.compile(r"(?:([\d.e+-]+)<=)?x<=([\d.e+-]+)|x>=([\d.e+-]+)")


class Verb(TyperCommand):
    """A command whose help says `NAME` and `1 to 256`, where the library would say `{NAME} <str>` and `1<=x<=256`."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """An option that has one value and is given two is an error: a gate or a ceiling must not vanish unseen."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        options = [param for param in given if isinstance(param, TyperOption) and not param.is_flag]
        for number, option in enumerate(options):
            if not option.multiple and option in options[:number] and not ctx.resilient_parsing:
                ctx.fail(f"{option.opts[0]} is given twice.")
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
