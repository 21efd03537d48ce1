# llama-cpp-python, greedy and sampling: texts as without recording, and nothing for the doctor.
source "$(dirname "$0")/_lib.sh"
run_tests tests.test_llama_cpp
