// Walks a template's syntax tree. Internal to core/text/jinja.
#pragma once

#include <string>
#include <vector>

#include "core/text/jinja/jinja.h"
#include "core/text/jinja/nodes.h"

namespace triescope::jinja {

class Evaluator {
 public:
  Evaluator(const Dict& globals, const Limits& limits);
  std::string run(const Node& root);

 private:
  enum class Flow : std::uint8_t { kNext, kBreak, kContinue };
  struct Deeper;

  // statements (eval.cpp)
  Flow execute(const Node& node);
  Flow loop(const Node& node);
  void set(const Node& node);
  void define_macro(const Node& node);
  Value call_macro(const Node& node, const std::vector<Dict>& closure, const Arguments& arguments);
  std::string captured(const Node& body, const std::vector<std::shared_ptr<Node>>& filters);
  void unpack(const std::vector<std::string>& names, const Value& value, int line);
  void define(const char* name, Function function);
  Value* find(const std::string& name);

  // limits
  void count(std::size_t steps = 1);
  void print(const std::string& text);

  // expressions (eval_expression.cpp)
  Value evaluate(const Node& node);
  Value computed(const Node& node);
  Value binary(const Node& node, const Value& a, const Value& b);
  Value arithmetic(const Node& node, const Value& a, const Value& b);
  Value compare(const std::string& op, const Value& a, const Value& b, int line);
  Value member(const Value& value, const Value& key, int line);
  Value slice(const Node& node);
  Value call(const Node& node);
  Arguments arguments_of(const Node& node);
  List items_of(const Value& value, int line);
  std::string text(const Value& value, int line);  // what printing the value prints

  // methods, filters, tests (filters.cpp)
  Value method(const Value& object, const std::string& name, const Arguments& a, int line);
  Value text_method(const std::string& s, const std::string& name, const Arguments& a, int line);
  Value filter(const std::string& name, const Value& value, const Arguments& a, int line);
  Value text_filter(const std::string& name, const Value& value, const Arguments& a, int line);
  Value list_filter(const std::string& name, const Value& value, const Arguments& a, int line);
  Value number_filter(const std::string& name, const Value& value, const Arguments& a, int line);
  bool test(const std::string& name, const Value& value, const Arguments& a, int line);
  std::string repeated(const std::string& text, std::int64_t times, int line);

  Limits limits_;
  std::vector<Dict> scopes_;
  std::string out_;
  std::string captured_;  // output of a set or filter block, for its filters
  std::int64_t steps_ = 0;
  int depth_ = 0, macro_depth_ = 0;
};

}  // namespace triescope::jinja
