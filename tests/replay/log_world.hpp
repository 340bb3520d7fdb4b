#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "events/log.hpp"
#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::testing {

/// Quota of one flavor for one resource.
struct QuotaOf {
  std::string flavor = "default";
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit, lending_limit;
  std::string resource = "cpu";
};

struct QueueOf {
  std::string name, cohort;
  std::vector<QuotaOf> quotas;  ///< Flavors in try order; all with the same resources.
  PreemptionPolicy within = PreemptionPolicy::never, reclaim = PreemptionPolicy::never;
  QueueingStrategy strategy = QueueingStrategy::best_effort_fifo;
  StopPolicy stop = StopPolicy::none;
  std::vector<std::string> checks;
  std::optional<std::string> namespace_label;  ///< Only namespaces with this label.
};

struct WorkloadOf {
  std::string name, queue = "lq";
  Amount cpu = 1000;  ///< Per pod.
  std::int32_t priority = 0, count = 1;
  std::string namespace_ = "default";
  std::vector<std::pair<std::string, Amount>> more;  ///< Other resources per pod.
  std::vector<std::pair<std::string, std::string>> node_selector;
  std::string gated_by;
  bool active = true;
};

/// A domain that writes its log: facts in plain form go in, decisions are made by the loop driver, and on demand the API server of
/// this world shows what was decided. One record a call; the log sees them at `flush`.
class LogWorld {
 public:
  explicit LogWorld(events::Log& log, std::string domain = "default")
      : log_(log), domain_(std::move(domain)), driver_([](Text json) { return events::read_settings(json); }) {
    append(EpochStarted{"test", "1.0", admission::rules_version}, 1);
  }

