#include "page/views/cohorts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "page/views/amounts.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "projections/quota_report.hpp"
#include "projections/quota_totals.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::page {
namespace {

using admission::QueueConfig;
using projections::SubtreeQuota;

Json quota_bar(const SubtreeQuota& line) {
  const auto amount = [&](Amount a) { return amount_json(a, line.resource); };
  const Amount unused = std::max<Amount>(0, subtract(line.nominal, line.used));
  Json out{{"flavor", line.flavor.text()}, {"resource", line.resource.text()}};
  out["nominal"] = amount(line.nominal);
  out["used"] = amount(line.used);
  out["own"] = amount(std::max<Amount>(0, subtract(line.used, line.borrowed)));
  out["borrowed"] = amount(line.borrowed);
  out["lent"] = amount(line.nominal == unlimited ? 0 : std::max<Amount>(0, subtract(unused, line.available)));
  if (line.nominal != unlimited && line.borrowing_limit) out["limit"] = amount(add(line.nominal, *line.borrowing_limit));
  return out;
}

std::string share_text(std::int64_t share) {
  return share == std::numeric_limits<std::int64_t>::max() ? "infinite" : std::to_string(share);
}

/// Builds the trees; each node once, whatever the parents say.
class Forest {
 public:
  explicit Forest(const admission::StateView& state) : state_(state), catalog_(*state.domain().catalog()) {
    for (const auto& [name, config] : catalog_.queues)
      if (!config->cohort.empty()) queues_[config->cohort].push_back(config.get());
    for (const auto& [name, config] : catalog_.cohorts)
      if (!config->parent.empty()) cohorts_[config->parent].push_back(name);
  }

  Json roots() {
    const auto all = projections::all_cohorts(state_);
    for (const Symbol& cohort : all)
      if (parent_of_cohort(cohort).empty()) too_deep_.push_back(cohort);
    Json out = Json::array();
    const auto take_all = [&] {
      while (!too_deep_.empty()) {
        std::vector<Symbol> now;
        now.swap(too_deep_);
        for (const Symbol& root : now)
          if (!put_.contains(root)) out.push_back(cohort_node(root, 0).first);
      }
    };
    take_all();
    for (const Symbol& cohort : all) {  // those in circles
      if (put_.contains(cohort)) continue;
      too_deep_.push_back(cohort);
      take_all();
    }
    for (const auto& [name, config] : catalog_.queues)
      if (config->cohort.empty()) out.push_back(queue_node(*config).first);
    return out;
  }

 private:
  struct Counts {
    std::int64_t waiting = 0, admitted = 0;
  };
  using Node = std::pair<Json, Counts>;

  [[nodiscard]] Symbol parent_of_cohort(const Symbol& cohort) const {
    const auto it = catalog_.cohorts.find(cohort);
    return it == catalog_.cohorts.end() ? Symbol() : it->second->parent;
  }

  static Json node_of(const char* kind, const Symbol& name, const Counts& counts, bool active) {
    return {{"kind", kind}, {"name", name.text()}, {"waiting", counts.waiting}, {"admitted", counts.admitted}, {"active", active}};
  }

  Node queue_node(const QueueConfig& config) const {
    Counts counts;
    if (const auto* queue = state_.queue(config.name)) counts = {queue->counters().pending, queue->counters().admitted};
    Json out = node_of("ClusterQueue", config.name, counts, catalog_.queue_active(config.name));
    if (const auto* tree = projections::tree_of(state_, config.name); tree != nullptr && catalog_.settings.fair_sharing)
      out["share"] = share_text(tree->weighted_share(config.name));
    put_bars(out, projections::subtree_of_queue(state_, config.name));
    out["children"] = Json::array();
    return {std::move(out), counts};
  }

  Node cohort_node(const Symbol& name, std::size_t depth) {
    put_.insert(name);
    Counts counts;
    Json children = Json::array();
    const auto add = [&](Node node) {
      counts.waiting += node.second.waiting;
      counts.admitted += node.second.admitted;
      children.push_back(std::move(node.first));
    };
    if (const auto below = cohorts_.find(name); below != cohorts_.end())
      for (const Symbol& child : below->second) {
        if (put_.contains(child)) continue;
        if (depth + 1 < tree_depth_max)
          add(cohort_node(child, depth + 1));
        else
          too_deep_.push_back(child);
      }
    if (const auto below = queues_.find(name); below != queues_.end())
      for (const auto* queue : below->second) add(queue_node(*queue));
    const auto* tree = projections::tree_of_cohort(state_, name);
    Json out = node_of("Cohort", name, counts, tree != nullptr);
    if (tree != nullptr && catalog_.settings.fair_sharing) out["share"] = share_text(tree->cohort_weighted_share(name));
    put_bars(out, projections::subtree_of_cohort(state_, name));
    out["children"] = std::move(children);
    return {std::move(out), counts};
  }

