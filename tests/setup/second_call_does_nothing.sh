# A second set-up fetches nothing and says nothing: no index can be reached here.
source "$(dirname "$0")/_lib.sh"
borrow_libtorch
ln -s "$(readlink -f "$TRIESCOPE_SOURCE/.deps/models/SmolLM2-135M-Instruct.Q4_1.gguf")" "$work/.deps/models/"
setup || die "expected exit 0"
[[ ! -s $work/output ]] || die "expected no output"
