# generate() of transformers: greedy, sampling, beams, prompt lookup, an assistant. Texts as without recording, decisions as in our own runs.
source "$(dirname "$0")/_lib.sh"
run_tests tests.test_transformers
