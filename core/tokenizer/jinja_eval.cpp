#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/tokenizer/jinja_nodes.h"
#include "core/tokenizer/unicode.h"

namespace triescope::tokenizer::jinja {
namespace {

bool truthy(const Value& value) {
  if (const auto* b = value.get<bool>()) return *b;
  if (const auto* i = value.get<std::int64_t>()) return *i != 0;
  if (const auto* d = value.get<double>()) return *d != 0;
  if (const auto* s = value.get<std::string>()) return !s->empty();
  if (const List* list = value.list()) return !list->empty();
  if (const Dict* dict = value.dict()) return !dict->empty();
  return value.get<std::shared_ptr<Function>>() != nullptr;
}

std::optional<double> number(const Value& value) {
  if (const auto* b = value.get<bool>()) return *b;
  if (const auto* i = value.get<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* d = value.get<double>()) return *d;
  return std::nullopt;
}

const char* kind_of(const Value& value) {
  static constexpr const char* kNames[] = {"undefined", "none",     "a boolean",
                                           "a number",  "a number", "a string",
                                           "a list",    "a dict",   "a function"};
  return kNames[value.data.index()];
}

bool equal(const Value& a, const Value& b) {
  if (number(a) && number(b)) return *number(a) == *number(b);
  if (a.data.index() != b.data.index()) return false;
  if (const auto* s = a.get<std::string>()) return *s == *b.get<std::string>();
  if (const List* list = a.list())
    return std::equal(list->begin(), list->end(), b.list()->begin(), b.list()->end(), equal);
  if (const Dict* dict = a.dict()) {
    if (dict->size() != b.dict()->size()) return false;
    for (const auto& [key, value] : *dict) {
      const auto found = std::find_if(b.dict()->begin(), b.dict()->end(),
                                      [&](const auto& entry) { return entry.first == key; });
      if (found == b.dict()->end() || !equal(value, found->second)) return false;
    }
    return true;
  }
  return a.is_none() || a.is_undefined();
}

std::string float_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e16) {
    char text[40];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
  }
  return nlohmann::json(value).dump();
}

// Python's repr of a string.
std::string quoted(const std::string& text) {
  const bool double_quotes =
      text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else
      out += c;
  }
  return out + quote;
}

std::string text_of(const Value& value, bool nested = false) {
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const auto* b = value.get<bool>()) return *b ? "True" : "False";
  if (const auto* i = value.get<std::int64_t>()) return std::to_string(*i);
  if (const auto* d = value.get<double>()) return float_text(*d);
  if (const auto* s = value.get<std::string>()) return nested ? quoted(*s) : *s;
  std::string out;
  if (const List* list = value.list()) {
    for (const Value& entry : *list) out += (out.empty() ? "" : ", ") + text_of(entry, true);
    return "[" + out + "]";
  }
  if (const Dict* dict = value.dict()) {
    for (const auto& [key, entry] : *dict)
      out += (out.empty() ? "" : ", ") + quoted(key) + ": " + text_of(entry, true);
    return "{" + out + "}";
  }
  return "<function>";
}

nlohmann::ordered_json to_json(const Value& value) {
  if (const auto* b = value.get<bool>()) return *b;
  if (const auto* i = value.get<std::int64_t>()) return *i;
  if (const auto* d = value.get<double>()) return *d;
  if (const auto* s = value.get<std::string>()) return *s;
  if (const List* list = value.list()) {
    auto array = nlohmann::ordered_json::array();
    for (const Value& entry : *list) array.push_back(to_json(entry));
    return array;
  }
  if (const Dict* dict = value.dict()) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [key, entry] : *dict) object[key] = to_json(entry);
    return object;
  }
  return nullptr;
}

