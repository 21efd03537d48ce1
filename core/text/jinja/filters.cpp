// Methods, filters and tests of values: those of Python and Jinja that chat templates use.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "core/text/jinja/eval.h"
#include "core/text/jinja/text.h"

namespace triescope::jinja {
namespace {

// A string argument; nullopt: left out, or none.
std::optional<std::string> text_argument(const Arguments& a, std::size_t index, const char* name,
                                         int line) {
  const Value value = a.get(index, name);
  if (value.is_undefined() || value.is_none()) return std::nullopt;
  if (!value.get<std::string>()) refuse(line, std::string(kind_of(value)) + " for a text argument");
  return *value.get<std::string>();
}

std::string needed(const Arguments& a, std::size_t index, const char* name, int line) {
  const auto text = text_argument(a, index, name, line);
  if (!text) refuse(line, std::string("a call without its argument '") + name + "'");
  return *text;
}

// Takes the first argument out. It has no name: as in jinja2, `name=` does not set it.
std::string taken(Arguments& a, const char* what, int line) {
  if (a.positional.empty()) refuse(line, std::string("a call without its argument '") + what + "'");
  std::string text = needed(a, 0, what, line);
  a.positional.erase(a.positional.begin());
  return text;
}

std::int64_t integer_argument(const Arguments& a, std::size_t index, const char* name,
                              std::int64_t otherwise, int line) {
  const Value value = a.get(index, name);
  if (value.is_undefined() || value.is_none()) return otherwise;
  if (!integer(value)) refuse(line, std::string(kind_of(value)) + " for an integer argument");
  return *integer(value);
}

// Refuses arguments that a filter does not know, rather than ignoring them.
void at_most(const Arguments& a, std::size_t positional, std::initializer_list<const char*> names,
             const std::string& what, int line) {
  if (a.positional.size() > positional) refuse(line, "calling '" + what + "' with more arguments");
  for (const auto& [name, value] : a.named)
    if (std::find(names.begin(), names.end(), name) == names.end())
      refuse(line, "the argument '" + name + "' of '" + what + "'");
}

List to_list(const std::vector<std::string>& parts, std::size_t most, int line) {
  if (parts.size() > most) refuse(line, "so large a list");
  return {parts.begin(), parts.end()};
}

std::optional<double> parsed(const std::string& text) {
  const std::string plain = stripped(text, std::nullopt, true, true);
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

// Jinja ignores case where it sorts texts.
Value folded(const Value& value) {
  return value.get<std::string>() ? Value(lower(*value.get<std::string>())) : value;
}

}  // namespace

Value Evaluator::method(const Value& object, const std::string& name, const Arguments& a,
                        int line) {
  if (const auto* s = object.get<std::string>()) return text_method(*s, name, a, line);
  if (const Dict* dict = object.dict()) {
    List list;
    if (name == "items") {
      for (const auto& [key, value] : *dict)
        list.push_back(Value(List{Value(key), value}, Shape::kTuple));
      return Value(std::move(list), Shape::kView);
    }
    if (name == "keys") return Value(items_of(object, line), Shape::kView);
    if (name == "values") {
      for (const auto& [key, value] : *dict) list.push_back(value);
      return Value(std::move(list), Shape::kView);
    }
    if (name == "get") {
      const Value* found = lookup(*dict, needed(a, 0, "key", line));
      if (found) return *found;
      return a.positional.size() > 1 ? a.positional[1] : Value(None{});
    }
  }
  refuse(line, "the method '" + name + "' of " + kind_of(object));
}

Value Evaluator::text_method(const std::string& s, const std::string& name, const Arguments& a,
                             int line) {
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    at_most(a, 1, {}, name, line);
    return stripped(s, text_argument(a, 0, "chars", line), name != "rstrip", name != "lstrip");
  }
  if (name == "upper") return upper(s);
  if (name == "lower") return lower(s);
  if (name == "title") return title(s);
  if (name == "capitalize") return capitalized(s);
  if (name == "replace") {
    at_most(a, 3, {"count"}, name, line);
    return replaced(s, needed(a, 0, "old", line), needed(a, 1, "new", line),
                    integer_argument(a, 2, "count", -1, line), limits_.output_bytes);
  }
  if (name == "startswith" || name == "endswith") {
    at_most(a, 1, {}, name, line);
    const auto matches = [&](const Value& part) {
      const auto* text = part.get<std::string>();
      if (!text) refuse(line, "'" + name + "' with " + kind_of(part));
      return name == "startswith" ? s.starts_with(*text) : s.ends_with(*text);
    };
    const Value which = a.get(0, "");
    const List* list = which.shape == Shape::kTuple ? which.list() : nullptr;
    return list ? std::any_of(list->begin(), list->end(), matches) : matches(which);
  }
  if (name == "removeprefix" || name == "removesuffix") {
    const std::string part = needed(a, 0, "", line);
    const bool prefix = name == "removeprefix";
    if (!(prefix ? s.starts_with(part) : s.ends_with(part))) return s;
    return prefix ? s.substr(part.size()) : s.substr(0, s.size() - part.size());
  }
  if (name == "find" || name == "index") {
    at_most(a, 1, {}, name, line);
    const auto at = s.find(needed(a, 0, "", line));
    if (at == std::string::npos && name == "index") refuse(line, "the index of what is not there");
    return at == std::string::npos ? std::int64_t{-1} : character_count(s.substr(0, at));
  }
  if (name == "count") {
    at_most(a, 1, {}, name, line);
    const std::string part = needed(a, 0, "", line);
    if (part.empty()) return character_count(s) + 1;
    std::int64_t found = 0;
    for (std::size_t at = 0; (at = s.find(part, at)) != std::string::npos; at += part.size())
      ++found;
    return found;
  }
  if (name == "splitlines") {
    at_most(a, 0, {}, name, line);
    count(s.size() / 16);
    return to_list(split_lines(s), limits_.value_weight, line);
  }
  if (name == "split" || name == "rsplit") {
    at_most(a, 2, {"sep", "maxsplit"}, name, line);
    const auto separator = text_argument(a, 0, "sep", line);
    const std::int64_t most = integer_argument(a, 1, "maxsplit", -1, line);
    if (separator && separator->empty()) refuse(line, "an empty separator");
    if (!separator && name == "rsplit" && most >= 0)
      refuse(line, "rsplit at white space with a limit");
    count(s.size() / 16);
    return to_list(separator && name == "rsplit" ? split_from_right(s, *separator, most)
                                                 : split(s, separator, most),
                   limits_.value_weight, line);
  }
  if (name == "join") {
    std::string joined;
    bool first = true;
    for (const Value& item : items_of(a.get(0, ""), line)) {
      if (!item.get<std::string>()) refuse(line, std::string("joining ") + kind_of(item));
      if (joined.size() + s.size() > limits_.output_bytes) refuse(line, "so long a text");
      joined += (first ? "" : s) + *item.get<std::string>();
      first = false;
    }
    return joined;
  }
  if (name == "isdigit" || name == "isspace") {
    const auto parts = characters(s);
    return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](std::string_view c) {
      return name == "isspace" ? stripped(std::string(c), std::nullopt, true, false).empty()
                               : c.size() == 1 && c[0] >= '0' && c[0] <= '9';
    });
  }
  refuse(line, "the method '" + name + "' of a string");
}

