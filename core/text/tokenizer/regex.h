// Regex: one compiled pattern over UTF-8 (PCRE2 with JIT). Whitespace classes mean Unicode's
// White_Space, as in the engine for which the tokenizer files were written. Immutable; any number
// of threads may match.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace triescope::tokenizer {

class Regex {
 public:
  // Error{kNotSupported} says the pattern and what is wrong with it.
  explicit Regex(const std::string& pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  // Finds all non-overlapping, non-empty matches as [begin, end) bytes. `text` must be valid UTF-8.
  // Error{kNotSupported}: matching needs too much time or memory.
  void find_all(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& out) const;

  // `literal` with everything escaped that is special.
  static std::string escape(const std::string& literal);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::tokenizer