  static void put_bars(Json& out, const std::vector<SubtreeQuota>& lines) {
    out["quota"] = Json::array();
    for (const auto& line : lines) out["quota"].push_back(quota_bar(line));
  }

  const admission::StateView& state_;
  const admission::Catalog& catalog_;
  std::map<Symbol, std::vector<const QueueConfig*>, ByText> queues_;  ///< By cohort, in order of names.
  std::map<Symbol, std::vector<Symbol>, ByText> cohorts_;             ///< By parent, in order of names.
  std::set<Symbol, ByText> put_;
  std::vector<Symbol> too_deep_;  ///< To be roots.
};

// ---- users ------------------------------------------------------------------------------------------------------------------------

/// The pair that was asked for, or that is used most; empty names: nobody has any quota, and nobody asked for a certain one.
Result<projections::TopQuota> asked_pair(const admission::StateView& state, const Parameters& parameters) {
  const auto totals = projections::quota_totals(state);
  const auto flavor = parameters.text("flavor"), resource = parameters.text("resource");
  if (flavor.empty() && resource.empty()) {
    if (const auto* most = projections::most_used(totals)) return *most;
    return totals.empty() ? projections::TopQuota{} : totals.front();
  }
  for (const auto& total : totals)
    if ((flavor.empty() || total.flavor.text() == flavor) && (resource.empty() || total.resource.text() == resource)) return total;
  return fail(ErrorKind::not_found,
              "no ClusterQueue or Cohort has quota of flavor \"" + printable(flavor) + "\" and resource \"" + printable(resource) + "\"");
}

struct QueueUser {
  const admission::WorkloadInfo* workload = nullptr;
  Amount used = 0;
};

}  // namespace

Result<Json> cohorts_view(const Look& look, const Parameters&) {
  Json out = taken_at(look);
  out["roots"] = Forest(look.past.driver()).roots();
  return out;
}

Result<Json> queue_users_view(const Look& look, const Parameters& parameters) {
  const auto& state = look.past.driver();
  const auto pair = asked_pair(state, parameters);
  if (!pair) return tl::unexpected(pair.error());
  const Sight sight(state, look.audience);
  Json out = taken_at(look);
  out["flavor"] = pair->flavor.text();
  out["resource"] = pair->resource.text();
  out["queues"] = Json::array();
  for (const auto& [name, config] : state.domain().catalog()->queues) {
    const auto* queue = state.queue(name);
    if (queue == nullptr) continue;
    const auto reservations = queue->reservations();
    std::vector<QueueUser> users;
    std::size_t left_out = 0;
    for (const auto& r : reservations) {
      Amount used = 0;
      for (const auto& c : r->charges)
        if (c.flavor == pair->flavor && c.resource == pair->resource) used = add(used, c.amount);
      if (used == 0) continue;
      if (sight.sees(r->workload->namespace_.text()))
        users.push_back({r->workload.get(), used});
      else
        ++left_out;
    }
    if (users.empty() && left_out == 0) continue;
    const std::size_t shown = std::min(users.size(), users_of_queue_max);
    std::partial_sort(
        users.begin(), users.begin() + static_cast<std::ptrdiff_t>(shown), users.end(),
        [](const QueueUser& a, const QueueUser& b) { return a.used != b.used ? a.used > b.used : a.workload->uid < b.workload->uid; });
    Json one{{"name", name.text()}};
    if (!config->cohort.empty()) one["cohort"] = config->cohort.text();
    one["users"] = Json::array();
    for (std::size_t i = 0; i < shown; ++i)
      one["users"].push_back({{"workload", object_ref("Workload", users[i].workload->namespace_.text(), users[i].workload->name)},
                              {"used", amount_json(users[i].used, pair->resource)}});
    one["leftOut"] = left_out + users.size() - shown;
    out["queues"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hindsight::page
