# The Python package: its recorder, what the program makes of what it writes, runs of the program written again, the examples of
# docs/python.md. With the system's python3 and the standard library; tests of adapters skip themselves where their libraries are missing.
source "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { echo "[SKIPPED] no python3"; exit 77; }
cd "$TRIESCOPE_SOURCE/python" || exit 1
export PYTHONDONTWRITEBYTECODE=1
python3 -W ignore -m unittest discover -t . -s tests >"$work/log" 2>&1 || { tail -60 "$work/log"; failures=1; }
tail -3 "$work/log"
finish
