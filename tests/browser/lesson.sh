# Lessons as pages in a headless Chromium, with real clicks, keys and touches.
source "$(dirname "$0")/../cli/lib.sh"
python3 "$TRIESCOPE_SOURCE/tests/browser/lesson.py" "$TRIESCOPE" "$work"
status=$?
[[ $status == 0 ]] || exit "$status"
finish
