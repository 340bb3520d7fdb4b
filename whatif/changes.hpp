#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/model/catalog.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::whatif {

/// Another nominal quota: "clusterqueue/a:cpu=40", "clusterqueue/a:spot/cpu=+40", "cohort/c:nvidia.com/gpu=-8".
struct QuotaChange {
  bool is_cohort = false;
  std::string node, flavor, resource;  ///< `flavor` empty: the only one with this resource.
  enum class How : std::uint8_t { set, add, subtract } how = How::set;
  Amount amount = 0;

  [[nodiscard]] Amount applied_to(Amount nominal) const;
  [[nodiscard]] bool concerns(std::string_view flavor_name, std::string_view resource_name) const {
    return (flavor.empty() || flavor == flavor_name) && resource == resource_name;
  }
};

/// More nodes like one that is there: "4xnode-7".
struct NodeChange {
  std::size_t count = 0;
  std::string like;

  static constexpr std::size_t count_max = 10'000;  ///< Of one change, and of all together.
};

/// What is otherwise than on record, from the moment on.
struct Changes {
  std::vector<QuotaChange> quotas;
  std::vector<QuotaChange> quotas_elsewhere;  ///< Of queues that another domain has at the moment: they hold if one comes to this domain.
  std::vector<NodeChange> nodes;
  std::vector<std::string> dropped;                  ///< Jobs and Workloads that never came: "job/team-a/train", "workload/team-a/w".
  std::vector<std::vector<std::byte>> observations;  ///< Encoded records of objects as they are instead, or beside.

  bool current_rules = false;  ///< Decisions are made by the rules of this build, whatever those on record were made by.

  /// Nothing happens that did not.
  [[nodiscard]] bool empty() const { return quotas.empty() && nodes.empty() && dropped.empty() && observations.empty(); }
};

/// "a, b", at most twenty and how many more; "none". For messages.
[[nodiscard]] std::string listed(const std::set<std::string>& names);

/// Reads what `--set` takes. Errors: invalid, with what was found and what is allowed.
[[nodiscard]] Result<QuotaChange> parse_quota_change(std::string_view text);

/// Reads what `--add-nodes` takes: COUNTxNODE. Errors: invalid, with what was found and what is allowed.
[[nodiscard]] Result<NodeChange> parse_node_change(std::string_view text);

/// Whether these find their nodes, in the state or among the objects that are brought. Errors: not_found (the message names what there
/// is), invalid (they are too many).
[[nodiscard]] Result<void> check(const std::vector<NodeChange>& changes, const std::vector<std::vector<std::byte>>& observations,
                                 const admission::StateView& state);

/// A new node like this one: ready, open for pods, and with nothing on it. The name lives as long as `arena`.
[[nodiscard]] NodeObserved new_node(const admission::NodeConfig& like, Text name, Arena& arena);

/// Whether this change finds its queue and quota in the state. Errors: not_found (the message names what there is), invalid (there are
/// several flavors with the resource).
[[nodiscard]] Result<void> check(const QuotaChange& change, const admission::StateView& state);

/// The limits with the changes that concern this node; the lists live in `arena` where anything changes.
[[nodiscard]] List<ResourceGroupFacts> changed(List<ResourceGroupFacts> groups, const std::vector<QuotaChange>& changes, bool is_cohort,
                                               std::string_view node, Arena& arena);

}  // namespace hindsight::whatif
