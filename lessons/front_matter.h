// Front matter: what a lesson says of itself before its first step, a line each: "minutes: 8". A
// value may stand in double quotes; then \n, \" and \\ mean what they do elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace triescope::lessons {

struct FrontMatter {
  std::string title, summary;
  int minutes = 0;
  // The run it is about: a capture beside the lesson, and how that was (or, without one, is) made.
  std::string capture;  // plain file name; "" = the run is decoded when the lesson opens
  std::string model;    // short name; "" = the default
  std::string draft;    // the same, of the draft model or head that the method needs; "" = none
  std::string method;
  std::map<std::string, std::string> settings;
  std::string prompt;
  bool chat = false;
  int max_new_tokens = 16;
  std::uint64_t seed = 0;
  std::string next;   // plain file name of the lesson that follows; "" = none
  int body_line = 1;  // the first line behind it
};

// Reads it from the beginning of `text`; `rest`: what follows. Error{kCorruption}: "FILE:LINE: …".
FrontMatter read_front_matter(std::string_view text, const std::string& path,
                              std::string_view& rest);

// A name of a file in the lesson's own folder: no '/', no "..", not hidden, of usual characters.
bool is_plain_file_name(std::string_view name);

}  // namespace triescope::lessons