// json.dumps(ensure_ascii=False): ", " and ": " between, no new lines unless indented.
std::string python_json(const nlohmann::ordered_json& json, int indent, int level = 0) {
  const std::string gap =
      indent >= 0 ? "\n" + std::string(static_cast<std::size_t>(indent * (level + 1)), ' ') : "";
  const std::string end =
      indent >= 0 ? "\n" + std::string(static_cast<std::size_t>(indent * level), ' ') : "";
  const std::string comma = indent >= 0 ? "," : ", ";
  if (json.is_object() || json.is_array()) {
    if (json.empty()) return json.is_object() ? "{}" : "[]";
    std::string out;
    for (const auto& [key, value] : json.items()) {
      out += (out.empty() ? "" : comma) + gap;
      if (json.is_object()) out += nlohmann::json(key).dump() + ": ";
      out += python_json(value, indent, level + 1);
    }
    return json.is_object() ? "{" + out + end + "}" : "[" + out + end + "]";
  }
  if (json.is_number_float()) return float_text(json.get<double>());
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text, at));
    out.push_back(text.substr(at, length));
    at += length;
  }
  return out;
}

std::string stripped(const std::string& text, const std::string& set, bool left, bool right) {
  const auto parts = characters(text);
  const auto in_set = [&](const std::string& c) {
    return set.empty() ? is_whitespace(decode_utf8(c, 0)) : set.find(c) != std::string::npos;
  };
  std::size_t begin = 0, end = parts.size();
  while (left && begin < end && in_set(parts[begin])) ++begin;
  while (right && end > begin && in_set(parts[end - 1])) --end;
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += parts[i];
  return out;
}

std::string mapped(std::string text, int (*change)(int)) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x80)
      c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return text;
}

std::string title(std::string text) {
  bool inside = false;
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) c = static_cast<char>(inside ? std::tolower(byte) : std::toupper(byte));
    inside = std::isalpha(byte) || byte >= 0x80;
  }
  return text;
}

std::string capitalized(std::string text) {
  text = mapped(std::move(text), std::tolower);
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != std::string::npos;
       at = found + from.size())
    out += text.substr(at, found - at) + to;
  return out + text.substr(at);
}

const Value* lookup(const Dict& dict, const std::string& key) {
  for (const auto& [name, value] : dict)
    if (name == key) return &value;
  return nullptr;
}

enum class Flow : std::uint8_t { kNext, kBreak, kContinue };

class Evaluator {
 public:
  Evaluator(const Dict& globals, const Limits& limits) : limits_(limits) {
    scopes_.push_back(globals);
    define("range", [this](const Arguments& a) {
      const auto value = [&](std::size_t i, std::int64_t fallback) {
        return i < a.positional.size() && number(a.positional[i])
                   ? static_cast<std::int64_t>(*number(a.positional[i]))
                   : fallback;
      };
      const bool one = a.positional.size() < 2;
      const std::int64_t start = one ? 0 : value(0, 0), stop = one ? value(0, 0) : value(1, 0),
                         step = value(2, 1);
      List list;
      for (std::int64_t i = start; step > 0 ? i < stop : step < 0 && i > stop; i += step) {
        count();
        list.push_back(i);
      }
      return Value(std::move(list));
    });
    const Function make_dict = [](const Arguments& a) {
      Dict dict;
      for (const auto& [name, value] : a.named) dict.emplace_back(name, value);
      return Value(std::move(dict));
    };
    define("namespace", make_dict);
    define("dict", make_dict);
    define("raise_exception", [](const Arguments& a) -> Value {
      throw Error(ErrorCode::kInvalidArgument,
                  "the chat template refuses this conversation: " + text_of(a.get(0, "message")));
    });
  }

  std::string run(const Node& root) {
    execute(root);
    return std::move(out_);
  }

 private:
  void define(const char* name, Function function) {
    scopes_.front().emplace_back(name, Value(std::move(function)));
  }

  void count() {
    if (++steps_ > limits_.steps)
      throw Error(ErrorCode::kNotSupported, "chat template: more than " +
                                                std::to_string(limits_.steps) +
                                                " steps; it may loop for ever");
  }
  void print(const std::string& text) {
    if (out_.size() + text.size() > limits_.output_bytes)
      throw Error(
          ErrorCode::kNotSupported,
          "chat template: more than " + std::to_string(limits_.output_bytes) + " bytes of output");
    out_ += text;
  }

