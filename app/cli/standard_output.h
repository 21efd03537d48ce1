// Standard output, looked after once for all commands: what could not be written is an error.
#pragma once

namespace triescope::app {

// First of all: a closed pipe then refuses what is written, where a signal would end the program without
// a word. Descriptors that the caller closed are taken, so that no file of ours is opened as one of them
// and printed into.
void prepare_standard_output();

// Writes what is still held back. Error{kIoError}: it, or something before it, could not be written.
void flush_standard_output();

}  // namespace triescope::app
