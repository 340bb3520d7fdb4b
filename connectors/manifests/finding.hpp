#pragma once

#include <string>
#include <utility>
#include <vector>

#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/kinds.hpp"

namespace hindsight::connectors::manifests {

/// An object as rules see it; of an object that does not exist, everything is null.
struct ObjectView {
  explicit ObjectView(const Json& object) : ObjectView(object, member(object, "status")) {}
  /// The object with another status.
  ObjectView(const Json& object, const Json& with_status)
      : whole(object), metadata(member(object, "metadata")), spec(member(object, "spec")), status(with_status) {}

  [[nodiscard]] bool exists() const { return !whole.is_null(); }

  const Json& whole;
  const Json& metadata;
  const Json& spec;
  const Json& status;
};

/// Gathers what rules find.
class Findings {
 public:
  explicit Findings(std::vector<Problem>& problems) : problems_(problems) {}

  void add(ProblemKind kind, std::string field, const Json& found, std::string message) {
    if (problems_.size() >= problems_max) return;
    problems_.push_back({kind, std::move(field), found.is_null() ? std::string() : shortened(found), std::move(message)});
  }
  void invalid(std::string field, const Json& found, std::string message) {
    add(ProblemKind::invalid, std::move(field), found, std::move(message));
  }
  void required(std::string field, std::string message) { add(ProblemKind::required, std::move(field), Json(), std::move(message)); }
  void forbidden(std::string field, std::string message) { add(ProblemKind::forbidden, std::move(field), Json(), std::move(message)); }
  void duplicate(std::string field, const Json& found) { add(ProblemKind::duplicate, std::move(field), found, "must be there only once"); }

  /// `now` must be what it was; both may be null for absent.
  void immutable(std::string field, const Json& now, const Json& before) {
    if (now != before) invalid(std::move(field), now, "field is immutable");
  }

  [[nodiscard]] bool empty() const { return problems_.empty(); }

 private:
  std::vector<Problem>& problems_;
};

/// "field[3]".
[[nodiscard]] inline std::string at(const std::string& field, std::size_t index) { return field + "[" + std::to_string(index) + "]"; }

/// Calls visit(element, "field[i]") for the elements of the list `name` of `parent`.
template <class Visit>
void each_item(const Json& parent, std::string_view name, const std::string& path, Visit visit) {
  const Json& list = member(parent, name);
  if (!list.is_array()) return;
  for (std::size_t i = 0; i < list.size(); ++i) visit(list[i], at(path.empty() ? std::string(name) : path + "." + std::string(name), i));
}

}  // namespace hindsight::connectors::manifests
