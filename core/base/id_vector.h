// IdVector: a vector indexed by a strong id, so that no caller casts. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace triescope {

template <class Id, class T>
class IdVector {
 public:
  using reference = typename std::vector<T>::reference;
  using const_reference = typename std::vector<T>::const_reference;

  // Both REQUIRE contains(id).
  reference operator[](Id id) { return values_[index(id)]; }
  const_reference operator[](Id id) const { return values_[index(id)]; }
  bool contains(Id id) const { return id.valid() && id.value < size(); }
  // The value, or `otherwise` if the vector does not reach the id.
  T get(Id id, T otherwise = {}) const { return contains(id) ? T(values_[index(id)]) : otherwise; }

  std::int32_t size() const { return static_cast<std::int32_t>(values_.size()); }
  // Grows to `size` entries; the new ones are `fill`. Never shrinks.
  void grow(std::int32_t size, const T& fill = {}) {
    if (size > this->size()) values_.resize(static_cast<std::size_t>(size), fill);
  }
  Id push_back(T value) {
    values_.push_back(std::move(value));
    return Id(size() - 1);
  }

 private:
  static std::size_t index(Id id) { return static_cast<std::size_t>(id.value); }
  std::vector<T> values_;
};

}  // namespace triescope
