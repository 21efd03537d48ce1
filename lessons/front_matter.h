// Front matter: what a lesson says about itself before its first step, one entry a line: "minutes:
// 8". A value may be in double quotes; \n, \" and \\ then mean what they do elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace triescope::lessons {

struct FrontMatter {
  std::string title, summary;
  int minutes = 0;
  // The run that the lesson is about: a capture beside it, and how that capture was made (without
  // one, how the run is made).
  std::string capture;  // plain file name; "" = the run is decoded when the lesson opens
  std::string model;    // short name; "" = the default
  std::string draft;    // the same for the draft model or head that the method needs; "" = none
  std::string method;
  // The program that recorded `capture`, where that was another one: triescope cannot decode the run again.
  // "" = it can.
  std::string program;
  std::map<std::string, std::string> settings;
  std::string prompt;
  bool chat = false;
  int max_new_tokens = 16;
  std::uint64_t seed = 0;
  std::string next;   // plain file name of the lesson that follows; "" = none
  int body_line = 1;  // the first line behind the front matter
};

// Reads it from the beginning of `text`; `rest` is what follows. Error{kCorruption}: "FILE:LINE:
// …".
FrontMatter read_front_matter(std::string_view text, const std::string& path,
                              std::string_view& rest);

// Whether it is the name of a file in the lesson's own folder: no '/', no "..", not hidden, usual
// characters.
bool is_plain_file_name(std::string_view name);

}  // namespace triescope::lessons
