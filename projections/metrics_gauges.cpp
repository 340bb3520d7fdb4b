#include "projections/metrics_gauges.hpp"

#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "admission/domain/domain.hpp"
#include "admission/domain/queue_status.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "events/observation_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/gang_room.hpp"
#include "projections/gates.hpp"
#include "projections/lookup.hpp"
#include "projections/metric_table.hpp"
#include "projections/phase.hpp"
#include "projections/queue_place.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using Labels = std::map<std::string, std::string>;

/// CPU in cores, everything else in its unit; no limit is +Inf.
double value_of(Amount a, const Symbol& resource) {
  if (a == unlimited) return std::numeric_limits<double>::infinity();
  return resource.text() == "cpu" ? static_cast<double>(a) / 1000 : static_cast<double>(a);
}

class Gauges {
 public:
  Gauges(const StateView& state, const MetricsOptions& options) : state_(state), catalog_(*state.domain().catalog()), options_(options) {}

  std::vector<MetricGroup> collect() {
    across_ = Across::same;
    process();
    across_ = Across::nothing;
    position();
    across_ = Across::sum;  // a Workload is in one domain, though the queue that it names, or finished in, may be in another
    oddities();
    count_workloads();
    gates();
    quarantined();
    across_ = Across::cluster_queue;
    for (const auto& [name, config] : catalog_.queues) cluster_queue(*config);
    across_ = Across::same;
    if (options_.topology_levels > 0) topologies();
    across_ = Across::local_queue;
    if (options_.local_queues)
      for (const auto& [key, config] : catalog_.local_queues)
        if (selects(options_, state_, key.first, key.second)) local_queue(config);
    across_ = Across::cohort;
    for (const Symbol& name : all_cohorts(state_)) cohort(name);
    std::vector<MetricGroup> out;
    for (const auto& [across, registry] : registries_) out.push_back({across, registry.Collect()});
    return out;
  }

 private:
  void set(MetricName name, Labels labels, double value) {
    labels["replica_role"] = options_.replica_role;
    prometheus::BuildGauge().Name(name.text()).Help(name.help()).Register(registries_[across_]).Add(labels).Set(value);
  }

  /// SG-71: by contract and kind, not by value, which has no bound.
  void gates() {
    std::map<std::pair<std::string, std::string>, double> counts;
    for (const auto& gated : gated_objects(state_))
      ++counts[{gated.contract == GateContract::scheduling ? "scheduling" : "admission", gated.kind}];
    for (const auto& [key, n] : counts) set("kueue_gated_jobs", {{"contract", key.first}, {"kind", key.second}}, n);
  }

  void quarantined() {
    std::map<std::string, double> counts;
    for (const auto& [uid, q] : state_.domain().quarantined()) ++counts[q.api_kind];
    for (const auto& [kind, n] : counts) set("hindsight_quarantined_objects", {{"kind", kind}}, n);
    if (const auto n = state_.domain().passed_over().size(); n > 0) set("hindsight_quarantined_records", {}, static_cast<double>(n));
  }

  /// TAS-125: of the levels that are asked for, and of so many domains of a flavor, the upper levels first.
  void topologies() {
    constexpr std::size_t domains_max = 1'000;
    const auto room = whole_room(state_);
    std::set<Symbol, ByText> in_use;  // by queues of this domain, of which no other domain has any
    for (const auto& [name, config] : catalog_.queues)
      for (const auto& g : config->groups)
        for (const auto& flavor : g.flavors) in_use.insert(flavor.flavor);
    for (std::uint32_t f = 0; room && f < room->size(); ++f) {
      if (!in_use.contains(room->flavor(f).name)) continue;
      std::size_t told = 0;
      for (const DomainAmounts& d : domain_amounts(*room, f, static_cast<std::size_t>(options_.topology_levels))) {
        if (++told > domains_max) break;
        for (const auto& [resource, amounts] : d.amounts) {
          const Labels labels{
              {"flavor", text(room->flavor(f).name)}, {"level", d.level}, {"domain", d.domain}, {"resource", text(resource)}};
          set("hindsight_topology_capacity", labels, value_of(amounts.first, resource));
          set("hindsight_topology_free", labels, value_of(amounts.second, resource));
        }
      }
    }
  }

  void process() {
    constexpr MetricName name("kueue_build_info");
    prometheus::BuildGauge().Name(name.text()).Help(name.help()).Register(registries_[across_]).Add(options_.build).Set(1);
  }

