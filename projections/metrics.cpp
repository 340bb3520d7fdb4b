#include "projections/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/metric_table.hpp"
#include "projections/metrics_gauges.hpp"
#include "projections/queue_place.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {
namespace {

using Labels = std::map<std::string, std::string>;
using prometheus::Histogram;

/// Reason of the eviction of a Parent whose Option was evicted.
constexpr std::string_view variant_evicted = "VariantEvicted";

/// 1, 2.5, 5, 10, 20, … (base-api §8).
Histogram::BucketBoundaries exponential(std::size_t n) {
  Histogram::BucketBoundaries out{1, 2.5};
  while (out.size() < n) out.push_back(2 * out.back());
  return out;
}

/// first, 2·first, 4·first, …
Histogram::BucketBoundaries doubling(double first, std::size_t n) {
  Histogram::BucketBoundaries out{first};
  while (out.size() < n) out.push_back(2 * out.back());
  return out;
}

void append_families(std::vector<prometheus::MetricFamily>& families, std::vector<prometheus::MetricFamily> more) {
  families.insert(families.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

double seconds(Duration d) { return static_cast<double>(d.micros) / 1e6; }

/// The flavors of an admission, as a label: "spot", "spot,cpu".
std::string flavors_label(const admission::Admission& admission) {
  std::vector<Symbol> flavors;
  for (const auto& p : admission.pod_sets)
    for (const auto& [resource, flavor] : p.flavors)
      if (std::find(flavors.begin(), flavors.end(), flavor) == flavors.end()) flavors.push_back(flavor);
  return joined(flavors, ",");
}

}  // namespace

struct Metrics::Counters {
  explicit Counters(std::string role) : replica_role(std::move(role)) {}

  mutable std::mutex mutex;
  std::string replica_role;
  prometheus::Registry registry;
  std::map<std::string, double> skips;  ///< In the last cycle, by ClusterQueue: entries that would have preempted.
  std::map<std::string, Time, std::less<>> jobs_without_workload;  ///< Uids of queued jobs, with their creation.
  std::map<std::string, std::string, std::less<>> migrations;  ///< That are under way: uids of Parents, with the flavors that they leave.

  /// What was counted of one LocalQueue: names and labels of its series.
  using LocalQueueName = std::pair<std::string, std::string>;
  std::map<LocalQueueName, std::set<std::pair<std::string, Labels>>> local_counters, local_histograms;

  /// LocalQueues come and go as their makers like: what was counted of one goes with it.
  void forget_local_queue(const LocalQueueName& queue) {
    if (const auto counters = local_counters.extract(queue))
      for (const auto& [name, labels] : counters.mapped()) {
        auto& family = prometheus::BuildCounter().Name(name).Register(registry);
        family.Remove(&family.Add(labels));
      }
    if (const auto histograms = local_histograms.extract(queue))
      for (const auto& [name, labels] : histograms.mapped()) {
        auto& family = prometheus::BuildHistogram().Name(name).Register(registry);
        family.Remove(&family.Add(labels, Histogram::BucketBoundaries{}));
      }
  }

  void count(MetricName name, Labels labels) {
    labels["replica_role"] = replica_role;
    prometheus::BuildCounter().Name(name.text()).Help(name.help()).Register(registry).Add(labels).Increment();
  }
  void measure(MetricName name, Labels labels, double value, const Histogram::BucketBoundaries& bounds) {
    labels["replica_role"] = replica_role;
    prometheus::BuildHistogram().Name(name.text()).Help(name.help()).Register(registry).Add(labels, bounds).Observe(value);
  }

  /// Of each ClusterQueue that ever had such an entry.
  [[nodiscard]] std::vector<prometheus::MetricFamily> skipped() const {
    if (skips.empty()) return {};
    constexpr MetricName name("kueue_admission_cycle_preemption_skips");
    prometheus::Registry out;
    for (const auto& [queue, n] : skips)
      prometheus::BuildGauge()
          .Name(name.text())
          .Help(name.help())
          .Register(out)
          .Add({{"cluster_queue", queue}, {"replica_role", replica_role}})
          .Set(n);
    return out.Collect();
  }

  /// Remembers when jobs were made, until they have a Workload.
  void see(const Observation& o, const StateView& state) {
    if (const auto* job = std::get_if<JobObserved>(&o)) {
      const auto index = state.domain().find_parent(job->meta.uid);
      const auto* parent = index ? state.parent(*index) : nullptr;
      const bool waits = parent != nullptr && parent->workloads().empty() && job->managed && !job->finished && !job->meta.deleting;
      if (waits && job->meta.created.is_set())
        jobs_without_workload.try_emplace(std::string(job->meta.uid), job->meta.created);
      else
        forget_job(job->meta.uid);
    } else if (const auto* gone = std::get_if<ObjectDeleted>(&o); gone != nullptr && gone->kind == ObjectKind::job) {
      forget_job(gone->uid);
    } else if (gone != nullptr && gone->kind == ObjectKind::workload) {
      forget_migration(gone->uid);
    } else if (gone != nullptr && gone->kind == ObjectKind::local_queue && gone->departed_to.empty()) {
      forget_local_queue({std::string(gone->namespace_), std::string(gone->name)});
    }
  }
  void count_local(const LocalQueueName& queue, MetricName name, Labels labels) {
    count(name, labels);
    labels["replica_role"] = replica_role;
    local_counters[queue].emplace(name.text(), std::move(labels));
  }
  void measure_local(const LocalQueueName& queue, MetricName name, Labels labels, double value, const Histogram::BucketBoundaries& bounds) {
    measure(name, labels, value, bounds);
    labels["replica_role"] = replica_role;
    local_histograms[queue].emplace(name.text(), std::move(labels));
  }
  void forget_job(Text uid) {
    if (const auto it = jobs_without_workload.find(uid); it != jobs_without_workload.end()) jobs_without_workload.erase(it);
  }

  void forget_migration(Text uid) {
    if (const auto it = migrations.find(uid); it != migrations.end()) migrations.erase(it);
  }

  /// One event of an applied decision. A family counts as one, by what is decided about its Parent (CA-103).
  class Counting {
   public:
    Counting(Counters& counters, const StateView& state, bool local_queues)
        : c_(counters), state_(state), now_(state.domain().now()), local_queues_(local_queues) {}

    void operator()(const QuotaReserved& e) {
      const auto* w = changed_now(e.workload, ConditionType::quota_reserved, true);
      if (w == nullptr || !w->reserved() || is_option(e.workload)) return;
      count_both({"kueue_quota_reserved_workloads_total", "kueue_local_queue_quota_reserved_workloads_total"}, *w);
      measure_both({"kueue_quota_reserved_wait_time_seconds", "kueue_local_queue_quota_reserved_wait_time_seconds"}, *w,
                   now_ - queued_since(*w), 14, 14);
      if (e.admitted) admitted(*w);
    }
    void operator()(const WorkloadAdmitted& e) {
      const auto* w = changed_now(e.workload, ConditionType::admitted, true);
      if (w != nullptr && !is_option(e.workload)) admitted(*w);
    }
    void operator()(const OptionAdmitted& e) {
      const auto* w = changed_now(e.workload, ConditionType::quota_reserved, true);
      if (w == nullptr || !w->family || !w->admission) return;
      const auto left = c_.migrations.extract(w->uid.text());
      if (!left.empty() || w->family->first_admitted != now_) return migrated(*w, left.empty() ? flavors_left(*w) : left.mapped());
      count_both({"kueue_quota_reserved_workloads_total", "kueue_local_queue_quota_reserved_workloads_total"}, *w);
      measure_both({"kueue_quota_reserved_wait_time_seconds", "kueue_local_queue_quota_reserved_wait_time_seconds"}, *w,
                   now_ - queued_since(*w), 14, 14);
      admitted(*w);
    }
    void operator()(const MigrationStarted& e) {
      const WorkloadAt from = find_by_uid(state_, e.from.uid), parent = find_by_uid(state_, e.parent.uid);
      const bool under_way =
          parent.workload != nullptr && parent.workload->family && parent.workload->family->migrating_to == e.workload.uid;
      if (under_way && from.workload != nullptr && from.workload->admission)
        c_.migrations[parent.workload->uid.text()] = flavors_label(*from.workload->admission);
    }
    void operator()(const FamilyReset& e) { c_.forget_migration(e.workload.uid); }
    void operator()(const FamilyDissolved& e) { c_.forget_migration(e.workload.uid); }
    void operator()(const PreemptionGateChanged& e) {
      const WorkloadAt at = find_by_uid(state_, e.workload.uid);
      if (!e.open || at.workload == nullptr || !at.workload->option || !concurrent_admission()) return;
      if (at.workload->option->gate_open && at.workload->option->gate_since == now_)
        c_.count("kueue_concurrent_admission_preemption_right_grants_total", {{"cluster_queue", queue_name(*at.workload)}});
    }
    void operator()(const WorkloadPreempted& e) {
      const auto* w = changed_now(e.workload, ConditionType::evicted, true);
      if (w == nullptr || (w->family && !w->family->holds_itself)) return;  // what was kept for a migration was taken
      const bool option = is_option(e.workload);
      if (option && !w->admitted()) return;  // its job does not run on it: nothing happens to the family (CA-62)
      c_.count("kueue_preempted_workloads_total",
               {{"preempting_cluster_queue", std::string(e.preemptor_cluster_queue)}, {"reason", std::string(e.reason)}});
      if (!option) evicted(*w, "Preempted", "");
    }
    void operator()(const WorkloadEvicted& e) {
      const auto* w = changed_now(e.workload, ConditionType::evicted, true);
      if (w == nullptr || !w->admission || is_option(e.workload)) return;
      if (e.reason == variant_evicted)  // CA-65: by what became of its Option
        evicted(*w, std::string(e.cause), "");
      else
        evicted(*w, std::string(e.reason), std::string(e.cause));
    }
    void operator()(const ReservationCleared& e) {
      const auto* w = changed_now(e.workload, ConditionType::quota_reserved, false);
      const auto* eviction = w == nullptr ? nullptr : w->find(ConditionType::evicted);
      if (eviction == nullptr || !eviction->is_true() || is_option(e.workload)) return;
      c_.measure("kueue_workload_eviction_latency_seconds", {{"cluster_queue", queue_name(*w)}, {"reason", reason_behind(*w, *eviction)}},
                 seconds(now_ - eviction->last_transition), exponential(14));
    }
    void operator()(const WorkloadFinished& e) {
      c_.forget_migration(e.workload.uid);
      const auto* w = changed_now(e.workload, ConditionType::finished, true);
      if (w == nullptr || is_option(e.workload)) return;
      count_both({"kueue_finished_workloads_total", "kueue_local_queue_finished_workloads_total"}, *w);
      const auto* admitted = w->find(ConditionType::admitted);
      if (admitted != nullptr && admitted->is_true()) {
        measure_both({"kueue_execution_time_seconds", "kueue_local_queue_execution_time_seconds"}, *w, now_ - admitted->last_transition, 16,
                     16);
      }
    }
    void operator()(const SliceReplaced& e) {
      if (const auto* w = changed_now(e.workload, ConditionType::finished, true))
        c_.count("kueue_replaced_workload_slices_total", {{"cluster_queue", queue_name(*w)}});
    }
    void operator()(const WorkloadRequested& e) {
      const auto job = c_.jobs_without_workload.find(e.job.uid);
      if (job == c_.jobs_without_workload.end()) return;
      c_.measure("kueue_workload_creation_latency_seconds", {{"job_kind", std::string(e.job.kind)}}, seconds(now_ - job->second),
                 doubling(0.01, 11));
      c_.jobs_without_workload.erase(job);
    }
    void operator()(const PodsReleased& e) { gates_removed(e.workload, e.pods.size(), "kueue.x-k8s.io/elastic-job"); }
    void operator()(const PodsPlaced& e) { gates_removed(e.workload, e.pods.size(), "kueue.x-k8s.io/topology"); }
    void gates_removed(const WorkloadRef& workload, std::size_t pods, const char* gate) {
      const WorkloadAt at = find_by_uid(state_, workload.uid);
      const auto* admitted = at.workload == nullptr ? nullptr : at.workload->find(ConditionType::admitted);
      if (admitted == nullptr || !admitted->is_true()) return;
      for (std::size_t i = 0; i < pods; ++i)
        c_.measure("kueue_pod_scheduling_gate_removal_seconds",
                   {{"name", gate}, {"cluster_queue", queue_name(*at.workload)}, {"is_group", "false"}},
                   seconds(now_ - admitted->last_transition), exponential(14));
    }
    void operator()(const GateChanged& e) {
      if (e.change != GateChange::cleared) return;
      const bool of_job = e.contract == GateContract::scheduling;
      c_.measure("kueue_gated_time_seconds",
                 {{"contract", of_job ? "scheduling" : "admission"}, {"kind", of_job ? std::string(e.job.kind) : "Workload"}},
                 seconds(now_ - e.since), exponential(16));
    }
    void operator()(const EntryRequeued& e) {
      if (!e.claimant.uid.empty()) c_.count("hindsight_admissions_withheld_total", {{"cluster_queue", std::string(e.cluster_queue)}});
      if (e.preemption_skipped) ++c_.skips[std::string(e.cluster_queue)];
      if (e.recomputed != Recomputation::none)
        c_.count("kueue_preemption_target_recomputations_total",
                 {{"cluster_queue", std::string(e.cluster_queue)}, {"result", std::string(events::api_name(e.recomputed))}});
    }
    void operator()(const ConditionChanged& e) {
      if (e.type != ConditionType::pods_ready || e.status != ConditionStatus::true_) return;
      const auto* w = changed_now(e.workload, ConditionType::pods_ready, true);
      const auto* admitted = w == nullptr ? nullptr : w->find(ConditionType::admitted);
      if (admitted == nullptr || !admitted->is_true() || is_option(e.workload)) return;
      // Of a family that moved nobody waited since it was queued.
      if (!w->family || w->family->first_admitted.floor_seconds() == admitted->last_transition.floor_seconds())
        measure_both({"kueue_ready_wait_time_seconds", "kueue_local_queue_ready_wait_time_seconds"}, *w, now_ - queued_since(*w), 14, 14);
      measure_both({"kueue_admitted_until_ready_wait_time_seconds", "kueue_local_queue_admitted_until_ready_wait_time_seconds"}, *w,
                   now_ - admitted->last_transition, 14, 14);
    }
    template <class E>
    void operator()(const E&) {}

   private:
    /// The Workload, if this condition came to this status by the record just applied; else the event was void.
    const WorkloadState* changed_now(const WorkloadRef& ref, ConditionType type, bool status) const {
      const WorkloadAt at = find_by_uid(state_, ref.uid);
      const auto* c = at.workload == nullptr ? nullptr : at.workload->find(type);
      const bool now = c != nullptr && (status ? c->is_true() : c->is_false()) && c->last_transition == now_;
      return now ? at.workload : nullptr;
    }
    [[nodiscard]] bool is_option(const WorkloadRef& ref) const { return parent_of(find_by_uid(state_, ref.uid)) != nullptr; }
    [[nodiscard]] bool concurrent_admission() const { return state_.domain().catalog()->settings.concurrent_admission; }
    /// The Option whose admission a Parent shows, or showed last; null: it is not there.
    [[nodiscard]] const WorkloadState* shown_option(const WorkloadState& parent) const {
      return parent.family ? find_by_uid(state_, parent.family->shown).workload : nullptr;
    }
    [[nodiscard]] std::string reason_behind(const WorkloadState& w, const admission::Condition& eviction) const {
      const WorkloadState* option = eviction.reason.text() == variant_evicted ? shown_option(w) : nullptr;
      const auto* behind = option == nullptr ? nullptr : option->find(ConditionType::evicted);
      return std::string((behind == nullptr ? eviction : *behind).reason.text());
    }
    /// What a family moved away from, where the beginning of that was not seen: the Option that was evicted for it last.
    [[nodiscard]] std::string flavors_left(const WorkloadState& parent) const {
      const WorkloadState* left = nullptr;
      const auto evicted_at = [](const WorkloadState& w) { return w.find(ConditionType::evicted)->last_transition; };
      for (const auto& w : find_by_uid(state_, parent.uid).parent->workloads()) {
        const auto* evicted = w.option_of() == parent.uid ? w.find(ConditionType::evicted) : nullptr;
        if (evicted == nullptr || !evicted->is_true() || evicted->reason.text() != "FlavorMigration") continue;
        if (left == nullptr || evicted_at(*left) < evicted_at(w)) left = &w;
      }
      return left == nullptr ? std::string() : joined(left->family_facts->allowed, ",");
    }
    /// CA-104: that is no second admission.
    void migrated(const WorkloadState& w, const std::string& from) {
      if (!concurrent_admission()) return;
      c_.count("kueue_concurrent_admission_migrations_total",
               {{"cluster_queue", queue_name(w)}, {"from_flavor", from}, {"to_flavor", flavors_label(*w.admission)}});
    }
    [[nodiscard]] std::string queue_name(const WorkloadState& w) const {
      return std::string((w.admission ? w.admission->cluster_queue : queue_of(state_, w)).text());
    }
    /// Of a class that exists: a template may name any.
    [[nodiscard]] std::string class_of(const WorkloadState& w) const {
      const auto& catalog = *state_.domain().catalog();
      const bool own = w.priority_class_kind == PriorityClassKind::workload_priority_class;
      const auto& classes = own ? catalog.workload_priority_classes : catalog.pod_priority_classes;
      return classes.contains(w.priority_class) ? std::string(w.priority_class.text()) : std::string();
    }
    [[nodiscard]] Labels local_labels(const WorkloadState& w) const {
      return {{"name", std::string(w.queue_name.text())}, {"namespace", std::string(w.namespace_.text())}, {"priority_class", class_of(w)}};
    }
    /// The Workload's LocalQueue, if it is counted and exists.
    [[nodiscard]] std::optional<LocalQueueName> local_queue_of(const WorkloadState& w) const {
      if (!local_queues_ || state_.domain().catalog()->local_queue(w.namespace_, w.queue_name) == nullptr) return std::nullopt;
      return LocalQueueName(w.namespace_.text(), w.queue_name.text());
    }

    void count_both(MetricPair names, const WorkloadState& w) {
      c_.count(names.cluster_queue, {{"cluster_queue", queue_name(w)}, {"priority_class", class_of(w)}});
      if (const auto queue = local_queue_of(w)) c_.count_local(*queue, names.local_queue, local_labels(w));
    }
    void measure_both(MetricPair names, const WorkloadState& w, Duration d, std::size_t bounds, std::size_t local_bounds) {
      c_.measure(names.cluster_queue, {{"cluster_queue", queue_name(w)}, {"priority_class", class_of(w)}}, seconds(d), exponential(bounds));
      if (const auto queue = local_queue_of(w))
        c_.measure_local(*queue, names.local_queue, local_labels(w), seconds(d), exponential(local_bounds));
    }
    void admitted(const WorkloadState& w) {
      count_both({"kueue_admitted_workloads_total", "kueue_local_queue_admitted_workloads_total"}, w);
      measure_both({"kueue_admission_wait_time_seconds", "kueue_local_queue_admission_wait_time_seconds"}, w, now_ - queued_since(w), 16,
                   14);
      const WorkloadState* option = shown_option(w);
      const WorkloadState& checked = option == nullptr ? w : *option;  // CA-42
      const auto* reserved = checked.find(ConditionType::quota_reserved);
      if (!checked.checks.empty() && reserved != nullptr) {
        measure_both({"kueue_admission_checks_wait_time_seconds", "kueue_local_queue_admission_checks_wait_time_seconds"}, w,
                     now_ - reserved->last_transition, 14, 14);
      }
      for (const Symbol& cohort : cohorts_above(state_, w.admission ? w.admission->cluster_queue : Symbol())) {
        c_.count("kueue_cohort_subtree_admitted_workloads_total",
                 {{"cohort", std::string(cohort.text())}, {"priority_class", class_of(w)}});
      }
    }
    void evicted(const WorkloadState& w, const std::string& reason, const std::string& cause) {
      const Labels labels{
          {"cluster_queue", queue_name(w)}, {"reason", reason}, {"underlying_cause", cause}, {"priority_class", class_of(w)}};
      c_.count("kueue_evicted_workloads_total", labels);
      std::int32_t times = 0;  // for this reason and cause, this time included
      const std::string full = reason == "Deactivated" && !cause.empty() ? "DeactivatedDueTo" + cause : reason;
      for (const auto& e : w.evictions)
        if (e.reason.text() == full && e.cause.text() == cause) times = e.count;
      if (times == 1) c_.count("kueue_evicted_workloads_once_total", labels);
      if (const auto queue = local_queue_of(w)) {
        Labels local = local_labels(w);
        local["reason"] = reason;
        local["underlying_cause"] = cause;
        c_.count_local(*queue, "kueue_local_queue_evicted_workloads_total", std::move(local));
      }
      const auto* ready = w.find(ConditionType::pods_ready);
      if (ready != nullptr && ready->is_true()) {
        c_.measure("kueue_pods_ready_to_evicted_time_seconds",
                   {{"cluster_queue", queue_name(w)}, {"reason", reason}, {"underlying_cause", cause}},
                   seconds(now_ - ready->last_transition), exponential(14));
      }
    }

    Counters& c_;
    const StateView& state_;
    Time now_;
    bool local_queues_;
  };
};

Metrics::Metrics(MetricsOptions options) : options_(std::move(options)), counters_(std::make_unique<Counters>(options_.replica_role)) {}
Metrics::~Metrics() = default;

void Metrics::set_replica_role(const std::string& role) {
  const std::lock_guard lock(counters_->mutex);
  counters_->replica_role = role;
}

void Metrics::record(const RecordView& record, const StateView& after) {
  const std::lock_guard lock(counters_->mutex);
  if (const auto* o = std::get_if<Observation>(&record.body)) counters_->see(*o, after);
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr || !after.domain().took_decision()) return;
  Counters::Counting counting(*counters_, after, options_.local_queues);
  bool admitted_any = false;
  if (decisions->step == StepKind::cycle)
    for (auto& [queue, n] : counters_->skips) n = 0;
  for (const Event& e : decisions->events) {
    admitted_any = admitted_any || std::holds_alternative<QuotaReserved>(e);
    std::visit(counting, e);
  }
  if (decisions->step == StepKind::cycle) {
    counters_->count("kueue_admission_attempts_total", {{"result", admitted_any ? "success" : "inadmissible"}});
  }
}

std::string Metrics::text(const StateView& state) const {
  MetricsOptions options = options_;
  std::vector<prometheus::MetricFamily> families;
  {
    const std::lock_guard lock(counters_->mutex);
    families = counters_->registry.Collect();
    options.replica_role = counters_->replica_role;
    append_families(families, counters_->skipped());
  }
  // BA-187: what was counted of a LocalQueue shows as long as the selector matches it
  for (auto& family : families) {
    if (!family.name.starts_with("kueue_local_queue_")) continue;
    std::erase_if(family.metric, [&](const prometheus::ClientMetric& m) {
      return !selects(options, state, Symbol(label_of(m, "namespace")), Symbol(label_of(m, "name")));
    });
  }
  std::erase_if(families, [](const prometheus::MetricFamily& f) { return f.metric.empty(); });
  for (auto& group : gauges_of(state, options)) append_families(families, std::move(group.families));
  return prometheus::TextSerializer().Serialize(families);
}

MetricsValues Metrics::values(const StateView& state) const {
  const admission::Catalog& catalog = *state.domain().catalog();
  MetricsOptions options = options_;
  DomainMetrics out;
  out.presence = presence_in(state);
  {
    const std::lock_guard lock(counters_->mutex);
    out.groups.push_back({Across::sum, counters_->registry.Collect()});
    out.groups.push_back({Across::cluster_queue, counters_->skipped()});
    options.replica_role = counters_->replica_role;
  }
  for (auto& family : out.groups.back().families)  // a queue that departed is described where it is now
    std::erase_if(family.metric, [&](const auto& m) { return catalog.queue(Symbol(label_of(m, "cluster_queue"))) == nullptr; });
  out.chooses = options.local_queues && !options.local_queue_selector.empty();
  if (out.chooses)
    for (const auto& [key, config] : catalog.local_queues)
      out.local_queues.push_back(
          {std::string(key.first.text()), std::string(key.second.text()), selects(options, state, key.first, key.second)});
  options.local_queue_selector.clear();  // a Workload, and what was counted, can lie elsewhere than its LocalQueue with the labels
  for (auto& group : gauges_of(state, options)) out.groups.push_back(std::move(group));
  return MetricsValues(std::move(out));
}

}  // namespace hindsight::projections
