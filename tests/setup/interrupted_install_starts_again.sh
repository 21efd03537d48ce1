# Killed while pip was installing: the venv is made again, however complete its packages look.
source "$(dirname "$0")/_lib.sh"
mkdir -p "$work/.deps/stamps" "$work/.deps/venv/lib"
echo "libtorch" >"$work/.deps/stamps/installing"
touch "$work/.deps/venv/lib/half"
if setup; then die "expected a failure: there is no index"; fi
grep -q "interrupted while it installed libtorch" "$work/output" || die "expected to read about the interruption"
[[ ! -e $work/.deps/venv/lib/half ]] || die "the half venv was kept"
