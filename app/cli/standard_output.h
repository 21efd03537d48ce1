// Standard output, checked in one place for all commands: output that could not be written is an
// error.
#pragma once

namespace triescope::app {

// Must be called first. A closed pipe then refuses output, where a signal would end the program
// without a message. Descriptors that the caller closed are taken, so that no file of ours gets one
// of their numbers and is printed into.
void prepare_standard_output();

// Writes what is still buffered. Error{kIoError}: that, or earlier output, could not be written.
void flush_standard_output();

}  // namespace triescope::app
