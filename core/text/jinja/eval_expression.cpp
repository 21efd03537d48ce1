#include <algorithm>
#include <cmath>
#include <optional>

#include "core/text/jinja/eval.h"
#include "core/text/jinja/text.h"

namespace triescope::jinja {

Value Evaluator::computed(const Node& node) {
  switch (node.op) {
    case Op::kLiteral:
      return node.value;
    case Op::kCaptured:
      return captured_;
    case Op::kName: {
      const Value* value = find(node.text);
      return value ? *value : Value();
    }
    case Op::kList:
    case Op::kTuple: {
      List list;
      for (const auto& child : node.children) list.push_back(evaluate(*child));
      return Value(std::move(list), node.op == Op::kTuple ? Shape::kTuple : Shape::kList);
    }
    case Op::kDict: {
      Dict dict;
      for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
        const Value key = evaluate(*node.children[i]);
        if (!key.get<std::string>())
          refuse(node.line, std::string("a dict with ") + kind_of(key) + " for a key");
        put(dict, *key.get<std::string>(), evaluate(*node.children[i + 1]));
      }
      return dict;
    }
    case Op::kAttribute:
      return member(evaluate(*node.children[0]), Value(node.text), node.line);
    case Op::kIndex:
      return member(evaluate(*node.children[0]), evaluate(*node.children[1]), node.line);
    case Op::kSlice:
      return slice(node);
    case Op::kCall:
      return call(node);
    case Op::kFilter:
      return filter(node.text, evaluate(*node.children[0]), arguments_of(node), node.line);
    case Op::kTest:
      return test(node.text, evaluate(*node.children[0]), arguments_of(node), node.line);
    case Op::kNot:
      return !truthy(evaluate(*node.children[0]));
    case Op::kNegate:
    case Op::kPlus: {
      const Value value = evaluate(*node.children[0]);
      if (!number(value)) refuse(node.line, std::string("the sign of ") + kind_of(value));
      if (node.op == Op::kPlus)
        return integer(value) ? Value(*integer(value)) : Value(*number(value));
      if (integer(value) && *integer(value) != INT64_MIN) return -*integer(value);
      return -*number(value);
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
      return compare(node.text, evaluate(*node.children[0]), evaluate(*node.children[1]),
                     node.line);
    default:
      refuse(node.line, "this expression");
  }
}

std::string Evaluator::text(const Value& value, int line) {
  if (value.shape == Shape::kView)
    refuse(line, "printing a range or an iterator (| list is missing)");
  if (value.function() || value.name_space())
    refuse(line, std::string("printing ") + kind_of(value));
  return text_of(value);
}

std::string Evaluator::repeated(const std::string& text, std::int64_t times, int line) {
  if (times > 0 && text.size() > limits_.output_bytes / static_cast<std::size_t>(times))
    refuse(line, "a text of more than " + std::to_string(limits_.output_bytes) + " bytes");
  std::string out;
  for (std::int64_t i = 0; !text.empty() && i < times; ++i) out += text;
  return out;
}

Value Evaluator::binary(const Node& node, const Value& a, const Value& b) {
  const std::string& op = node.text;
  if (op == "~") return text(a, node.line) + text(b, node.line);
  const auto *s = a.get<std::string>(), *t = b.get<std::string>();
  if (op == "+" && s && t) return *s + *t;
  if (op == "+" && a.list() && b.list() && a.shape == b.shape && a.shape != Shape::kView) {
    count(copy_cost(*a.list()) + copy_cost(*b.list()));
    List list = *a.list();
    list.insert(list.end(), b.list()->begin(), b.list()->end());
    return Value(std::move(list), a.shape);
  }
  if (op == "*" && s && integer(b)) return repeated(*s, *integer(b), node.line);
  if (op == "*" && t && integer(a)) return repeated(*t, *integer(a), node.line);
  return arithmetic(node, a, b);
}

Value Evaluator::arithmetic(const Node& node, const Value& a, const Value& b) {
  const std::string& op = node.text;
  const auto x = number(a), y = number(b);
  if (!x || !y)
    refuse(node.line, std::string("'") + op + "' between " + kind_of(a) + " and " + kind_of(b));
  if ((op == "/" || op == "//" || op == "%") && *y == 0) refuse(node.line, "division by zero");
  if (op == "/") return *x / *y;
  const auto i = integer(a), k = integer(b);
  if (!i || !k) {
    return op == "+"    ? *x + *y
           : op == "-"  ? *x - *y
           : op == "*"  ? *x * *y
           : op == "//" ? std::floor(*x / *y)
           : op == "%"  ? *x - std::floor(*x / *y) * *y
                        : std::pow(*x, *y);
  }
  std::int64_t result = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(*i, *k, &result);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(*i, *k, &result);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(*i, *k, &result);
  } else if (op == "**") {
    if (*k < 0) return std::pow(*x, *y);
    result = 1;
    // 0, 1 and -1 never overflow, so no more rounds are needed than tell odd from even.
    const std::int64_t rounds = std::abs(*x) <= 1 ? std::min<std::int64_t>(*k, 2 + *k % 2) : *k;
    for (std::int64_t n = 0; n < rounds && !overflow; ++n)
      overflow = __builtin_mul_overflow(result, *i, &result);
  } else if (*k == -1) {  // INT64_MIN / -1 does not fit
    overflow = op == "//" && __builtin_sub_overflow(std::int64_t{0}, *i, &result);
  } else {
    const std::int64_t rest = *i % *k;
    const bool below = rest != 0 && (rest < 0) != (*k < 0);  // Python rounds down
    result = op == "//" ? *i / *k - below : below ? rest + *k : rest;
  }
  if (overflow) refuse(node.line, "an integer of more than 64 bits");
  return result;
}

