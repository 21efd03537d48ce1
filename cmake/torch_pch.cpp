// Carries the precompiled header that the translation units with torch share
// (core/kernels/CMakeLists.txt).
