// The one error type. Every failure that a caller can meet is thrown as Error: a code to branch on,
// and a message that says what was expected, what was found and what to do. Code that can go on
// without the result catches it (a panel, a preview, a search for files); the session thread and
// main() catch the rest.
#pragma once

#include <stdexcept>
#include <string>

namespace triescope {

enum class ErrorCode {
  kInvalidArgument,  // a parameter out of range; an unknown option, method or panel
  kNotFound,         // no such file
  kCorruption,       // a file that contradicts itself: model, tokenizer, capture
  kNotSupported,  // well-formed, but needs something that we do not support (the message names it)
  kIoError,       // the system refused: permission, disk full
  kOutOfMemory,   // host or device memory
  kCuda,          // a CUDA call failed or no driver answers
  kCancelled,     // the user cancelled it
};

// "invalid argument", "not found", ...
const char* to_string(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// The command line's exit code for an error: 2 usage, 3 bad input, 4 failed while running, 130
// interrupted.
int exit_code(ErrorCode code);

}  // namespace triescope
