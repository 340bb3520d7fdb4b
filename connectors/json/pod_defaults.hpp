#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "vocabulary/amount.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// Amounts by resource name, sorted; owned.
using OwnedAmounts = std::map<std::string, Amount, std::less<>>;

/// What all LimitRanges of a namespace say together: the lowest maximum, the highest minimum, the first default (by LimitRange name).
struct LimitSummary {
  struct Limits {
    OwnedAmounts max, min, default_limit, default_request;
  };
  std::optional<Limits> container;
  std::optional<Limits> pod;
};

/// What the cluster adds to every pod: overhead of RuntimeClasses and defaults of LimitRanges (base-admission §1.3 a, b). The mirror
/// keeps one and hands it to observe(); a change here means that the Workloads concerned are to be observed again.
class ClusterDefaults {
 public:
  /// A RuntimeClass was added or changed. Errors: as observe().
  Result<void> set_runtime_class(simdjson::dom::element runtime_class);
  void remove_runtime_class(std::string_view name);
  /// A LimitRange was added or changed. Errors: as observe().
  Result<void> set_limit_range(simdjson::dom::element limit_range);
  void remove_limit_range(std::string_view namespace_, std::string_view name);

  /// spec.overhead of a pod with this runtimeClassName; nullptr: none known.
  [[nodiscard]] const OwnedAmounts* overhead(std::string_view runtime_class) const;
  /// nullptr: the namespace has no LimitRange.
  [[nodiscard]] const LimitSummary* limits(std::string_view namespace_) const;

 private:
  struct Item {
    std::string type;
    LimitSummary::Limits limits;
  };
  struct Namespace {
    std::map<std::string, std::vector<Item>, std::less<>> ranges;
    LimitSummary summary;
  };
  static LimitSummary summarize(const Namespace& ns);

  std::map<std::string, OwnedAmounts, std::less<>> overheads_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
};

}  // namespace hindsight::connectors