  Time now = Time::from_seconds(1'767'225'600);  // 2026-01-01T00:00:00Z

  [[nodiscard]] admission::LoopDriver& driver() { return driver_; }
  /// Of the last record. Records that do not count have a position too, so it can be ahead of the domain's sequence.
  [[nodiscard]] std::uint64_t position() const { return hashes_.empty() ? 0 : hashes_.size() - 1; }

  // ---- records ----------------------------------------------------------------------------------------------------------------

  void observe(Observation o) { append(std::move(o), driver_.domain().epoch()); }
  void start_epoch(std::uint64_t epoch) { append(EpochStarted{"test", "1.0", admission::rules_version}, epoch); }
  void tick(Duration d) {
    now = now + d;
    observe(TimerFired{});
  }
  /// Decides and records until at rest; the number of decisions.
  int settle() {
    for (int n = 0; n < 10'000; ++n) {
      const auto step = driver_.decide();
      if (!step) return n;
      decide(*step, driver_.domain().epoch());
    }
    throw std::runtime_error("the domain does not come to rest");
  }
  void decide(const admission::Domain::Step& step, std::uint64_t epoch) {
    append(Decisions{step.base, step.kind, step.events}, epoch, step.base);
  }
  /// Lets time pass for one batch of reactivations, and settles.
  void wake() {
    settle();
    tick(Duration::seconds(2));
    settle();
  }
  void flush() {
    if (unwritten_.empty()) return;
    if (auto ok = log_.append(unwritten_.views(), std::nullopt); !ok) throw std::runtime_error(ok.error().message);
    unwritten_.clear();
  }
  /// What a writer that has been replaced leaves behind, where nothing keeps it from writing.
  void slip_in(const events::EncodedRecord& record) {
    auto* log = dynamic_cast<events::MemoryLog*>(&log_);
    if (log == nullptr) throw std::logic_error("only a log in memory takes late writers");
    flush();
    log->slip_in(record);
  }
  void snapshot() {
    flush();
    const auto s = replay::encode_state(driver_.entities(), domain_, position(), "1.0");
    if (auto ok = log_.put_snapshot(s.meta, s.bytes); !ok) throw std::runtime_error(ok.error().message);
  }
  /// State hashes after each record; index 0 is the state before the first.
  [[nodiscard]] const std::vector<std::uint64_t>& hashes() const { return hashes_; }

  // ---- configuration ------------------------------------------------------------------------------------------------------------

  void configure(std::string_view json) { observe(ConfigurationObserved{keep(json)}); }
  void flavor(std::string_view name, const std::vector<std::pair<std::string, std::string>>& labels = {}, std::string_view taint = {}) {
    ResourceFlavorObserved f;
    f.meta.name = keep(name);
    f.node_labels = pairs(labels);
    if (!taint.empty()) {
      auto taints = arena_.make<Taint>(1);
      taints[0] = {keep(taint), "true", TaintEffect::no_schedule};
      f.node_taints = taints;
    }
    observe(f);
  }
  void namespace_(std::string_view name, const std::vector<std::pair<std::string, std::string>>& labels = {}) {
    NamespaceObserved n;
    n.meta.name = keep(name);
    n.labels = pairs(labels);
    observe(n);
  }
  void queue(const QueueOf& q) {
    ClusterQueueObserved o;
    o.meta.name = keep(q.name);
    o.cohort = keep(q.cohort);
    o.resource_groups = groups(q.quotas);
    o.has_namespace_selector = true;
    if (q.namespace_label) {
      auto requirements = arena_.make<Requirement>(1);
      requirements[0] = {keep(*q.namespace_label), SelectorOperator::exists, {}};
      o.namespace_selector = requirements;
    }
    o.within_cluster_queue = q.within;
    o.reclaim_within_cohort = q.reclaim;
    o.queueing_strategy = q.strategy;
    o.stop_policy = q.stop;
    o.stop_policy_set = q.stop != StopPolicy::none;
    auto checks = arena_.make<AdmissionCheckRule>(q.checks.size());
    for (std::size_t i = 0; i < q.checks.size(); ++i) checks[i].name = keep(q.checks[i]);
    o.admission_checks = checks;
    observe(o);
  }
  void cohort(std::string_view name, std::string_view parent, const std::vector<QuotaOf>& quotas = {}) {
    CohortObserved o;
    o.meta.name = keep(name);
    o.parent = keep(parent);
    o.resource_groups = groups(quotas);
    observe(o);
  }
  void local_queue(std::string_view name, std::string_view cluster_queue, StopPolicy stop = StopPolicy::none,
                   std::string_view namespace_name = "default") {
    LocalQueueObserved o;
    o.meta.namespace_ = keep(namespace_name);
    o.meta.name = keep(name);
    o.cluster_queue = keep(cluster_queue);
    o.stop_policy = stop;
    o.stop_policy_set = stop != StopPolicy::none;
    observe(o);
  }
  void check(std::string_view name, bool active = true) {
    AdmissionCheckObserved o;
    o.meta.name = keep(name);
    o.controller_name = "example.com/check";
    o.active = active;
    observe(o);
  }
  /// Namespace, flavor "default", these queues with a LocalQueue each ("lq" for the first, "lq-NAME" for the others), and the first list.
  void set_up(const std::vector<QueueOf>& queues) {
    namespace_("default");
    flavor("default");
    for (std::size_t i = 0; i < queues.size(); ++i) {
      queue(queues[i]);
      local_queue(i == 0 ? "lq" : "lq-" + queues[i].name, queues[i].name);
    }
    observe(MirrorSynced{});
    wake();
  }

  // ---- workloads ------------------------------------------------------------------------------------------------------------------

  /// A new Workload; `owner_uid` empty: no job owns it.
  WorkloadObserved make(const WorkloadOf& w, std::string_view owner_uid = {}) {
    WorkloadObserved o;
    o.meta.namespace_ = keep(w.namespace_);
    o.meta.name = keep(w.name);
    o.meta.uid = keep("uid-" + w.name);
    o.meta.resource_version = ++version_;
    o.meta.generation = 1;
    o.meta.created = Time::from_seconds(now.floor_seconds());
    o.owner_uid = keep(owner_uid);
    o.queue_name = keep(w.queue);
    o.priority = w.priority;
    o.active = w.active;
    o.admission_gated_by = keep(w.gated_by);
    o.pod_sets = pod_sets(w);
    return o;
  }
  void submit(const WorkloadOf& w) {
    workloads_[w.name] = make(w);
    observe(workloads_[w.name]);
  }
  /// A suspended batch Job and its Workload, named "job-NAME".
  void submit_job(const WorkloadOf& w) {
    JobObserved j;
    j.meta.namespace_ = keep(w.namespace_);
    j.meta.name = keep(w.name);
    j.meta.uid = keep("job-uid-" + w.name);
    j.meta.resource_version = ++version_;
    j.meta.generation = 1;
    j.kind = "Job";
    j.group = "batch";
    j.queue_name = keep(w.queue);
    j.suspended = true;
    j.pod_sets = pod_sets(w);
    j.workload_name = keep("job-" + w.name);
    jobs_[w.name] = j;
    observe(j);
    settle();
    WorkloadOf owned = w;
    owned.name = "job-" + w.name;
    workloads_[owned.name] = make(owned, j.meta.uid);
    observe(workloads_[owned.name]);
  }
  /// Changes a job and shows it.
  template <class F>
  void change_job(const std::string& name, F&& change) {
    JobObserved& j = jobs_.at(name);
    change(j);
    j.meta.resource_version = ++version_;
    observe(j);
  }
  /// Changes a Workload as its writers other than us do, and shows it.
  template <class F>
  void change(const std::string& name, F&& change) {
    WorkloadObserved& w = workloads_.at(name);
    change(w);
    w.meta.resource_version = ++version_;
    observe(w);
  }
  void finish(const std::string& name) {
    change(name, [&](WorkloadObserved& w) {
      set(w, {ConditionType::finished, ConditionStatus::true_, "Succeeded", "Job finished successfully", now});
    });
  }
  /// What its maker does after an eviction: the reservation is given back.
  void release(const std::string& name) {
    change(name, [&](WorkloadObserved& w) {
      set(w, {ConditionType::quota_reserved, ConditionStatus::false_, "PendingEvaluation", "evicted", now});
      set(w, {ConditionType::admitted, ConditionStatus::false_, "NoReservation", "The workload has no reservation", now});
      w.has_admission = false;
      w.admission_cluster_queue = {};
      w.assignments = {};
    });
  }
  void remove(const std::string& name) {
    const auto& meta = workloads_.at(name).meta;
    observe(ObjectDeleted{ObjectKind::workload, meta.namespace_, meta.name, meta.uid});
    workloads_.erase(name);
  }
  /// The API server shows what was decided about Workloads since the last call.
  void confirm() {
    for (const auto& intent : driver_.collect_intents()) {
      if (const auto* w = std::get_if<admission::WorkloadIntent>(&intent); w != nullptr && workloads_.contains(w->name) && !w->remove)
        show(*w);
    }
  }
  /// Sets a condition of a Workload that is about to be shown.
  void set(WorkloadObserved& w, ConditionFacts condition) {
    std::vector<ConditionFacts> all(w.conditions.begin(), w.conditions.end());
    condition.reason = keep(condition.reason);
    condition.message = keep(condition.message);
    std::erase_if(all, [&](const ConditionFacts& c) { return c.type == condition.type; });
    all.push_back(condition);
    w.conditions = arena_.copy(all);
  }
  [[nodiscard]] const admission::WorkloadState& state(std::string_view name) const {
    const auto parent = driver_.domain().find_parent("uid-" + std::string(name));
    return driver_.parent(parent.value())->workloads().front();
  }
  Text keep(std::string_view s) { return arena_.copy(s); }

 private:
  void append(Body body, std::uint64_t epoch, std::uint64_t cause = 0) {
    if (hashes_.empty()) hashes_.push_back(driver_.state_hash());
    RecordView r;
    // A writer that has been replaced knows nothing of the record that took its number.
    const bool late = epoch < driver_.domain().epoch();
    r.envelope = {domain_, driver_.domain().sequence() + (late ? 0 : 1), epoch, now, cause};
    r.body = std::move(body);
    const auto bytes = encoder_.encode(r);
    const events::EncodedRecord encoded{domain_, r.envelope.sequence, epoch, now, bytes};
    if (late)
      slip_in(encoded);
    else
      unwritten_.add(encoded);
    if (const auto ok = driver_.apply(r); !ok) throw std::runtime_error(ok.error().message);
    hashes_.push_back(driver_.state_hash());
  }

  void show(const admission::WorkloadIntent& i) {
    change(i.name, [&](WorkloadObserved& w) {
      std::vector<ConditionFacts> conditions;
      for (const auto& c : i.conditions) conditions.push_back({c.type, c.status, keep(c.reason), keep(c.message), c.last_transition});
      w.conditions = arena_.copy(conditions);
      if (i.set_active) w.active = *i.set_active;
      w.has_admission = i.has_admission;
      w.admission_cluster_queue = keep(i.cluster_queue);
      auto assignments = arena_.make<PodSetAssignmentFacts>(i.assignments.size());
      for (std::size_t n = 0; n < i.assignments.size(); ++n) {
        const auto& a = i.assignments[n];
        auto flavors = arena_.make<FlavorChoice>(a.flavors.size());
        for (std::size_t k = 0; k < a.flavors.size(); ++k) flavors[k] = {keep(a.flavors[k].first), keep(a.flavors[k].second)};
        auto usage = arena_.make<ResourceAmount>(a.usage.size());
        for (std::size_t k = 0; k < a.usage.size(); ++k) usage[k] = {keep(a.usage[k].first), a.usage[k].second};
        assignments[n] = {keep(a.pod_set), a.count, flavors, usage};
      }
      w.assignments = assignments;
      auto checks = arena_.make<CheckFacts>(i.checks.size());
      for (std::size_t n = 0; n < i.checks.size(); ++n) {
        checks[n].name = keep(i.checks[n].name);
        checks[n].state = i.checks[n].state;
        checks[n].last_transition = i.checks[n].last_transition;
        checks[n].message = keep(i.checks[n].message);
        checks[n].requeue_after_seconds = i.checks[n].requeue_after_seconds;
        checks[n].retry_count = i.checks[n].retry_count;
      }
      w.checks = checks;
      w.has_requeue_state = i.has_requeue_state;
      w.requeue_count = i.requeue_count;
      w.requeue_at = i.requeue_at;
      w.accumulated_exec_seconds = i.accumulated_exec_seconds;
      auto evictions = arena_.make<EvictionCount>(i.evictions.size());
      for (std::size_t n = 0; n < i.evictions.size(); ++n) {
        evictions[n] = {keep(i.evictions[n].reason), keep(i.evictions[n].cause), i.evictions[n].count};
      }
      w.evictions = evictions;
    });
  }

  List<PodSetFacts> pod_sets(const WorkloadOf& w) {
    std::map<std::string, Amount> sorted(w.more.begin(), w.more.end());
    sorted["cpu"] = w.cpu;
    auto requests = arena_.make<ResourceAmount>(sorted.size());
    std::size_t n = 0;
    std::uint64_t shape = 17;
    for (const auto& [resource, amount] : sorted) {
      requests[n++] = {keep(resource), amount};
      shape = shape * 31 + static_cast<std::uint64_t>(amount);
    }
    for (const auto& [key, value] : w.node_selector) shape = shape * 31 + std::hash<std::string>{}(key + "=" + value);
    auto out = arena_.make<PodSetFacts>(1);
    out[0].name = "main";
    out[0].count = w.count;
    out[0].requests = requests;
    out[0].node_selector = pairs(w.node_selector);
    out[0].shape_hash = out[0].template_hash = out[0].core_hash = shape;
    return out;
  }
  List<Pair> pairs(const std::vector<std::pair<std::string, std::string>>& list) {
    auto out = arena_.make<Pair>(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) out[i] = {keep(list[i].first), keep(list[i].second)};
    return out;
  }
  /// One resource group; flavors and resources in the order of their first appearance.
  List<ResourceGroupFacts> groups(const std::vector<QuotaOf>& quotas) {
    if (quotas.empty()) return {};
    std::vector<std::string> flavors, resources;
    const auto note = [](std::vector<std::string>& list, const std::string& name) {
      for (const auto& known : list)
        if (known == name) return;
      list.push_back(name);
    };
    for (const auto& q : quotas) {
      note(flavors, q.flavor);
      note(resources, q.resource);
    }
    auto covered = arena_.make<Text>(resources.size());
    for (std::size_t r = 0; r < resources.size(); ++r) covered[r] = keep(resources[r]);
    auto list = arena_.make<FlavorQuotasFacts>(flavors.size());
    for (std::size_t f = 0; f < flavors.size(); ++f) {
      auto cells = arena_.make<QuotaFacts>(resources.size());
      for (std::size_t r = 0; r < resources.size(); ++r) {
        cells[r].resource = covered[r];
        for (const auto& q : quotas) {
          if (q.flavor == flavors[f] && q.resource == resources[r]) cells[r] = {covered[r], q.nominal, q.borrowing_limit, q.lending_limit};
        }
      }
      list[f] = {keep(flavors[f]), cells};
    }
    auto out = arena_.make<ResourceGroupFacts>(1);
    out[0] = {covered, list};
    return out;
  }

  Arena arena_;
  events::Log& log_;
  std::string domain_;
  admission::LoopDriver driver_;
  events::Encoder encoder_;
  events::RecordBatch unwritten_;
  std::vector<std::uint64_t> hashes_;
  std::map<std::string, WorkloadObserved> workloads_;
  std::map<std::string, JobObserved> jobs_;
  std::uint64_t version_ = 0;
};

}  // namespace hindsight::testing
