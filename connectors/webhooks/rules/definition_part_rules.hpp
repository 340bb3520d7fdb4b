#pragma once

#include <string>
#include <string_view>

#include "connectors/manifests/finding.hpp"

namespace hindsight::connectors::webhooks {

using manifests::Findings;
using manifests::Json;

/// A part of an object as it is and as it was. What was not there, or cannot be found again, is null.
struct Part {
  const Json& now;
  const Json& before;

  /// The API server tolerates what is stored and wrong as long as it stays as it is.
  [[nodiscard]] bool unchanged() const { return !before.is_null() && now == before; }
  [[nodiscard]] Part at(std::string_view name) const { return {manifests::member(now, name), manifests::member(before, name)}; }
};

/// Calls visit(part, "field[i]") for the entries of the list `name`, each beside the old one of the same name.
template <class Visit>
void each_named_part(const Part& parent, std::string_view name, const std::string& path, Visit visit) {
  static const Json nothing;
  const Json& old_list = manifests::member(parent.before, name);
  std::size_t place = 0;
  manifests::each_item(parent.now, name, path, [&](const Json& item, const std::string& field) {
    const Json* before = &nothing;
    const auto wanted = manifests::text(item, "name");
    const auto is_it = [&](const Json& one) { return manifests::text(one, "name") == wanted; };
    if (old_list.is_array()) {
      // Mostly it stands where it stood.
      if (place < old_list.size() && is_it(old_list[place])) {
        before = &old_list[place];
      } else {
        for (const auto& one : old_list)
          if (is_it(one)) before = &one;
      }
    }
    ++place;
    visit(Part{item, *before}, field);
  });
}

/// Rules of a Workload's definition that look at one part of it: a PodSet, a container, a priority class, a place, an addition to pods.
void check_workload_parts(const Part& workload, Findings& findings);

}  // namespace hindsight::connectors::webhooks