  Value* find(const std::string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      for (auto& [key, value] : *scope)
        if (key == name) return &value;
    return nullptr;
  }
  void assign(const std::string& name, Value value) {
    for (auto& [key, old] : scopes_.back())
      if (key == name) {
        old = std::move(value);
        return;
      }
    scopes_.back().emplace_back(name, std::move(value));
  }
  void unpack(const std::vector<std::string>& names, const Value& value, int line) {
    if (names.size() == 1) return assign(names[0], value);
    const List* list = value.list();
    if (!list || list->size() != names.size())
      refuse(line, "unpacking " + std::string(kind_of(value)) + " into " +
                       std::to_string(names.size()) + " names");
    for (std::size_t i = 0; i < names.size(); ++i) assign(names[i], (*list)[i]);
  }

  // What a for loop or `in` walks over.
  List items_of(const Value& value, int line) {
    if (const List* list = value.list()) return *list;
    List out;
    if (const Dict* dict = value.dict()) {
      for (const auto& [key, entry] : *dict) out.push_back(key);
    } else if (const auto* text = value.get<std::string>()) {
      for (std::string& c : characters(*text)) out.push_back(std::move(c));
    } else if (!value.is_undefined()) {
      refuse(line, std::string("a loop over ") + kind_of(value));
    }
    return out;
  }

  Flow execute(const Node& node) {
    count();
    switch (node.op) {
      case Op::kBlock:
        for (const auto& child : node.children)
          if (const Flow flow = execute(*child); flow != Flow::kNext) return flow;
        return Flow::kNext;
      case Op::kText:
        print(node.text);
        return Flow::kNext;
      case Op::kPrint:
        print(text_of(evaluate(*node.children[0])));
        return Flow::kNext;
      case Op::kIf:
        if (truthy(evaluate(*node.condition))) return execute(*node.body);
        return node.other ? execute(*node.other) : Flow::kNext;
      case Op::kFor:
        return loop(node);
      case Op::kSet: {
        Value value = evaluate(*node.children[0]);
        if (node.text.empty()) {
          unpack(node.names, value, node.line);
          return Flow::kNext;
        }
        Value* target = find(node.names[0]);
        Dict* dict = target ? target->dict() : nullptr;
        if (!dict) refuse(node.line, "setting an attribute of " + node.names[0]);
        for (auto& [key, old] : *dict)
          if (key == node.text) {
            old = std::move(value);
            return Flow::kNext;
          }
        dict->emplace_back(node.text, std::move(value));
        return Flow::kNext;
      }
      case Op::kSetBlock: {
        std::string outer = std::exchange(out_, {});
        execute(*node.body);
        assign(node.names[0], Value(std::exchange(out_, std::move(outer))));
        return Flow::kNext;
      }
      case Op::kMacro:
        assign(node.text, Value(Function([this, &node](const Arguments& arguments) {
                 return call_macro(node, arguments);
               })));
        return Flow::kNext;
      case Op::kBreak:
        return Flow::kBreak;
      case Op::kContinue:
        return Flow::kContinue;
      default:
        refuse(node.line, "this statement");
    }
  }

  Flow loop(const Node& node) {
    List items = items_of(evaluate(*node.children[0]), node.line);
    if (node.condition) {
      List kept;
      for (Value& item : items) {
        scopes_.emplace_back();
        unpack(node.names, item, node.line);
        const bool keep = truthy(evaluate(*node.condition));
        scopes_.pop_back();
        if (keep) kept.push_back(std::move(item));
      }
      items = std::move(kept);
    }
    if (items.empty()) return node.other ? execute(*node.other) : Flow::kNext;
    const auto size = static_cast<std::int64_t>(items.size());
    for (std::int64_t i = 0; i < size; ++i) {
      count();
      scopes_.emplace_back();
      const auto at = static_cast<std::size_t>(i);
      Dict info = {{"index", i + 1},       {"index0", i},
                   {"revindex", size - i}, {"revindex0", size - i - 1},
                   {"first", i == 0},      {"last", i + 1 == size},
                   {"length", size}};
      if (i > 0) info.emplace_back("previtem", items[at - 1]);
      if (i + 1 < size) info.emplace_back("nextitem", items[at + 1]);
      assign("loop", Value(std::move(info)));
      unpack(node.names, items[at], node.line);
      const Flow flow = execute(*node.body);
      scopes_.pop_back();
      if (flow == Flow::kBreak) break;
    }
    return Flow::kNext;
  }

