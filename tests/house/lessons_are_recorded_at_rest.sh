# scripts/record_lessons: a busy machine records nothing, of several runs the median stays, and how far they lie apart is said.
set -euo pipefail
cd "$TRIESCOPE_SOURCE"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# In the program's place: records a run whose one phase takes as long as the next number in a file.
cat > "$folder/triescope" <<'P'
#!/usr/bin/env python3
import pathlib, sqlite3, sys
here = pathlib.Path(sys.argv[0]).parent
times = (here / "times").read_text().split()
(here / "times").write_text(" ".join(times[1:] + times[:1]))
path = here / "run.tscap"
path.unlink(missing_ok=True)
db = sqlite3.connect(path)
db.execute("create table run (model_json text, recorder text)")
db.execute("insert into run values ('{\"path\": \"/models/m.gguf\"}', 'this machine')")
db.execute("create table phase (tick integer, duration_us integer)")
db.execute("insert into phase values (0, ?)", (int(times[0]),))
db.commit()
P
chmod +x "$folder/triescope"
printf -- '---\ntitle: T\ncapture: run.tscap\nprompt: P\n---\n## A\n' > "$folder/lesson.md"

TRIESCOPE="$folder/triescope" FOLDER="$folder" python3 -B - <<'P'
import contextlib, importlib.machinery, importlib.util, io, os, pathlib, sqlite3

folder = pathlib.Path(os.environ["FOLDER"])
loader = importlib.machinery.SourceFileLoader("record_lessons", "scripts/record_lessons")
script = importlib.util.module_from_spec(importlib.util.spec_from_loader("record_lessons", loader))
loader.exec_module(script)
lesson = str(folder / "lesson.md")

def run(times, load, *arguments):
    """What it prints, and why it ended (None: well)."""
    (folder / "times").write_text(times)
    os.getloadavg = lambda: (load, 0, 0)
    os.cpu_count = lambda: 4
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            script.main([*arguments, lesson])
    except SystemExit as end:
        return said.getvalue(), str(end.code)
    return said.getvalue(), None

def kept():
    return sqlite3.connect(folder / "run.tscap").execute("select duration_us from phase").fetchone()[0]

said, why = run("1000", 3.5)
assert "a load of 3.5 on 4 cores, expected at most 1.0" in why and not (folder / "run.tscap").exists(), (said, why)

said, why = run("1040 1000 1100 1010 1200", 0.2)
assert why is None and "spread 19% over 5 runs" in said and kept() == 1040, (said, why, kept())
assert sqlite3.connect(folder / "run.tscap").execute("select * from run").fetchone() == ('{"path": "m.gguf"}', "")

said, why = run("1000 3000 1001", 0.2, "--runs", "3")
assert "run.tscap: the runs lie more than 25% apart" in why and kept() == 1001, (said, why)

said, why = run("1000 3000 1001", 3.5, "--runs", "3", "--busy")
assert why is None and said.count("warning: ") == 2, (said, why)
P
