"""python -m triescope view|text|import"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from typing import List, Optional

from . import __version__
from .importer import import_file
from .reader import Run
from .text import step_text


def program() -> Optional[str]:
    """The program that opens captures: $TRIESCOPE, or on the PATH."""
    named = os.environ.get("TRIESCOPE")
    if named:
        return named if os.access(named, os.X_OK) else None
    return shutil.which("triescope")


def view(path: str, out: Optional[str]) -> int:
    """The window where there are the program and a display, else the handout: a page for a browser."""
    Run(path).close()
    found = program()
    if found is None:
        print(f"{path}: expected the program triescope on the PATH (or TRIESCOPE=/path/to/triescope), found none; build it, "
              f"or read a step as text: python -m triescope text {path} --step 1", file=sys.stderr)
        return 4
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return subprocess.call([found, path])
    page = out or os.path.splitext(path)[0] + ".html"
    code = subprocess.call([found, "export", path, "--format", "html", "-o", page, "--quiet"])
    if code == 0:
        print(f"no display: the run as a page is {page}")
    return code


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser("triescope", description="captures of your own decoder")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("view", help="open the window; without it write the run as a page")
    one.add_argument("capture")
    one.add_argument("-o", "--output", help="the page's name")
    two = commands.add_parser("text", help="a step as plain text, for a bug report")
    two.add_argument("capture")
    two.add_argument("--step", type=int, default=None, help="default: the last")
    three = commands.add_parser("import", help="lines of {step, n_draft, n_accepted, pos}, or vLLM's per_step_accepted")
    three.add_argument("file")
    three.add_argument("-o", "--output", help="default: the file's name with .tscap")
    given = parser.parse_args(arguments)
    try:
        if given.command == "view":
            return view(given.capture, given.output)
        if given.command == "text":
            with Run(given.capture) as run:
                steps = run.steps
                step = given.step if given.step is not None else steps[-1].step if steps else 0
                sys.stdout.write(step_text(run, step))
            return 0
        for name in import_file(given.file, given.output):
            print(f"{name} written")
        return 0
    except (OSError, ValueError) as error:
        print(f"triescope: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