  void position() {
    set("hindsight_sequence", {}, static_cast<double>(state_.domain().sequence()));
    set("hindsight_epoch", {}, static_cast<double>(state_.domain().epoch()));
  }

  void oddities() {
    set("hindsight_stale_decisions", {}, static_cast<double>(state_.domain().stale_decisions()));
    set("hindsight_repeated_preemptions", {}, static_cast<double>(state_.domain().repeated_preemptions().left_alone_count()));
  }

  /// One walk over all Workloads: those that finished, and those that wait and why.
  void count_workloads() {
    std::map<std::string, double> finished;
    std::map<std::pair<std::string, std::string>, double> finished_local;
    std::map<std::array<std::string, 3>, double> unadmitted;
    std::map<std::array<std::string, 5>, double> unadmitted_local;
    std::map<std::string, std::map<OptionPhase, double>> options;
    for (const auto& at : all_workloads(state_)) {
      const WorkloadState& w = *at.workload;
      if (parent_of(at) != nullptr) continue;  // a family counts as one (CA-103)
      const std::string queue = text(w.admission ? w.admission->cluster_queue : queue_of(state_, w));
      if (w.family && catalog_.settings.concurrent_admission)
        for (const auto& option : w.family->options) ++options[queue][option.phase];
      if (w.finished()) {
        ++finished[queue];
        if (selects(options_, state_, w.namespace_, w.queue_name)) ++finished_local[{text(w.queue_name), text(w.namespace_)}];
        continue;
      }
      if (w.admitted()) continue;
      const auto* a = w.find(ConditionType::admitted);
      const auto* q = w.find(ConditionType::quota_reserved);
      const std::string reason = a == nullptr ? "NoReservation" : text(a->reason);
      const std::string cause = q == nullptr ? "PendingEvaluation" : q->is_true() ? "" : text(q->reason);
      ++unadmitted[{queue, reason, cause}];
      if (selects(options_, state_, w.namespace_, w.queue_name))
        ++unadmitted_local[{text(w.queue_name), text(w.namespace_), queue, reason, cause}];
    }
    for (const auto& [queue, phases] : options)
      for (const auto phase : {OptionPhase::pending, OptionPhase::admitted, OptionPhase::deactivated, OptionPhase::finished}) {
        const auto n = phases.find(phase);
        set("kueue_concurrent_admission_options", {{"cluster_queue", queue}, {"state", std::string(events::api_name(phase))}},
            n == phases.end() ? 0 : n->second);
      }
    for (const auto& [queue, n] : finished) set("kueue_finished_workloads", {{"cluster_queue", queue}}, n);
    for (const auto& [k, n] : unadmitted) {
      set("kueue_unadmitted_workloads", {{"cluster_queue", k[0]}, {"reason", k[1]}, {"underlying_cause", k[2]}}, n);
    }
    if (!options_.local_queues) return;
    for (const auto& [k, n] : finished_local) {
      set("kueue_local_queue_finished_workloads", {{"name", k.first}, {"namespace", k.second}}, n);
    }
    for (const auto& [k, n] : unadmitted_local) {
      set("kueue_local_queue_unadmitted_workloads",
          {{"name", k[0]}, {"namespace", k[1]}, {"cluster_queue", k[2]}, {"reason", k[3]}, {"underlying_cause", k[4]}}, n);
    }
  }

  /// A family is one, by the first of its Options that waits; it is no pending one if another holds quota, as in `pendingWorkloads`
  /// (CA-103).
  [[nodiscard]] std::vector<ClusterQueue::Waiting> counted_as_pending(const ClusterQueue& queue) const {
    auto out = waiting_once(state_, queue);
    std::erase_if(out, [&](const auto& w) { return family_holds_quota(state_, *w.workload); });
    return out;
  }

