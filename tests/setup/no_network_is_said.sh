# A download that fails: exit 1, what failed and what to do, and nothing that a later call would take for done.
source "$(dirname "$0")/_lib.sh"
if setup; then die "expected a failure"; fi
grep -q "setup failed: .*cannot be reached.*libtorch" "$work/output" || die "expected to read that libtorch could not be fetched"
grep -q "to do: check the network" "$work/output" || die "expected to read what to do"
[[ -z $(ls "$work/.deps/stamps") ]] || die "a stamp was left: $(ls "$work/.deps/stamps")"
