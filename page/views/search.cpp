#include "page/views/search.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "projections/format.hpp"
#include "projections/phase.hpp"
#include "projections/queue_place.hpp"
#include "projections/quota_report.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::page {
namespace {

constexpr std::size_t query_bytes_max = 512;

enum class MatchRank { same, beginning, part };

/// How a name matches words in small letters; nothing: it does not.
std::optional<MatchRank> match_of(std::string_view name, std::string_view wanted) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  const auto at = std::search(name.begin(), name.end(), wanted.begin(), wanted.end(), same);
  if (at == name.end()) return std::nullopt;
  if (name.size() == wanted.size()) return MatchRank::same;
  return at == name.begin() ? MatchRank::beginning : MatchRank::part;
}

/// Kinds in the order in which they are told. `workload` stands for jobs as well.
enum class FoundKind { cluster_queue, cohort, local_queue, workload, topology, flavor, check, node };

std::string_view kind_word(FoundKind kind) {
  switch (kind) {
    case FoundKind::cluster_queue:
      return "ClusterQueue";
    case FoundKind::cohort:
      return "Cohort";
    case FoundKind::local_queue:
      return "LocalQueue";
    case FoundKind::workload:
      return "Workload";
    case FoundKind::topology:
      return "Topology";
    case FoundKind::flavor:
      return "ResourceFlavor";
    case FoundKind::check:
      return "AdmissionCheck";
    case FoundKind::node:
      return "Node";
  }
  return "";
}

/// Points into the state.
struct FoundObject {
  MatchRank rank = MatchRank::part;
  FoundKind kind = FoundKind::workload;
  std::string_view namespace_, name;
  projections::WorkloadAt at;  ///< Of a Workload.

  friend bool operator<(const FoundObject& a, const FoundObject& b) {
    return std::tie(a.rank, a.kind, a.name, a.namespace_) < std::tie(b.rank, b.kind, b.name, b.namespace_);
  }
};

class Finder {
 public:
  Finder(const admission::StateView& state, const Sight& sight, std::string wanted)
      : state_(state), catalog_(*state.domain().catalog()), sight_(sight), wanted_(std::move(wanted)) {}

  std::vector<FoundObject> find(std::size_t limit) {
    workloads();
    for (const auto& [name, config] : catalog_.queues) offer(FoundKind::cluster_queue, {}, name.text());
    for (const auto& [key, config] : catalog_.local_queues)
      if (sight_.sees(key.first.text())) offer(FoundKind::local_queue, key.first.text(), key.second.text());
    for (const Symbol& name : projections::all_cohorts(state_)) offer(FoundKind::cohort, {}, name.text());
    for (const auto& [name, config] : catalog_.flavors) offer(FoundKind::flavor, {}, name.text());
    for (const auto& [name, levels] : catalog_.topologies) offer(FoundKind::topology, {}, name.text());
    for (const auto& [name, config] : catalog_.checks) offer(FoundKind::check, {}, name.text());
    for (const auto& [name, config] : state_.domain().nodes()) offer(FoundKind::node, {}, name.text());
    const std::size_t shown = std::min(limit, found_.size());
    std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(shown), found_.end());
    found_.resize(shown);
    return std::move(found_);
  }

 private:
  void offer(FoundKind kind, std::string_view namespace_, std::string_view name, const projections::WorkloadAt& at = {},
             std::optional<MatchRank> also = {}) {
    auto rank = match_of(name, wanted_);
    if (!rank && !namespace_.empty() && wanted_.find('/') != std::string::npos)
      rank = match_of(std::string(namespace_) + "/" + std::string(name), wanted_);
    if (also && (!rank || *also < *rank)) rank = also;
    if (rank) found_.push_back({*rank, kind, namespace_, name, at});
  }

  void workloads() {
    std::unordered_map<Symbol, bool> seen;
    for (std::uint32_t i = 0; i < state_.domain().parent_count(); ++i) {
      const auto* parent = state_.parent(i);
      if (parent == nullptr) continue;
      const auto& job = parent->job();
      const auto by_job = job ? match_of(job->name, wanted_) : std::nullopt;
      for (const auto& w : parent->workloads()) {
        const auto [it, fresh] = seen.try_emplace(w.namespace_, false);
        if (fresh) it->second = sight_.sees(w.namespace_.text());
        if (it->second) offer(FoundKind::workload, w.namespace_.text(), w.name, {parent, &w}, by_job);
      }
    }
  }

  const admission::StateView& state_;
  const admission::Catalog& catalog_;
  const Sight& sight_;
  std::string wanted_;
  std::vector<FoundObject> found_;
};

