# Handouts in a headless Chromium, with real clicks, keys and touches.
source "$(dirname "$0")/../cli/lib.sh"
python3 "$TRIESCOPE_SOURCE/tests/browser/handout.py" "$TRIESCOPE" "$TRIESCOPE_SOURCE/tests/fixtures/captures" "$work"
status=$?
[[ $status == 0 ]] || exit "$status"
finish