Value Evaluator::filter(const std::string& name, const Value& value, const Arguments& a, int line) {
  if (name == "default" || name == "d") {
    at_most(a, 2, {"default_value", "boolean"}, name, line);
    const bool replace = value.is_undefined() || (truthy(a.get(1, "boolean")) && !truthy(value));
    if (!replace) return value;
    const Value other = a.get(0, "default_value");
    return other.is_undefined() ? Value("") : other;
  }
  if (name == "length" || name == "count") {
    if (value.list()) return static_cast<std::int64_t>(value.list()->size());
    if (const auto* text = value.get<std::string>()) return character_count(*text);
    return static_cast<std::int64_t>(items_of(value, line).size());
  }
  if (name == "string") return text(value, line);
  if (name == "safe") return value;
  if (name == "dictsort") {
    at_most(a, 0, {}, name, line);
    if (!value.dict()) refuse(line, "dictsort of " + std::string(kind_of(value)));
    List list = items_of(method(value, "items", {}, line), line);
    count(list.size() * 10);
    std::stable_sort(list.begin(), list.end(), [&](const Value& left, const Value& right) {
      return *order(folded((*left.list())[0]), folded((*right.list())[0])) < 0;
    });
    return list;
  }
  if (name == "list") return Value(items_of(value, line));
  if (name == "items") {
    if (value.is_undefined()) return Value(List(), Shape::kView);
    return method(value, "items", a, line);
  }
  if (name == "tojson") {
    at_most(a, 1, {"indent", "sort_keys", "ensure_ascii", "separators"}, name, line);
    JsonStyle style;
    if (!a.positional.empty()) refuse(line, "tojson with an argument without a name");
    style.sort_keys = truthy(a.get(9, "sort_keys"));
    style.ascii = truthy(a.get(9, "ensure_ascii"));
    if (const Value indent = a.get(9, "indent"); !indent.is_undefined() && !indent.is_none()) {
      style.indent = integer_argument(a, 9, "indent", 0, line);
      style.between = ",";
    }
    if (const Value marks = a.get(9, "separators"); !marks.is_undefined() && !marks.is_none()) {
      const List* list = marks.list();
      if (!list || list->size() != 2 || !(*list)[0].get<std::string>() ||
          !(*list)[1].get<std::string>())
        refuse(line, "such separators of tojson");
      style.between = *(*list)[0].get<std::string>();
      style.colon = *(*list)[1].get<std::string>();
    }
    try {
      auto json = json_text(value, style, limits_.output_bytes);
      if (!json) refuse(line, "tojson of " + std::string(kind_of(value)));
      return std::move(*json);
    } catch (const TooLong&) {
      refuse(line, "so long a text");
    }
  }
  for (const char* one : {"trim", "upper", "lower", "title", "capitalize", "replace", "indent"})
    if (name == one) return text_filter(name, value, a, line);
  for (const char* one : {"int", "float", "abs", "round"})
    if (name == one) return number_filter(name, value, a, line);
  return list_filter(name, value, a, line);
}

