#include "app/window/workspace/open_place.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace triescope::app {
namespace {

struct Place {
  std::optional<std::int32_t> step, node;
};

std::vector<std::string_view> parts_of(std::string_view place) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = place.find('/');
    parts.push_back(place.substr(0, end));
    if (end == std::string_view::npos) return parts;
    place.remove_prefix(end + 1);
  }
}

Place parse_place(const std::string& text) {
  const Error bad(ErrorCode::kInvalidArgument,
                  "--open: expected step/12, node/57 or step/12/node/57, found '" + text + "'");
  const auto parts = parts_of(text);
  Place place;
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    if (i + 1 >= parts.size()) throw bad;
    const std::string_view digits = parts[i + 1];
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) throw bad;
    if (parts[i] == "step" && i == 0)
      place.step = number;
    else if (parts[i] == "node" && !place.node)
      place.node = number;
    else
      throw bad;
  }
  return place;
}

[[noreturn]] void not_found(const std::string& path, const std::string& what, std::int32_t number,
                            const std::string& there) {
  throw Error(ErrorCode::kNotFound,
              "--open: " + path + " has no " + what + " " + std::to_string(number) + there);
}

}  // namespace

PlaceInRun find_place(const capture::Capture& run, const std::string& path,
                      const std::string& text) {
  const Place place = parse_place(text);
  const std::int32_t last = run.last_step();
  if (place.step && (*place.step < 0 || *place.step > last))
    not_found(path, "step", *place.step,
              last < 0 ? "; it has no steps" : "; its steps are 0 to " + std::to_string(last));
  capture::Tick cursor =
      place.step ? capture::make_tick(*place.step + 1, capture::Phase::kDraft) : 0;
  if (place.node) {
    const auto nodes = static_cast<std::int64_t>(run.nodes().size());
    const auto prompt = static_cast<std::int64_t>(run.run().prompt_tokens.size());
    const std::int32_t node = *place.node;
    const bool is_there = node >= 0 ? node < nodes : node <= -2 && -2 - node < prompt;
    if (!is_there)
      not_found(
          path, "node", node,
          (nodes == 0 ? std::string("; it has no nodes")
                      : "; its nodes are 0 to " + std::to_string(nodes - 1)) +
              (prompt == 0 ? ""
                           : ", its prompt's tokens -2 down to " + std::to_string(-1 - prompt)));
    const std::int32_t born =
        node < 0 ? 0 : capture::step_of(run.nodes()[static_cast<std::size_t>(node)].tick);
    if (!place.step)
      cursor = capture::make_tick(born + 1, capture::Phase::kDraft);
    else if (*place.step < born)
      not_found(path, "node", node,
                " yet in step " + std::to_string(*place.step) + ": it comes in step " +
                    std::to_string(born));
  }
  return {std::min(cursor, run.end_tick()), place.node.value_or(-1)};
}

void open_place(Documents& documents, Document& document, const std::string& text) {
  const PlaceInRun place = find_place(*document.capture, document.path, text);
  if (place.node != -1) document.focus.locked = place.node;
  documents.set_cursor_of(document, place.cursor);
}

}  // namespace triescope::app
