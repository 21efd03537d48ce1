// Carries the precompiled header that tests share (tests/CMakeLists.txt).