Value Evaluator::text_filter(const std::string& name, const Value& value, const Arguments& a,
                             int line) {
  const std::string s = text(value, line);
  if (name == "trim") return stripped(s, text_argument(a, 0, "chars", line), true, true);
  if (name == "upper") return upper(s);
  if (name == "lower") return lower(s);
  if (name == "title") return title_filter(s);
  if (name == "capitalize") return capitalized(s);
  if (name == "replace") {
    at_most(a, 3, {"old", "new", "count"}, name, line);
    return replaced(s, text(a.get(0, "old"), line), text(a.get(1, "new"), line),
                    integer_argument(a, 2, "count", -1, line), limits_.output_bytes);
  }
  at_most(a, 3, {"width", "first", "blank"}, name, line);  // indent
  const Value width = a.get(0, "width");
  const std::string margin = width.get<std::string>()
                                 ? *width.get<std::string>()
                                 : repeated(" ", integer_argument(a, 0, "width", 4, line), line);
  const bool first = truthy(a.get(1, "first")), blank = truthy(a.get(2, "blank"));
  std::string out;
  std::size_t begin = 0;
  for (bool more = true; more;) {
    const std::size_t end = std::min(s.find('\n', begin), s.size());
    const std::string row = s.substr(begin, end - begin);
    if (begin == 0 ? first : !row.empty() || blank) out += margin;
    out += row;
    more = end < s.size();
    if (more) out += '\n';
    begin = end + 1;
    if (out.size() > limits_.output_bytes) refuse(line, "so long a text");
  }
  return out;
}