  Value call_macro(const Node& node, const Arguments& arguments) {
    if (++depth_ > limits_.depth)
      refuse(node.line, "macros nested deeper than " + std::to_string(limits_.depth));
    std::vector<Dict> saved(scopes_.begin() + 1,
                            scopes_.end());  // a macro sees the globals and what it is given
    Dict parameters;
    for (std::size_t i = 0; i < node.names.size(); ++i) {
      Value value = arguments.get(i, node.names[i]);
      if (value.is_undefined() && node.named[i].second) value = evaluate(*node.named[i].second);
      parameters.emplace_back(node.names[i], std::move(value));
    }
    scopes_.resize(1);
    scopes_.push_back(std::move(parameters));
    std::string outer = std::exchange(out_, {});
    execute(*node.body);
    Value result(std::exchange(out_, std::move(outer)));
    scopes_.resize(1);
    scopes_.insert(scopes_.end(), saved.begin(), saved.end());
    --depth_;
    return result;
  }

  Value evaluate(const Node& node) {
    count();
    switch (node.op) {
      case Op::kLiteral:
        return node.value;
      case Op::kName: {
        const Value* value = find(node.text);
        return value ? *value : Value();
      }
      case Op::kList:
      case Op::kTuple: {
        List list;
        for (const auto& child : node.children) list.push_back(evaluate(*child));
        return list;
      }
      case Op::kDict: {
        Dict dict;
        for (std::size_t i = 0; i + 1 < node.children.size(); i += 2)
          dict.emplace_back(text_of(evaluate(*node.children[i])), evaluate(*node.children[i + 1]));
        return dict;
      }
      case Op::kAttribute:
        return member(evaluate(*node.children[0]), Value(node.text), node.line, node.text);
      case Op::kIndex:
        return member(evaluate(*node.children[0]), evaluate(*node.children[1]), node.line, "");
      case Op::kSlice:
        return slice(node);
      case Op::kCall:
        return call(node);
      case Op::kFilter:
        return filter(node);
      case Op::kTest:
        return test(node);
      case Op::kNot:
        return !truthy(evaluate(*node.children[0]));
      case Op::kNegate: {
        const Value value = evaluate(*node.children[0]);
        if (const auto* i = value.get<std::int64_t>()) return -*i;
        if (number(value)) return -*number(value);
        refuse(node.line, std::string("minus ") + kind_of(value));
      }
      case Op::kAnd: {
        Value left = evaluate(*node.children[0]);
        return truthy(left) ? evaluate(*node.children[1]) : left;
      }
      case Op::kOr: {
        Value left = evaluate(*node.children[0]);
        return truthy(left) ? left : evaluate(*node.children[1]);
      }
      case Op::kTernary:
        if (truthy(evaluate(*node.condition))) return evaluate(*node.body);
        return node.other ? evaluate(*node.other) : Value();
      case Op::kBinary:
        return binary(node, evaluate(*node.children[0]), evaluate(*node.children[1]));
      case Op::kCompare:
        return compare(node, evaluate(*node.children[0]), evaluate(*node.children[1]));
      default:
        refuse(node.line, "this expression");
    }
  }

