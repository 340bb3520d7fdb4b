#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "admission/domain/state_view.hpp"
#include "page/view.hpp"

namespace hindsight::page {

/// What stands in place of a name that may not be told.
inline constexpr std::string_view hidden_name = "(another namespace)";

/// What an audience may be told about one state. It asks the audience once about each namespace that comes up, and not about others. For
/// one answer; not thread-safe.
class Sight {
 public:
  Sight(const admission::StateView& state, const Audience& audience);

  [[nodiscard]] bool sees_all() const { return all_; }
  /// Objects of no namespace are for everybody.
  [[nodiscard]] bool sees(std::string_view namespace_) const;

  /// A text for people, with `hidden_name` in place of "namespace/name" (and "KIND/namespace/name", and "namespace NAME") of what may not
  /// be seen. Namespaces are those that the state knows; a word is taken up to the next space or punctuation mark, so whatever a hidden
  /// object is called goes with it. A pair "flavor/resource" stays.
  [[nodiscard]] std::string told(std::string_view text) const;

  /// The same for all texts of a document. Elements of lists that are objects of a namespace that may not be seen (by their "namespace",
  /// or by a "workload" of the form "namespace/name") are left out; how many, is returned. Of an object elsewhere
  /// the names are replaced.
  std::size_t veil(Json& document) const;

 private:
  void learn_namespaces();
  [[nodiscard]] bool hides(std::string_view namespace_) const { return known_.contains(std::string(namespace_)) && !sees(namespace_); }
  [[nodiscard]] bool hides_word(std::string_view word) const;
  [[nodiscard]] bool hides_element(const Json& element) const;

  const admission::StateView& state_;
  const Audience& audience_;
  bool all_;
  std::unordered_set<std::string> known_;  ///< Namespaces of the state; empty if all may be seen.
  std::unordered_set<std::string> pairs_;  ///< "flavor/resource".
  mutable std::unordered_map<std::string, bool> asked_;
};

}  // namespace hindsight::page
