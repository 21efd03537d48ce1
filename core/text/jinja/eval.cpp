#include "core/text/jinja/eval.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"

namespace triescope::jinja {

// Counts one level down the syntax tree.
struct Evaluator::Deeper {
  Deeper(Evaluator& evaluator, int line) : depth(evaluator.depth_) {
    if (++depth > evaluator.limits_.depth) {
      --depth;
      refuse(line, "nesting deeper than " + std::to_string(evaluator.limits_.depth));
    }
  }
  ~Deeper() { --depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  int& depth;
};

Evaluator::Evaluator(const Dict& globals, const Limits& limits) : limits_(limits) {
  scopes_.push_back(globals);
  define("range", [this](const Arguments& a) {
    std::int64_t part[3] = {0, 0, 1};
    for (std::size_t i = 0; i < a.positional.size() && i < 3; ++i) {
      if (!integer(a.positional[i]))
        throw Error(ErrorCode::kNotSupported,
                    std::string("chat template: range of ") + kind_of(a.positional[i]));
      part[a.positional.size() == 1 ? 1 : i] = *integer(a.positional[i]);
    }
    const auto [start, stop, step] = part;
    List list;
    for (std::int64_t i = start; step > 0 ? i < stop : step < 0 && i > stop;) {
      if (static_cast<std::int64_t>(list.size()) >= limits_.range)
        throw Error(ErrorCode::kNotSupported,
                    "chat template: a range of more than " + std::to_string(limits_.range));
      count();
      list.push_back(i);
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return Value(std::move(list), Shape::kView);
  });
  const auto named = [](const Arguments& a) {
    Dict dict;
    if (!a.positional.empty() && a.positional[0].dict()) dict = *a.positional[0].dict();
    for (const auto& [name, value] : a.named) put(dict, name, value);
    return dict;
  };
  define("dict", [named](const Arguments& a) { return Value(named(a)); });
  define("namespace", [named](const Arguments& a) {
    auto space = std::make_shared<Namespace>(Namespace{named(a)});
    for (const auto& [name, value] : space->values)
      if (value.changeable)
        throw Error(ErrorCode::kNotSupported,
                    "chat template: a namespace or function within a namespace");
    return Value(std::move(space));
  });
  define("raise_exception", [](const Arguments& a) -> Value {
    throw Error(ErrorCode::kInvalidArgument,
                "the chat template refuses this conversation: " + text_of(a.get(0, "message")));
  });
}

std::string Evaluator::run(const Node& root) {
  execute(root);
  return std::move(out_);
}

void Evaluator::define(const char* name, Function function) {
  scopes_.front().emplace_back(name, Value(std::move(function)));
}

void Evaluator::count(std::size_t steps) {
  steps_ += static_cast<std::int64_t>(steps);
  if (steps_ > limits_.steps)
    throw Error(
        ErrorCode::kNotSupported,
        "chat template: more than " + std::to_string(limits_.steps) + " steps; it may never end");
}

void Evaluator::print(const std::string& text) {
  if (out_.size() + text.size() > limits_.output_bytes)
    throw Error(
        ErrorCode::kNotSupported,
        "chat template: more than " + std::to_string(limits_.output_bytes) + " bytes of output");
  count(text_cost(text.size()));
  out_ += text;
}

Value* Evaluator::find(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    for (auto& [key, value] : *scope)
      if (key == name) return &value;
  return nullptr;
}

void Evaluator::unpack(const std::vector<std::string>& names, const Value& value, int line) {
  count(copy_cost(value));
  if (names.size() == 1) return put(scopes_.back(), names[0], value);
  const List* list = value.list();
  if (!list || list->size() != names.size())
    refuse(line, "unpacking " + std::string(kind_of(value)) + " into " +
                     std::to_string(names.size()) + " names");
  count(copy_cost(*list));
  for (std::size_t i = 0; i < names.size(); ++i) put(scopes_.back(), names[i], (*list)[i]);
}

Evaluator::Flow Evaluator::execute(const Node& node) {
  const Deeper deeper(*this, node.line);
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
      print(text(evaluate(*node.children[0]), node.line));
      return Flow::kNext;
    case Op::kIf:
      if (truthy(evaluate(*node.condition))) return execute(*node.body);
      return node.other ? execute(*node.other) : Flow::kNext;
    case Op::kFor:
      return loop(node);
    case Op::kScope: {
      scopes_.emplace_back();
      const Flow flow = execute(*node.body);
      scopes_.pop_back();
      return flow;
    }
    case Op::kSet:
      set(node);
      return Flow::kNext;
    case Op::kSetBlock: {
      Value text(captured(*node.body, node.children));  // first, because it moves the scopes
      put(scopes_.back(), node.names[0], std::move(text));
      return Flow::kNext;
    }
    case Op::kFilterBlock:
      print(captured(*node.body, node.children));
      return Flow::kNext;
    case Op::kMacro:
      define_macro(node);
      return Flow::kNext;
    case Op::kBreak:
      return Flow::kBreak;
    case Op::kContinue:
      return Flow::kContinue;
    default:
      refuse(node.line, "this statement");
  }
}

void Evaluator::set(const Node& node) {
  const Value value = evaluate(*node.children[0]);
  if (node.text.empty()) return unpack(node.names, value, node.line);
  const Value* target = find(node.names[0]);
  Namespace* space = target ? target->name_space() : nullptr;
  if (!space) refuse(node.line, "setting an attribute of " + node.names[0] + " (no namespace)");
  if (value.changeable) refuse(node.line, "a namespace or function within a namespace");
  put(space->values, node.text, value);
}

// A block's output after the filters (none, or a chain that begins at kCaptured).
std::string Evaluator::captured(const Node& body,
                                const std::vector<std::shared_ptr<Node>>& filters) {
  std::string outer = std::exchange(out_, {});
  scopes_.emplace_back();
  execute(body);
  scopes_.pop_back();
  std::string inner = std::exchange(out_, std::move(outer));
  if (filters.empty()) return inner;
  captured_ = std::move(inner);
  return text(evaluate(*filters[0]), body.line);
}

Evaluator::Flow Evaluator::loop(const Node& node) {
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
    const auto at = static_cast<std::size_t>(i);
    count(10 + (i > 0 ? copy_cost(items[at - 1]) : 0) +
          (i + 1 < size ? copy_cost(items[at + 1]) : 0));
    scopes_.emplace_back();
    Dict info = {{"index", i + 1},           {"index0", i},
                 {"revindex", size - i},     {"revindex0", size - i - 1},
                 {"first", i == 0},          {"last", i + 1 == size},
                 {"length", size},           {"depth", std::int64_t{1}},
                 {"depth0", std::int64_t{0}}};
    if (i > 0) info.emplace_back("previtem", items[at - 1]);
    if (i + 1 < size) info.emplace_back("nextitem", items[at + 1]);
    info.emplace_back("cycle", Value(Function([at](const Arguments& a) {
                        return a.positional.empty() ? Value()
                                                    : a.positional[at % a.positional.size()];
                      })));
    scopes_.back().emplace_back("loop", Value(std::move(info)));
    unpack(node.names, items[at], node.line);
    const Flow flow = execute(*node.body);
    scopes_.pop_back();
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

void Evaluator::define_macro(const Node& node) {
  // A macro sees the globals as they are when it is called, and the enclosing scopes as they were.
  std::vector<Dict> closure(scopes_.begin() + 1, scopes_.end());
  std::uint16_t depth = 1;
  for (const Dict& scope : closure) {
    count(copy_cost(scope));
    for (const auto& [name, value] : scope)
      if (value.changeable) depth = std::max<std::uint16_t>(depth, value.depth + 1);
  }
  Value macro(Function([this, &node, closure = std::move(closure)](const Arguments& arguments) {
    return call_macro(node, closure, arguments);
  }));
  macro.depth = depth;
  if (depth > limits_.value_depth)
    refuse(node.line,
           "a macro within more than " + std::to_string(limits_.value_depth) + " others");
  put(scopes_.back(), node.text, std::move(macro));
}

Value Evaluator::call_macro(const Node& node, const std::vector<Dict>& closure,
                            const Arguments& arguments) {
  if (++macro_depth_ > limits_.macro_depth)
    refuse(node.line, "macros nested deeper than " + std::to_string(limits_.macro_depth));
  if (arguments.positional.size() > node.names.size())
    refuse(node.line, "calling the macro '" + node.text + "' with more arguments than it has");
  for (const auto& [name, value] : arguments.named)
    if (std::find(node.names.begin(), node.names.end(), name) == node.names.end())
      refuse(node.line, "the argument '" + name + "' of the macro '" + node.text + "'");
  std::vector<Dict> outer_scopes(std::make_move_iterator(scopes_.begin() + 1),
                                 std::make_move_iterator(scopes_.end()));
  scopes_.resize(1);
  for (const Dict& scope : closure) {
    count(copy_cost(scope));
    scopes_.push_back(scope);
  }
  scopes_.emplace_back();
  for (std::size_t i = 0; i < node.names.size(); ++i) {
    Value value = arguments.get(i, node.names[i]);
    if (value.is_undefined() && node.named[i].second) value = evaluate(*node.named[i].second);
    put(scopes_.back(), node.names[i], std::move(value));
  }
  std::string outer = std::exchange(out_, {});
  execute(*node.body);
  Value result(std::exchange(out_, std::move(outer)));
  scopes_.resize(1);
  scopes_.insert(scopes_.end(), std::make_move_iterator(outer_scopes.begin()),
                 std::make_move_iterator(outer_scopes.end()));
  --macro_depth_;
  return result;
}

Value Evaluator::evaluate(const Node& node) {
  const Deeper deeper(*this, node.line);
  Value value = computed(node);
  const auto* text = value.get<std::string>();
  if (text && text->size() > limits_.output_bytes)
    refuse(node.line, "a text of more than " + std::to_string(limits_.output_bytes) + " bytes");
  if (value.depth > limits_.value_depth)
    refuse(node.line, "values nested deeper than " + std::to_string(limits_.value_depth));
  if (value.weight > limits_.value_weight)
    refuse(node.line, "a list of more than " + std::to_string(limits_.value_weight) + " parts");
  count(1 + copy_cost(value));
  return value;
}

Value Arguments::get(std::size_t index, const std::string& name) const {
  if (index < positional.size()) return positional[index];
  for (const auto& [key, value] : named)
    if (key == name) return value;
  return Value();
}

std::string render(const Template& parsed, const Dict& globals, const Limits& limits) {
  return Evaluator(globals, limits).run(*parsed.root);
}

}  // namespace triescope::jinja