  void cluster_queue(const QueueConfig& config) {
    const std::string name = text(config.name);
    const auto* queue = state_.queue(config.name);
    if (queue == nullptr) return;
    double active = 0, parked = 0;
    Time oldest;
    std::set<std::uint64_t> active_hashes, parked_hashes;
    for (const auto& w : counted_as_pending(*queue)) {
      const WorkloadAt at = find_by_uid(state_, w.workload->uid.text());
      const WorkloadState* counted = parent_of(at) != nullptr ? parent_of(at) : at.workload;
      if (counted != nullptr)
        if (const Time since = queued_since(*counted); !oldest.is_set() || since < oldest) oldest = since;
      if (w.workload->equivalence_hash != 0) (w.parked ? parked_hashes : active_hashes).insert(w.workload->equivalence_hash);
      ++(w.parked ? parked : active);
      auto& local = pending_[{w.workload->namespace_, w.workload->local_queue}];
      ++(w.parked ? local.second : local.first);
    }
    set("kueue_pending_workloads", {{"cluster_queue", name}, {"status", "active"}}, active);
    set("kueue_pending_workloads", {{"cluster_queue", name}, {"status", "inadmissible"}}, parked);
    if (oldest.is_set())
      set("hindsight_oldest_pending_timestamp_seconds", {{"cluster_queue", name}}, static_cast<double>(oldest.micros) / 1e6);
    if (catalog_.settings.scheduling_equivalence_hashing) {
      set("kueue_pending_scheduling_hashes", {{"cluster_queue", name}, {"status", "active"}}, static_cast<double>(active_hashes.size()));
      set("kueue_pending_scheduling_hashes", {{"cluster_queue", name}, {"status", "inadmissible"}},
          static_cast<double>(parked_hashes.size()));
    }
    const auto& counters = queue->counters();
    set("kueue_reserving_active_workloads", {{"cluster_queue", name}}, counters.reserving);
    set("kueue_admitted_active_workloads", {{"cluster_queue", name}}, counters.admitted);
    const bool is_active = catalog_.queue_active(config.name);
    const char* status = config.deleting ? "terminating" : is_active ? "active" : "pending";
    for (const char* s : {"pending", "active", "terminating"}) {
      set("kueue_cluster_queue_status", {{"cluster_queue", name}, {"status", s}}, std::string_view(s) == status ? 1 : 0);
    }
    const Symbol root = catalog_.cohort_root(config);
    set("kueue_cluster_queue_info",
        {{"cluster_queue", name}, {"parent_cohort", text(config.cohort)}, {"root_cohort", config.cohort.empty() ? "" : text(root)}}, 1);
    if (const auto* tree = tree_of(state_, config.name); tree != nullptr && catalog_.settings.fair_sharing) {
      set("kueue_cluster_queue_weighted_share", {{"cluster_queue", name}, {"cohort", text(config.cohort)}},
          static_cast<double>(tree->weighted_share(config.name)));
    }
    if (options_.cluster_queue_resources) resources(config, counters);
  }

  void resources(const QueueConfig& config, const QueueCounters& counters) {
    for (const auto& g : config.groups)
      for (const auto& f : g.flavors)
        for (std::size_t i = 0; i < g.resources.size() && i < f.quotas.size(); ++i) {
          const Symbol r = g.resources[i];
          const auto& q = f.quotas[i];
          const Labels labels{
              {"cohort", text(config.cohort)}, {"cluster_queue", text(config.name)}, {"flavor", text(f.flavor)}, {"resource", text(r)}};
          Amount reserved = 0, used = 0;
          for (const auto& cell : counters.cells) {
            if (cell.flavor != f.flavor || cell.resource != r) continue;
            reserved = cell.reserved;
            used = cell.used;
          }
          set("kueue_cluster_queue_resource_reservation", labels, value_of(reserved, r));
          set("kueue_cluster_queue_resource_usage", labels, value_of(used, r));
          set("kueue_cluster_queue_nominal_quota", labels, value_of(q.nominal, r));
          set("kueue_cluster_queue_borrowing_limit", labels, value_of(q.borrowing_limit.value_or(unlimited), r));
          set("kueue_cluster_queue_lending_limit", labels, value_of(q.lending_limit.value_or(unlimited), r));
        }
    std::map<std::string, std::pair<Symbol, Amount>> pending;
    if (const auto* queue = state_.queue(config.name)) {
      for (const auto& w : counted_as_pending(*queue))
        for (const auto& p : w.workload->pod_sets)
          for (const auto& r : p.requests) {
            auto& sum = pending[text(r.resource)];
            sum = {r.resource, add(sum.second, multiply(r.amount, p.count))};
          }
    }
    for (const auto& [name, sum] : pending) {
      set("kueue_cluster_queue_resource_pending", {{"cluster_queue", text(config.name)}, {"resource", name}},
          value_of(sum.second, sum.first));
    }
  }

  void local_queue(const LocalQueueConfig& config) {
    const auto status = local_queue_status(state_, config);
    const Labels labels{{"name", status.name}, {"namespace", status.namespace_}};
    const auto with = [&](const char* key, const char* value) {
      Labels out = labels;
      out[key] = value;
      return out;
    };
    const auto pending = pending_[{config.namespace_, config.name}];
    set("kueue_local_queue_pending_workloads", with("status", "active"), pending.first);
    set("kueue_local_queue_pending_workloads", with("status", "inadmissible"), pending.second);
    set("kueue_local_queue_reserving_active_workloads", labels, status.reserving);
    set("kueue_local_queue_admitted_active_workloads", labels, status.admitted);
    local_resources(config, labels);
    for (const char* s : {"True", "False", "Unknown"}) {
      set("kueue_local_queue_status", with("active", s), std::string_view(s) == (status.active ? "True" : "False") ? 1 : 0);
    }
  }

