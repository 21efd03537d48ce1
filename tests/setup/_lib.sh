# For the tests of scripts/setup: a copy of the scripts in a folder of its own, cut off from every package index.
set -euo pipefail
export TRIESCOPE_SKIP_PACKAGES=1
unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL TRIESCOPE_TORCH_SET
export PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL=http://127.0.0.1:9/simple PIP_NO_CACHE_DIR=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$TRIESCOPE_SOURCE/scripts" "$work/"

skip() {
  echo "[SKIPPED] $1"
  exit 77
}
die() {
  echo "FAILED: $1"
  echo "--- output:"
  cat "$work/output" 2>/dev/null || true
  exit 1
}
setup() { "$work/scripts/setup" >"$work/output" 2>&1; }

# What the project's own set-up fetched, without a copy of it.
borrow_libtorch() {
  local real=$TRIESCOPE_SOURCE/.deps
  [[ -d $real/venv && -e $real/stamps/model && -e $real/stamps/imgui ]] || skip "scripts/setup has not been run in this checkout"
  mkdir -p "$work/.deps/models"
  ln -s "$real/venv" "$work/.deps/venv"
  ln -s "$real/imgui" "$work/.deps/imgui"
  ln -s "$real/draft" "$work/.deps/draft"
  cp -r "$real/stamps" "$work/.deps/stamps"
  [[ -e $real/stamps/torch-cuda ]] || export TRIESCOPE_TORCH_SET=cpu
}
