#include "core/text/tokenizer/add_tokens.h"

#include <algorithm>

#include "core/text/tokenizer/spec_json.h"

namespace triescope::tokenizer {

void add_tokens(const std::string& file, const std::vector<AddedToken>& tokens,
                TokenizerSpec& spec) {
  if (tokens.empty()) return;
  TokenIds ids;
  std::int32_t of_model = 0, next = 0;
  for (std::size_t i = 0; i < spec.vocab.size(); ++i)
    if (!spec.vocab[i].empty()) {
      ids.emplace(spec.vocab[i], static_cast<std::int32_t>(i));
      ++of_model;
    }
  std::unordered_map<std::int32_t, std::size_t> places;  // index in spec.added
  for (std::size_t i = 0; i < spec.added.size(); ++i) {
    if (!spec.added[i].in_model) --of_model;
    next = std::max(next, spec.added[i].id + 1);
    places.emplace(spec.added[i].id, i);
  }
  next = std::max(next, of_model);
  for (AddedToken token : tokens) {
    if (token.content.empty()) continue;
    check_length(file, token.content);
    const auto known = ids.find(token.content);
    token.in_model = known != ids.end();
    token.id = token.in_model ? known->second : next;
    token.was_normalized = token.normalized;
    const auto place = places.find(token.id);
    if (place != places.end()) {
      AddedToken& before = spec.added[place->second];
      token.in_model = before.in_model;
      token.special = token.special || before.special;
      token.was_normalized = token.was_normalized || before.was_normalized;
      before = token;
      continue;
    }
    if (!token.in_model) {
      const auto id = static_cast<std::size_t>(token.id);
      if (spec.vocab.size() <= id) spec.vocab.resize(id + 1);
      if (!spec.vocab[id].empty())
        corrupt(file, "the token '" + token.content + "' gets the id " + std::to_string(id) +
                          ", but the vocabulary has '" + spec.vocab[id] +
                          "' there; expected a vocabulary without gaps");
      spec.vocab[id] = token.content;
      ids.emplace(token.content, token.id);
    }
    next = std::max(next, token.id + 1);
    places.emplace(token.id, spec.added.size());
    spec.added.push_back(token);
  }
}

}  // namespace triescope::tokenizer
