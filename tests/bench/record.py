"""Keeps what a benchmark measured: a row of docs/measurements.csv for each figure (scripts/measure add)."""
import pathlib
import subprocess


def record(machine, question, command, figures):
    """figures: (case, figure, unit)."""
    measure = pathlib.Path(__file__).parents[2] / "scripts/measure"
    for case, figure, unit in figures:
        text = f"{figure:.{2 if figure < 10 else 1 if figure < 100 else 0}f}"
        subprocess.run([measure, "add", question, case, text, unit, "--machine", machine, "--command", command], check=True)
