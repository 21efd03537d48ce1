# A capture that comes with the program names no folder of the machine that recorded it: no text of its row in `run` holds an absolute path.
set -euo pipefail
cd "$TRIESCOPE_SOURCE"
python3 -B - assets/lessons/*.tscap tests/fixtures/captures/*.tscap <<'P'
import pathlib, re, shutil, sqlite3, sys, tempfile

# /home/a, ~/a, C:\a, file:///a; not 1/2, https://a, </s> or a slash within base64.
PATH = re.compile(r"(?<![\w.:/+~<])(?:~?/|[A-Za-z]:[\\/])[\w.\\-]|file:/+\w")


def paths_in(capture):
    """What stands around the first absolute path of each column."""
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal"):  # of a killed run the journal holds what was written last; opening would change it
            if pathlib.Path(capture + end).is_file():
                shutil.copy(capture + end, pathlib.Path(folder, "copy.tscap" + end))
        db = sqlite3.connect(pathlib.Path(folder, "copy.tscap"))
        rows = db.execute("select * from run").fetchall()
        names = [column[1] for column in db.execute("pragma table_info(run)")]
        db.close()
    assert len(rows) == 1, f"{capture}: expected one run, found {len(rows)}"
    texts = [(name, value) for name, value in zip(names, rows[0]) if isinstance(value, str)]
    found = [(name, value, PATH.search(value)) for name, value in texts]
    return [f"{name}: …{value[max(0, at.start() - 20):at.end() + 40]}…" for name, value, at in found if at]


captures = sys.argv[1:]
assert len(captures) >= 2 and all(pathlib.Path(one).is_file() for one in captures), captures
bad = [f"{capture}: {text}" for capture in captures for text in paths_in(capture)]
if bad:
    sys.exit("FAILED: expected file names alone, found paths; record it again with scripts/record_lessons or take them out:\n" + "\n".join(bad))

# The check can fail, in every column, and not by other slashes.
with tempfile.TemporaryDirectory() as folder:
    made = pathlib.Path(folder, "made.tscap")
    paths = ('{"path": "/home/a/m.gguf"}', "no file /m.gguf", r"C:\models\m.gguf", r'"D:\\m.gguf"', "~/m.gguf", "see file:///m.gguf")
    others = ("https://a.b/c", "1/2 and/or </s>", '{"vocabulary": "BADu/////v/7+//w="}', "m.gguf", "at 12:30")
    db = sqlite3.connect(made)
    columns = [f"c{i}" for i in range(len(paths + others))]
    db.execute(f"create table run ({', '.join(name + ' text' for name in columns)})")
    db.execute(f"insert into run values ({', '.join('?' * len(columns))})", paths + others)
    db.commit()
    db.close()
    seen = [text.split(":")[0] for text in paths_in(str(made))]
    assert seen == columns[:len(paths)], seen
P
