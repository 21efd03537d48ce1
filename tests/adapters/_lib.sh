# The Python package's adapters against the real libraries, in the venv that tools/adapters/setup makes (TRIESCOPE_ADAPTERS: another one).
venv=${TRIESCOPE_ADAPTERS:-$TRIESCOPE_SOURCE/.deps/adapters}
[[ -x $venv/bin/python ]] || { echo "[SKIPPED] tools/adapters/setup has not run"; exit 77; }
cd "$TRIESCOPE_SOURCE/python" || exit 1
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}

# run_tests MODULE…: every one must run; a test that skips itself lacks something that set-up brings.
run_tests() {
  local log
  log=$(mktemp)
  "$venv/bin/python" -W ignore -m unittest -v "$@" >"$log" 2>&1
  local code=$?
  ((code == 0)) && tail -4 "$log" || tail -60 "$log"
  if ((code == 0)) && grep -q "skipped '" "$log"; then
    echo "[SKIPPED] $(grep -om1 "skipped '.*" "$log")"
    code=77
  fi
  rm -f "$log"
  exit "$code"
}
