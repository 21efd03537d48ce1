// SharedList: things that pictures have in common, each kept once. A picture is then a few
// stretches of their numbers: what stays from step to step costs nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace triescope::viz {

class SharedList {
 public:
  // The numbers of these things, in order, as stretches that follow each other: [d,n,d,n,…]. A
  // stretch has n consecutive numbers and begins d behind the end of the previous one (0 at first).
  // New things are numbered in the order in which they come.
  std::string stretches(std::span<const std::string> things);
  std::size_t number_of(const std::string& thing);
  std::size_t size() const { return things_.size(); }
  // [thing,thing,…]; things are JSON themselves, or several values with commas.
  std::string json() const;

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<const std::string*> things_;  // keys of index_
};

}  // namespace triescope::viz
