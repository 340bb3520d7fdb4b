#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "events/log.hpp"
#include "projections/json.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/result.hpp"
#include "whatif/changes.hpp"

namespace hindsight::page {

// What somebody asks a branch for (BranchRequest of web/src/api/types.ts).

struct QuotaCard {
  std::string cluster_queue, flavor, resource, amount;
  whatif::QuotaChange change;  ///< The same, as it is carried out.
};
struct ManifestCard {
  std::string yaml;
};
struct DropCard {
  std::string kind;  ///< As it was given: "Job".
  projections::Target target;
};
struct NodesCard {
  whatif::NodeChange change;
};
struct FeatureGatesCard {
  std::string text;
};
using BranchEdit = std::variant<QuotaCard, ManifestCard, DropCard, NodesCard, FeatureGatesCard>;

struct BranchRequest {
  std::string name;
  events::Position from = 0;
  std::optional<events::Position> until;  ///< Nothing: all that is on record, and on beyond it for as long as that took.
  std::vector<BranchEdit> edits;

  static constexpr std::size_t body_bytes_max = std::size_t{2} << 20, name_bytes_max = 100, edits_max = 100;
  static constexpr std::size_t manifests_bytes_max = std::size_t{1} << 20;  ///< Of all edits together.
};

/// Reads a request. Errors: invalid, naming the edit by its index and field ("edits[2].amount"), what was found and what is allowed.
/// Whether queues, nodes and jobs are there is not asked yet.
[[nodiscard]] Result<BranchRequest> parse_branch_request(std::string_view body);

/// As it is shown again.
[[nodiscard]] projections::Json to_json(const BranchEdit& edit);

}  // namespace hindsight::page