  void local_resources(const LocalQueueConfig& config, const Labels& labels) {
    const auto* queue = state_.queue(config.cluster_queue);
    const auto* queue_config = catalog_.queue(config.cluster_queue);
    if (queue == nullptr || queue_config == nullptr) return;
    const QueueCounters counters = queue->local_counters(config.namespace_, config.name);
    for (const auto& g : queue_config->groups)
      for (const auto& f : g.flavors)
        for (const Symbol& r : g.resources) {
          Amount reserved = 0, used = 0;
          for (const auto& cell : counters.cells) {
            if (cell.flavor != f.flavor || cell.resource != r) continue;
            reserved = cell.reserved;
            used = cell.used;
          }
          Labels all = labels;
          all["flavor"] = text(f.flavor);
          all["resource"] = text(r);
          set("kueue_local_queue_resource_reservation", all, value_of(reserved, r));
          set("kueue_local_queue_resource_usage", all, value_of(used, r));
        }
    const auto* ledger = queue->ledger(config.namespace_, config.name);
    if (ledger == nullptr || !catalog_.settings.admission_fair_sharing) return;
    Labels all = labels;
    all["cluster_queue"] = text(config.cluster_queue);
    set("kueue_local_queue_admission_fair_sharing_usage", all,
        ledger->usage(*catalog_.settings.admission_fair_sharing, config.fair_weight_nano));
  }

  void cohort(const Symbol& name) {
    const auto it = catalog_.cohorts.find(name);
    const Symbol parent = it == catalog_.cohorts.end() ? Symbol() : it->second->parent;
    const auto* tree = tree_of_cohort(state_, name);
    double admitted = 0;
    Symbol root = name;
    for (const auto& [queue, config] : catalog_.queues) {
      const auto above = cohorts_above(state_, queue);
      if (std::find(above.begin(), above.end(), name) == above.end()) continue;
      if (const auto* q = state_.queue(queue)) admitted += q->counters().admitted;
      root = catalog_.cohort_root(*config);
    }
    set("kueue_cohort_info", {{"cohort", text(name)}, {"parent_cohort", text(parent)}, {"root_cohort", text(root)}}, 1);
    set("kueue_cohort_subtree_admitted_active_workloads", {{"cohort", text(name)}}, admitted);
    if (tree == nullptr) return;
    for (const auto& line : quota_of_cohort(state_, name)) {
      const Labels labels{{"cohort", text(name)}, {"flavor", text(line.flavor)}, {"resource", text(line.resource)}};
      set("kueue_cohort_subtree_quota", labels, value_of(line.figures.subtree, line.resource));
      set("kueue_cohort_subtree_resource_reservations", labels, value_of(line.figures.usage, line.resource));
    }
    if (catalog_.settings.fair_sharing)
      set("kueue_cohort_weighted_share", {{"cohort", text(name)}}, static_cast<double>(tree->cohort_weighted_share(name)));
  }

  const StateView& state_;
  const Catalog& catalog_;
  const MetricsOptions& options_;
  Across across_ = Across::sum;  ///< Of what is set now.
  std::map<Across, prometheus::Registry> registries_;
  std::unordered_map<Catalog::LocalQueueKey, std::pair<double, double>, Catalog::LocalQueueKeyHash> pending_;  ///< Active, parked.
};

}  // namespace

bool selects(const MetricsOptions& options, const StateView& state, const Symbol& namespace_, const Symbol& local_queue) {
  if (!options.local_queues) return false;
  if (options.local_queue_selector.empty()) return true;
  const auto* config = state.domain().catalog()->local_queue(namespace_, local_queue);
  return config != nullptr && matches(options.local_queue_selector, config->labels);
}

Time queued_since(const WorkloadState& w) {
  if (w.family) return w.family->cycle_start;
  const auto* requeued = w.find(ConditionType::requeued);
  return requeued == nullptr ? w.created : requeued->last_transition;
}

std::vector<MetricGroup> gauges_of(const StateView& state, const MetricsOptions& options) { return Gauges(state, options).collect(); }

}  // namespace hindsight::projections