Value Evaluator::compare(const std::string& op, const Value& a, const Value& b, int line) {
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in" || op == "not in") {
    bool found = false;
    if (const auto* text = b.get<std::string>()) {
      if (!a.get<std::string>()) refuse(line, std::string("'in' a string with ") + kind_of(a));
      found = text->find(*a.get<std::string>()) != std::string::npos;
    } else if (b.is_none()) {
      refuse(line, "'in' none");
    } else {
      for (const Value& item : items_of(b, line)) found = found || equal(a, item);
    }
    return found == (op == "in");
  }
  const auto sign = order(a, b);
  if (!sign) refuse(line, std::string("'") + op + "' between " + kind_of(a) + " and " + kind_of(b));
  return op == "<" ? *sign < 0 : op == ">" ? *sign > 0 : op == "<=" ? *sign <= 0 : *sign >= 0;
}

Value Evaluator::member(const Value& value, const Value& key, int line) {
  const auto* name = key.get<std::string>();
  const Dict* dict = value.name_space() ? &value.name_space()->values : value.dict();
  if (dict) {
    const Value* found = name ? lookup(*dict, *name) : nullptr;
    return found ? *found : Value();
  }
  if (value.is_undefined()) refuse(line, "'" + text_of(key) + "' of something undefined");
  const auto index = integer(key);
  if (!index) return Value();
  const auto place = [&](std::int64_t size) -> std::optional<std::size_t> {
    const std::int64_t at = *index < 0 ? *index + size : *index;
    return at >= 0 && at < size ? std::optional(static_cast<std::size_t>(at)) : std::nullopt;
  };
  if (const List* list = value.list()) {
    const auto at = place(static_cast<std::int64_t>(list->size()));
    return at ? (*list)[*at] : Value();
  }
  if (const auto* text = value.get<std::string>()) {
    count(text->size() / 16);
    const auto parts = characters(*text);
    const auto at = place(static_cast<std::int64_t>(parts.size()));
    return at ? Value(std::string(parts[*at])) : Value();
  }
  return Value();
}

Value Evaluator::slice(const Node& node) {
  const Value value = evaluate(*node.children[0]);
  const auto* text = value.get<std::string>();
  if (!text && !value.list()) refuse(node.line, std::string("a slice of ") + kind_of(value));
  std::vector<std::string_view> letters;
  if (text) {
    count(text->size() / 16);
    letters = characters(*text);
  }
  const auto size = static_cast<std::int64_t>(text ? letters.size() : value.list()->size());
  count(text ? 0 : value.list()->size());
  std::optional<std::int64_t> parts[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (!node.children[i + 1]) continue;
    const Value part = evaluate(*node.children[i + 1]);
    if (part.is_none()) continue;
    parts[i] = integer(part);
    if (!parts[i]) refuse(node.line, std::string("a slice with ") + kind_of(part));
  }
  const std::int64_t step = std::clamp<std::int64_t>(parts[2].value_or(1), -size - 1, size + 1);
  if (step == 0) refuse(node.line, "a slice with step 0");
  const auto clamp = [&](std::int64_t i) {
    if (i < 0) i += size;
    return step > 0 ? std::clamp<std::int64_t>(i, 0, size)
                    : std::clamp<std::int64_t>(i, -1, size - 1);
  };
  const std::int64_t start = parts[0] ? clamp(*parts[0]) : step > 0 ? 0 : size - 1;
  const std::int64_t stop = parts[1] ? clamp(*parts[1]) : step > 0 ? size : -1;
  List chosen;
  std::string chosen_text;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (text)
      chosen_text += letters[static_cast<std::size_t>(i)];
    else
      chosen.push_back((*value.list())[static_cast<std::size_t>(i)]);
  }
  if (text) return chosen_text;
  return Value(std::move(chosen), value.shape);
}

Arguments Evaluator::arguments_of(const Node& node) {
  Arguments arguments;
  for (std::size_t i = 1; i < node.children.size(); ++i)
    arguments.positional.push_back(evaluate(*node.children[i]));
  for (const auto& [name, value] : node.named) arguments.named.emplace_back(name, evaluate(*value));
  return arguments;
}

Value Evaluator::call(const Node& node) {
  const Node& callee = *node.children[0];
  Value function;
  if (callee.op == Op::kAttribute) {
    const Value object = evaluate(*callee.children[0]);
    if (object.is_undefined()) refuse(node.line, "'" + callee.text + "' of something undefined");
    const Value* entry = object.dict() ? lookup(*object.dict(), callee.text) : nullptr;
    if (!entry || !entry->function())
      return method(object, callee.text, arguments_of(node), node.line);
    function = *entry;
  } else {
    function = evaluate(callee);
  }
  if (!function.function())
    refuse(node.line, callee.text.empty() ? std::string("calling ") + kind_of(function)
                                          : "calling '" + callee.text + "'");
  return (*function.function())(arguments_of(node));
}

// The items over which a for loop or `in` walks.
List Evaluator::items_of(const Value& value, int line) {
  List out;
  if (const List* list = value.list()) {
    count(copy_cost(*list));
    return *list;
  }
  if (const Dict* dict = value.dict()) {
    for (const auto& [key, entry] : *dict) out.push_back(key);
  } else if (const auto* text = value.get<std::string>()) {
    count(text->size());
    for (const std::string_view c : characters(*text)) out.emplace_back(std::string(c));
  } else if (!value.is_undefined()) {
    refuse(line, std::string("a loop over ") + kind_of(value));
  }
  count(out.size());
  return out;
}

}  // namespace triescope::jinja
