# EAGLE's published code, over a checkout of it: recorded, and its trees as our own run of the same head drafts them.
[[ -n ${TRIESCOPE_EAGLE:-} && -n ${TRIESCOPE_EAGLE_SITE:-} ]] || { echo "[SKIPPED] TRIESCOPE_EAGLE and TRIESCOPE_EAGLE_SITE name no checkout"; exit 77; }
source "$(dirname "$0")/_lib.sh"
run_tests tests.test_eagle_published