/// What is said of it in small type.
std::string hint_of(const admission::StateView& state, const FoundObject& found) {
  const auto& catalog = *state.domain().catalog();
  switch (found.kind) {
    case FoundKind::workload: {
      const auto& w = *found.at.workload;
      std::string out(projections::name_of(projections::phase_of(w)));
      const Symbol queue = w.admission ? w.admission->cluster_queue : projections::queue_of(state, w);
      if (!queue.empty()) out += ", ClusterQueue " + projections::text(queue);
      if (const auto& job = found.at.parent->job()) out += ", " + projections::text(job->kind) + " " + job->name;
      return out;
    }
    case FoundKind::cluster_queue: {
      const auto* config = find_cluster_queue(state, found.name);
      const auto* queue = config == nullptr ? nullptr : state.queue(config->name);
      const std::int32_t waiting = queue == nullptr ? 0 : queue->counters().pending;
      return (config == nullptr || config->cohort.empty() ? std::string() : "cohort " + projections::text(config->cohort) + ", ") +
             projections::counted(static_cast<std::size_t>(std::max(0, waiting)), "workload") + " waiting";
    }
    case FoundKind::local_queue:
      for (const auto& [key, config] : catalog.local_queues)
        if (key.first.text() == found.namespace_ && key.second.text() == found.name)
          return "ClusterQueue " + projections::text(config.cluster_queue);
      return {};
    default:
      return {};
  }
}

std::string address_of_found(const FoundObject& found) {
  switch (found.kind) {
    case FoundKind::workload:
      return page_address({"workload", found.namespace_, found.name});
    case FoundKind::cluster_queue:
      return page_address({"queue", found.name});
    case FoundKind::cohort:
      return page_address({"queues", found.name});
    case FoundKind::topology:
      return page_address({"topology", found.name});
    case FoundKind::local_queue:  // an encoded part without its slash
      return "/workloads?queue=" + page_address({found.namespace_}).substr(1) + "%2F" + page_address({found.name}).substr(1);
    case FoundKind::flavor:
    case FoundKind::check:
    case FoundKind::node:
      return "/records?filter=object%3A" + page_address({found.name}).substr(1);
  }
  return {};
}

}  // namespace

Result<Json> search_view(const Look& look, const Parameters& parameters) {
  constexpr std::uint64_t limit_max = 100, limit_default = 20;
  const auto limit = parameters.number("limit", limit_default, 1, limit_max);
  if (!limit) return tl::unexpected(limit.error());
  const auto wanted = parameters.text("q");
  if (wanted.size() > query_bytes_max)
    return fail(ErrorKind::invalid,
                "q: found " + std::to_string(wanted.size()) + " bytes; allowed: at most " + std::to_string(query_bytes_max));
  const auto& state = look.past.driver();
  const Sight sight(state, look.audience);
  Json out = taken_at(look);
  out["items"] = Json::array();
  if (wanted.empty()) return out;
  for (const auto& found : Finder(state, sight, lower(wanted)).find(*limit))
    out["items"].push_back({{"object", object_ref(kind_word(found.kind), found.namespace_, found.name)},
                            {"hint", sight.told(hint_of(state, found))},
                            {"view", address_of_found(found)}});
  return out;
}

}  // namespace hindsight::page
