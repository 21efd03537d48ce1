# EAGLE's published layout: a small model in it, recorded.
source "$(dirname "$0")/_lib.sh"
run_tests tests.test_eagle