Value Evaluator::number_filter(const std::string& name, const Value& value, const Arguments& a,
                               int line) {
  const auto* text = value.get<std::string>();
  std::optional<double> x = text ? parsed(*text) : number(value);
  if (name == "int" || name == "float") {
    at_most(a, 1, {"default"}, name, line);
    const Value otherwise = a.get(0, "default");
    if (name == "float") return x ? Value(*x) : otherwise.is_undefined() ? Value(0.0) : otherwise;
    if (integer(value)) return *integer(value);
    if (!x || !std::isfinite(*x))
      return otherwise.is_undefined() ? Value(std::int64_t{0}) : otherwise;
    if (std::abs(*x) > 9e15) refuse(line, "so large an integer");
    return static_cast<std::int64_t>(*x);
  }
  if (text || !x) refuse(line, "the filter '" + name + "' of " + kind_of(value));
  if (name == "abs") {
    if (integer(value) && *integer(value) != INT64_MIN) return std::abs(*integer(value));
    return std::abs(*x);
  }
  at_most(a, 1, {"precision"}, name, line);
  const std::int64_t digits = integer_argument(a, 0, "precision", 0, line);
  if (digits < 0 || digits > 20) refuse(line, "round to such a precision");
  if (integer(value)) return integer(value) ? Value(*integer(value)) : Value();
  char rounded[400];
  std::snprintf(rounded, sizeof rounded, "%.*f", static_cast<int>(digits), *x);
  return parsed(rounded).value_or(*x);
}

Value Evaluator::list_filter(const std::string& name, const Value& value, const Arguments& a,
                             int line) {
  const auto with_attribute = [&](const Value& item, const Value& attribute) {
    return attribute.is_undefined() || attribute.is_none() ? item : member(item, attribute, line);
  };
  if (name == "first" || name == "last") {
    const List list = items_of(value, line);
    return list.empty() ? Value() : name == "first" ? list.front() : list.back();
  }
  if (name == "reverse") {
    List list = items_of(value, line);
    std::reverse(list.begin(), list.end());
    if (!value.get<std::string>()) return Value(std::move(list), Shape::kView);
    std::string out;
    for (const Value& c : list) out += *c.get<std::string>();
    return out;
  }
  if (name == "join") {
    at_most(a, 2, {"d", "attribute"}, name, line);
    const std::string between = text(a.get(0, "d"), line);
    std::string joined;
    bool first = true;
    for (const Value& item : items_of(value, line)) {
      joined += (first ? "" : between) + text(with_attribute(item, a.get(1, "attribute")), line);
      first = false;
      if (joined.size() > limits_.output_bytes) refuse(line, "so long a text");
    }
    return joined;
  }
  const bool walks = name == "map" || name == "select" || name == "reject" ||
                     name == "selectattr" || name == "rejectattr";
  if (walks && !truthy(value)) return Value(List(), Shape::kView);  // none and 0 too, as in Jinja
  if (name == "map") {
    const Value attribute = a.get(9, "attribute");
    List out;
    auto keep = [&, weight = std::size_t{0}](Value made) mutable {
      weight += made.weight + copy_cost(made);
      if (weight > limits_.value_weight) refuse(line, "so large a list");
      count(1 + copy_cost(made));
      out.push_back(std::move(made));
    };
    if (!attribute.is_undefined()) {
      at_most(a, 0, {"attribute"}, name, line);
      for (const Value& item : items_of(value, line)) keep(member(item, attribute, line));
      return Value(std::move(out), Shape::kView);
    }
    Arguments rest = a;
    const std::string inner = taken(rest, "name", line);
    for (const Value& item : items_of(value, line)) keep(filter(inner, item, rest, line));
    return Value(std::move(out), Shape::kView);
  }
  if (name == "select" || name == "reject" || name == "selectattr" || name == "rejectattr") {
    const bool attribute = name.ends_with("attr"), keep = name.starts_with("select");
    Arguments rest = a;
    Value of;
    if (attribute) of = Value(taken(rest, "attribute", line));
    std::optional<std::string> check;
    if (!rest.positional.empty()) check = taken(rest, "test", line);
    List out;
    for (const Value& item : items_of(value, line)) {
      count();
      const Value field = attribute ? member(item, of, line) : item;
      if ((check ? test(*check, field, rest, line) : truthy(field)) == keep) out.push_back(item);
    }
    return Value(std::move(out), Shape::kView);
  }
  if (name == "sort" || name == "unique" || name == "min" || name == "max") {
    at_most(a, 1, {"reverse", "attribute"}, name, line);
    const Value attribute = a.get(9, "attribute");
    const bool reverse = truthy(a.get(0, "reverse")) && name == "sort";
    List list = items_of(value, line);
    count(list.size() * 10);
    const auto key = [&](const Value& item) { return folded(with_attribute(item, attribute)); };
    const auto before = [&](const Value& left, const Value& right) {
      const auto sign = order(key(left), key(right));
      if (!sign) refuse(line, std::string("ordering ") + kind_of(left) + " and " + kind_of(right));
      return reverse ? *sign > 0 : *sign < 0;
    };
    if (name == "min" || name == "max") {
      if (list.empty()) return Value();
      return name == "min" ? *std::min_element(list.begin(), list.end(), before)
                           : *std::max_element(list.begin(), list.end(), before);
    }
    if (name == "sort") {
      std::stable_sort(list.begin(), list.end(), before);
      return list;
    }
    List out, keys;
    for (const Value& item : list) {
      count(keys.size());
      const Value mine = key(item);
      if (std::any_of(keys.begin(), keys.end(), [&](const Value& k) { return equal(k, mine); }))
        continue;
      keys.push_back(mine);
      out.push_back(item);
    }
    return Value(std::move(out), Shape::kView);
  }
  refuse(line, "the filter '" + name + "'");
}