  Value binary(const Node& node, const Value& a, const Value& b) {
    const std::string& op = node.text;
    if (op == "~") return text_of(a) + text_of(b);
    if (op == "+" && a.get<std::string>() && b.get<std::string>())
      return *a.get<std::string>() + *b.get<std::string>();
    if (op == "+" && a.list() && b.list()) {
      List list = *a.list();
      list.insert(list.end(), b.list()->begin(), b.list()->end());
      return list;
    }
    if (op == "*" && a.get<std::string>() && b.get<std::int64_t>()) {
      std::string text;
      for (std::int64_t i = 0; i < *b.get<std::int64_t>() && text.size() < limits_.output_bytes;
           ++i) {
        count();
        text += *a.get<std::string>();
      }
      return text;
    }
    const auto x = number(a), y = number(b);
    if (!x || !y)
      refuse(node.line, std::string("'") + op + "' between " + kind_of(a) + " and " + kind_of(b));
    const bool integers = !a.get<double>() && !b.get<double>();
    if ((op == "/" || op == "//" || op == "%") && *y == 0) refuse(node.line, "division by zero");
    if (op == "/") return *x / *y;
    const double result = op == "+"    ? *x + *y
                          : op == "-"  ? *x - *y
                          : op == "*"  ? *x * *y
                          : op == "//" ? std::floor(*x / *y)
                                       : *x - std::floor(*x / *y) * *y;
    if (integers && std::abs(result) < 9e15) return static_cast<std::int64_t>(result);
    return result;
  }

  Value compare(const Node& node, const Value& a, const Value& b) {
    const std::string& op = node.text;
    if (op == "==") return equal(a, b);
    if (op == "!=") return !equal(a, b);
    if (op == "in" || op == "not in") {
      bool found = false;
      if (const auto* text = b.get<std::string>()) {
        if (!a.get<std::string>())
          refuse(node.line, std::string("'in' a string with ") + kind_of(a));
        found = text->find(*a.get<std::string>()) != std::string::npos;
      } else if (b.is_undefined() || b.is_none()) {
        refuse(node.line, std::string("'in' ") + kind_of(b));
      } else {
        for (const Value& item : items_of(b, node.line)) found |= equal(a, item);
      }
      return found == (op == "in");
    }
    int order = 0;
    if (number(a) && number(b))
      order = *number(a) < *number(b) ? -1 : *number(a) > *number(b);
    else if (a.get<std::string>() && b.get<std::string>())
      order = a.get<std::string>()->compare(*b.get<std::string>());
    else
      refuse(node.line, std::string("'") + op + "' between " + kind_of(a) + " and " + kind_of(b));
    return op == "<" ? order < 0 : op == ">" ? order > 0 : op == "<=" ? order <= 0 : order >= 0;
  }

  Value member(const Value& value, const Value& key, int line, const std::string& attribute) {
    if (const Dict* dict = value.dict()) {
      const Value* found = lookup(*dict, text_of(key));
      return found ? *found : Value();
    }
    if (const auto* index = key.get<std::int64_t>()) {
      const auto at = [&](std::int64_t size) { return *index < 0 ? *index + size : *index; };
      if (const List* list = value.list()) {
        const std::int64_t i = at(static_cast<std::int64_t>(list->size()));
        return i >= 0 && i < static_cast<std::int64_t>(list->size())
                   ? (*list)[static_cast<std::size_t>(i)]
                   : Value();
      }
      if (const auto* text = value.get<std::string>()) {
        const auto parts = characters(*text);
        const std::int64_t i = at(static_cast<std::int64_t>(parts.size()));
        return i >= 0 && i < static_cast<std::int64_t>(parts.size())
                   ? Value(parts[static_cast<std::size_t>(i)])
                   : Value();
      }
    }
    if (value.is_undefined() || value.is_none()) {
      if (value.is_undefined())
        refuse(line,
               "'" + (attribute.empty() ? text_of(key) : attribute) + "' of something undefined");
      return Value();
    }
    return Value();
  }

