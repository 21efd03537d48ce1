# Asks a doctest program for its cases and writes an add_test() for each. In: PROGRAM, RUNNER (run_case), AREA, OUT, TIMEOUT
# (seconds), CACHE (a folder instead of the user's cache, whose runs are not the tests' to add to or delete). Called after each link.
execute_process(COMMAND "${PROGRAM}" --list-test-cases --no-colors=true --no-version=true
    OUTPUT_VARIABLE output RESULT_VARIABLE result ERROR_VARIABLE error TIMEOUT 60)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --list-test-cases failed (${result}): ${output}${error}")
endif()

# CMake lists split at ; and mind [ ]: both are hidden while the lines are walked.
string(REPLACE ";" "@SEMICOLON@" output "${output}")
string(REPLACE "[" "@OPEN@" output "${output}")
string(REPLACE "]" "@CLOSE@" output "${output}")
string(REPLACE "\n" ";" lines "${output}")
# Programs that run a real model for long use every core by themselves: each runs alone.
set(PROCESSORS 1)
if(AREA MATCHES "^(contract|golden|gui)$")
  set(PROCESSORS 64)
endif()
set(script "")
set(count 0)
foreach(line IN LISTS lines)
  if(line STREQUAL "" OR line MATCHES "^(===|@OPEN@doctest@CLOSE@)")
    continue()
  endif()
  string(REPLACE "@SEMICOLON@" ";" name "${line}")
  string(REPLACE "@OPEN@" "[" name "${name}")
  string(REPLACE "@CLOSE@" "]" name "${name}")
  # doctest splits a filter at commas.
  string(REPLACE "," "\\," filter "${name}")
  string(APPEND script "add_test([==[${AREA}: ${name}]==] [==[${RUNNER}]==] [==[${PROGRAM}]==] [==[--test-case=${filter}]==])\n"
      "set_tests_properties([==[${AREA}: ${name}]==] PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${TIMEOUT} LABELS ${AREA} PROCESSORS ${PROCESSORS}\n"
      "    ENVIRONMENT [==[XDG_CACHE_HOME=${CACHE}]==])\n")
  math(EXPR count "${count} + 1")
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} holds no test case")
endif()
file(WRITE "${OUT}" "${script}")