bool Evaluator::test(const std::string& name, const Value& value, const Arguments& a, int line) {
  if (name == "defined") return !value.is_undefined();
  if (name == "undefined") return value.is_undefined();
  if (name == "none") return value.is_none();
  if (name == "string") return value.get<std::string>() != nullptr;
  if (name == "mapping") return value.dict() != nullptr;
  if (name == "sequence" || name == "iterable")
    return value.list() || value.dict() || value.get<std::string>() || value.is_undefined();
  if (name == "boolean") return value.get<bool>() != nullptr;
  if (name == "true" || name == "false")
    return value.get<bool>() && *value.get<bool>() == (name == "true");
  if (name == "integer") return value.get<std::int64_t>() != nullptr;
  if (name == "float") return value.get<double>() != nullptr;
  if (name == "number") return number(value).has_value();
  if (name == "callable") return value.function() != nullptr;
  if (name == "even" || name == "odd" || name == "divisibleby") {
    const auto by =
        name == "divisibleby" ? integer(a.get(0, "num")) : std::optional<std::int64_t>(2);
    if (!integer(value) || !by || *by == 0 || *by == -1)
      refuse(line, "the test '" + name + "' of " + kind_of(value));
    return (*integer(value) % *by == 0) == (name != "odd");
  }
  if (name == "upper" || name == "lower") {
    const std::string s = text(value, line);
    return upper(s) != lower(s) && s == (name == "upper" ? upper(s) : lower(s));
  }
  static constexpr std::pair<const char*, const char*> kCompare[] = {
      {"eq", "=="}, {"equalto", "=="}, {"==", "=="},         {"ne", "!="},
      {"!=", "!="}, {"gt", ">"},       {"greaterthan", ">"}, {">", ">"},
      {"ge", ">="}, {">=", ">="},      {"lt", "<"},          {"lessthan", "<"},
      {"<", "<"},   {"le", "<="},      {"<=", "<="},         {"in", "in"}};
  for (const auto& [test, op] : kCompare)
    if (name == test) {
      if (a.positional.empty()) refuse(line, "the test '" + name + "' without its argument");
      return truthy(compare(op, value, a.positional[0], line));
    }
  refuse(line, "the test '" + name + "'");
}

}  // namespace triescope::jinja