  Value slice(const Node& node) {
    const Value value = evaluate(*node.children[0]);
    List items;
    const auto* text = value.get<std::string>();
    if (text) {
      for (std::string& c : characters(*text)) items.push_back(std::move(c));
    } else if (value.list()) {
      items = *value.list();
    } else {
      refuse(node.line, std::string("a slice of ") + kind_of(value));
    }
    const auto size = static_cast<std::int64_t>(items.size());
    const auto part = [&](std::size_t i) -> std::optional<std::int64_t> {
      if (!node.children[i]) return std::nullopt;
      const auto result = number(evaluate(*node.children[i]));
      return result ? std::optional(static_cast<std::int64_t>(*result)) : std::nullopt;
    };
    const std::int64_t step = part(3).value_or(1);
    if (step == 0) refuse(node.line, "a slice with step 0");
    const auto clamp = [&](std::int64_t i) {
      if (i < 0) i += size;
      return step > 0 ? std::clamp<std::int64_t>(i, 0, size)
                      : std::clamp<std::int64_t>(i, -1, size - 1);
    };
    const std::int64_t start = part(1) ? clamp(*part(1)) : step > 0 ? 0 : size - 1;
    const std::int64_t stop = part(2) ? clamp(*part(2)) : step > 0 ? size : -1;
    List chosen;
    std::string chosen_text;
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
      if (text)
        chosen_text += *items[static_cast<std::size_t>(i)].get<std::string>();
      else
        chosen.push_back(items[static_cast<std::size_t>(i)]);
    }
    if (text) return chosen_text;
    return chosen;
  }

  Arguments arguments_of(const Node& node) {
    Arguments arguments;
    for (std::size_t i = 1; i < node.children.size(); ++i)
      arguments.positional.push_back(evaluate(*node.children[i]));
    for (const auto& [name, value] : node.named)
      arguments.named.emplace_back(name, evaluate(*value));
    return arguments;
  }

  Value call(const Node& node) {
    const Node& callee = *node.children[0];
    if (callee.op == Op::kAttribute) {
      const Value object = evaluate(*callee.children[0]);
      const Arguments arguments = arguments_of(node);
      if (const Dict* dict = object.dict()) {
        if (const Value* value = lookup(*dict, callee.text);
            value && value->get<std::shared_ptr<Function>>())
          return (**value->get<std::shared_ptr<Function>>())(arguments);
      }
      return method(object, callee.text, arguments, node.line);
    }
    const Value function = evaluate(callee);
    if (!function.get<std::shared_ptr<Function>>())
      refuse(node.line, "calling '" + callee.text + "'");
    return (**function.get<std::shared_ptr<Function>>())(arguments_of(node));
  }

  Value method(const Value& object, const std::string& name, const Arguments& a, int line) {
    const auto text_argument = [&](std::size_t i) {
      return i < a.positional.size() ? text_of(a.positional[i]) : std::string();
    };
    if (const auto* s = object.get<std::string>()) {
      if (name == "strip") return stripped(*s, text_argument(0), true, true);
      if (name == "lstrip") return stripped(*s, text_argument(0), true, false);
      if (name == "rstrip") return stripped(*s, text_argument(0), false, true);
      if (name == "upper") return mapped(*s, std::toupper);
      if (name == "lower") return mapped(*s, std::tolower);
      if (name == "title") return title(*s);
      if (name == "capitalize") return capitalized(*s);
      if (name == "replace") return replaced(*s, text_argument(0), text_argument(1));
      if (name == "startswith" || name == "endswith") {
        const auto matches = [&](const std::string& part) {
          return part.size() <= s->size() &&
                 s->compare(name == "startswith" ? 0 : s->size() - part.size(), part.size(),
                            part) == 0;
        };
        const Value which = a.get(0, "prefix");
        if (const List* list = which.list())
          return std::any_of(list->begin(), list->end(),
                             [&](const Value& v) { return matches(text_of(v)); });
        return matches(text_argument(0));
      }
      if (name == "find") {
        const auto at = s->find(text_argument(0));
        return at == std::string::npos
                   ? std::int64_t{-1}
                   : static_cast<std::int64_t>(characters(s->substr(0, at)).size());
      }
      if (name == "count") {
        std::int64_t found = 0;
        const std::string part = text_argument(0);
        for (std::size_t at = 0; !part.empty() && (at = s->find(part, at)) != std::string::npos;
             at += part.size())
          ++found;
        return found;
      }
      if (name == "split" || name == "splitlines" || name == "rsplit") {
        List parts;
        const std::string separator = name == "splitlines" ? "\n" : text_argument(0);
        std::int64_t left = a.positional.size() > 1 && number(a.positional[1])
                                ? static_cast<std::int64_t>(*number(a.positional[1]))
                                : -1;
        if (name == "rsplit") {
          if (separator.empty()) refuse(line, "rsplit without a separator");
          std::string rest = *s;
          for (std::size_t at; left != 0 && (at = rest.rfind(separator)) != std::string::npos;
               --left) {
            parts.insert(parts.begin(), Value(rest.substr(at + separator.size())));
            rest.resize(at);
          }
          parts.insert(parts.begin(), Value(rest));
          return parts;
        }
        if (separator.empty()) {
          std::string word;
          for (const std::string& c : characters(*s)) {
            if (!is_whitespace(decode_utf8(c, 0))) {
              word += c;
            } else if (!word.empty()) {
              parts.push_back(std::exchange(word, {}));
            }
          }
          if (!word.empty()) parts.push_back(word);
          return parts;
        }
        std::size_t at = 0;
        for (std::size_t found; left != 0 && (found = s->find(separator, at)) != std::string::npos;
             at = found + separator.size(), --left)
          parts.push_back(s->substr(at, found - at));
        parts.push_back(s->substr(at));
        return parts;
      }
      if (name == "join") {
        std::string joined;
        bool first = true;
        for (const Value& item : items_of(a.get(0, "iterable"), line)) {
          joined += (first ? "" : *s) + text_of(item);
          first = false;
        }
        return joined;
      }
      if (name == "isdigit")
        return !s->empty() &&
               std::all_of(s->begin(), s->end(), [](unsigned char c) { return std::isdigit(c); });
    }
    if (const Dict* dict = object.dict()) {
      List list;
      if (name == "items") {
        for (const auto& [key, value] : *dict) list.push_back(List{Value(key), value});
        return list;
      }
      if (name == "keys") return items_of(object, line);
      if (name == "values") {
        for (const auto& [key, value] : *dict) list.push_back(value);
        return list;
      }
      if (name == "get") {
        const Value* found = lookup(*dict, text_argument(0));
        if (found) return *found;
        return a.positional.size() > 1 ? a.positional[1] : Value(None{});
      }
    }
    if (object.list() && name == "append") {
      const_cast<List*>(object.list())->push_back(a.get(0, "object"));
      return None{};
    }
    refuse(line, "the method '" + name + "' of " + kind_of(object));
  }

  Value filter(const Node& node) {
    const Value value = evaluate(*node.children[0]);
    const Arguments a = arguments_of(node);
    const std::string& name = node.text;
    const auto items = [&] { return items_of(value, node.line); };
    if (name == "default" || name == "d") {
      const bool replace = value.is_undefined() || (truthy(a.get(1, "boolean")) && !truthy(value));
      return replace ? (a.positional.empty() ? Value("") : a.positional[0]) : value;
    }
    if (name == "length" || name == "count") return static_cast<std::int64_t>(items().size());
    if (name == "trim")
      return stripped(text_of(value), a.positional.empty() ? "" : text_of(a.positional[0]), true,
                      true);
    if (name == "upper") return mapped(text_of(value), std::toupper);
    if (name == "lower") return mapped(text_of(value), std::tolower);
    if (name == "title") return title(text_of(value));
    if (name == "capitalize") return capitalized(text_of(value));
    if (name == "string") return text_of(value);
    if (name == "safe") return value;
    if (name == "int")
      return number(value)
                 ? static_cast<std::int64_t>(*number(value))
                 : static_cast<std::int64_t>(std::strtoll(text_of(value).c_str(), nullptr, 10));
    if (name == "replace")
      return replaced(text_of(value), text_of(a.get(0, "old")), text_of(a.get(1, "new")));
    if (name == "list") return items();
    if (name == "items") return method(value, "items", a, node.line);
    if (name == "first" || name == "last") {
      const List list = items();
      return list.empty() ? Value() : name == "first" ? list.front() : list.back();
    }
    if (name == "reverse") {
      List list = items();
      std::reverse(list.begin(), list.end());
      return list;
    }
    if (name == "join") {
      std::string joined;
      bool first = true;
      for (const Value& item : items()) {
        joined += (first ? "" : text_of(a.get(0, "d"))) + text_of(item);
        first = false;
      }
      return joined;
    }
    if (name == "tojson") {
      const auto indent = number(a.get(0, "indent"));
      return python_json(to_json(value), indent ? static_cast<int>(*indent) : -1);
    }
    if (name == "map") {
      const Value attribute = a.get(99, "attribute");
      if (attribute.is_undefined()) refuse(node.line, "the filter map without attribute=");
      List out;
      for (const Value& item : items()) out.push_back(member(item, attribute, node.line, ""));
      return out;
    }
    if (name == "selectattr" || name == "rejectattr") {
      List out;
      for (const Value& item : items()) {
        const Value field = member(item, a.get(0, ""), node.line, "");
        bool holds = truthy(field);
        if (a.positional.size() > 1) {
          const std::string check = text_of(a.positional[1]);
          if (check == "equalto" || check == "==" || check == "eq")
            holds = equal(field, a.get(2, ""));
          else if (check == "ne" || check == "!=")
            holds = !equal(field, a.get(2, ""));
          else if (check == "defined")
            holds = !field.is_undefined();
          else
            refuse(node.line, "the test '" + check + "' in " + name);
        }
        if (holds == (name == "selectattr")) out.push_back(item);
      }
      return out;
    }
    refuse(node.line, "the filter '" + name + "'");
  }

  Value test(const Node& node) {
    const std::string& name = node.text;
    const Node& operand = *node.children[0];
    // `a.b is defined` must not fail where a is undefined.
    if ((name == "defined" || name == "undefined") &&
        (operand.op == Op::kAttribute || operand.op == Op::kIndex)) {
      if (evaluate(*operand.children[0]).is_undefined()) return name == "undefined";
    }
    const Value value = evaluate(operand);
    const auto argument = [&] {
      return node.children.size() > 1 ? evaluate(*node.children[1]) : Value();
    };
    if (name == "defined") return !value.is_undefined();
    if (name == "undefined") return value.is_undefined();
    if (name == "none") return value.is_none();
    if (name == "string") return value.get<std::string>() != nullptr;
    if (name == "mapping") return value.dict() != nullptr;
    if (name == "sequence") return value.list() || value.dict() || value.get<std::string>();
    if (name == "iterable") return value.list() || value.dict() || value.get<std::string>();
    if (name == "boolean") return value.get<bool>() != nullptr;
    if (name == "true") return value.get<bool>() && *value.get<bool>();
    if (name == "false") return value.get<bool>() && !*value.get<bool>();
    if (name == "integer") return value.get<std::int64_t>() != nullptr;
    if (name == "float") return value.get<double>() != nullptr;
    if (name == "number")
      return value.get<std::int64_t>() || value.get<double>() || value.get<bool>();
    if (name == "callable") return value.get<std::shared_ptr<Function>>() != nullptr;
    if (name == "even" || name == "odd") {
      if (!number(value)) refuse(node.line, "the test '" + name + "' of " + kind_of(value));
      return (static_cast<std::int64_t>(*number(value)) % 2 == 0) == (name == "even");
    }
    if (name == "equalto" || name == "eq") return equal(value, argument());
    if (name == "ne") return !equal(value, argument());
    if (name == "in") {
      for (const Value& item : items_of(argument(), node.line))
        if (equal(value, item)) return true;
      return false;
    }
    refuse(node.line, "the test '" + name + "'");
  }

  Limits limits_;
  std::vector<Dict> scopes_;
  std::string out_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace

Value Arguments::get(std::size_t index, const std::string& name) const {
  if (index < positional.size()) return positional[index];
  for (const auto& [key, value] : named)
    if (key == name) return value;
  return Value();
}

std::string render(const Template& parsed, const Dict& globals, const Limits& limits) {
  return Evaluator(globals, limits).run(*parsed.root);
}

}  // namespace triescope::tokenizer::jinja
