// Takes the parts of a handout's page apart again.
#pragma once

#include <doctest/doctest.h>
#include <glib.h>
#include <zlib.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace triescope::test {

// The text between the first `from` and the next `to`.
inline std::string between(const std::string& text, const std::string& from,
                           const std::string& to) {
  const auto begin = text.find(from);
  REQUIRE(begin != std::string::npos);
  const auto end = text.find(to, begin + from.size());
  REQUIRE(end != std::string::npos);
  return text.substr(begin + from.size(), end - begin - from.size());
}

// Unpacks packed_data(), with zlib's and GLib's own readers.
inline std::string unpacked(const std::string& base64) {
  gsize size = 0;
  const std::unique_ptr<guchar, decltype(&g_free)> bytes(g_base64_decode(base64.c_str(), &size),
                                                         &g_free);
  std::string text;
  z_stream stream = {};
  REQUIRE(inflateInit(&stream) == Z_OK);
  stream.next_in = bytes.get();
  stream.avail_in = static_cast<uInt>(size);
  int result = Z_OK;
  while (result == Z_OK) {
    char piece[1 << 16];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, sizeof piece - stream.avail_out);
  }
  inflateEnd(&stream);
  REQUIRE(result == Z_STREAM_END);
  return text;
}

inline nlohmann::json data_of(const std::string& page) {
  return nlohmann::json::parse(
      unpacked(between(page, "<script type=\"text/plain\" id=\"run\">", "</script>")));
}

// Reads stretches as pictures.js does.
inline std::vector<std::size_t> numbers_of(const nlohmann::json& stretches) {
  std::vector<std::size_t> numbers;
  std::ptrdiff_t at = 0;
  for (std::size_t i = 0; i < stretches.size(); i += 2) {
    at += stretches[i].get<std::ptrdiff_t>();
    for (const auto end = at + stretches[i + 1].get<std::ptrdiff_t>(); at < end; ++at)
      numbers.push_back(static_cast<std::size_t>(at));
  }
  return numbers;
}

// The texts of a pane's picture, joined by '|'.
inline std::string texts_of(const nlohmann::json& page, const nlohmann::json& pane,
                            std::size_t step) {
  std::string out;
  for (const std::size_t number : numbers_of(pane["pictures"][step]))
    if (const auto& look = page["looks"].at(pane["elements"].at(3 * number).get<std::size_t>());
        look[0] == 6)
      out += look[5].get<std::string>() + "|";
  return out;
}

}  // namespace triescope::test
