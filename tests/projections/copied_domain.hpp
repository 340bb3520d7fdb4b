#pragma once

#include <algorithm>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/domain/loop_driver.hpp"
#include "admission/state/snapshot.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/settings.hpp"
#include "projections/jobs_again.hpp"
#include "projections/observed_again.hpp"
#include "projections/why.hpp"
#include "tests/explorer/explorer.hpp"

namespace hindsight::projections {

/// Of the histories of the explorer, where the text is only a name, and of others.
inline Result<admission::Settings> read_settings_of_tests(Text text) {
  auto by_name = explorer::read_settings(text);
  return by_name ? by_name : events::read_settings(text);
}

/// A copy of a domain that goes its own way.
class CopiedDomain {
 public:
  explicit CopiedDomain(std::span<const std::byte> snapshot) : driver_(read_settings_of_tests) {
    if (auto ok = admission::SnapshotCodec::read(snapshot, driver_.entities()); !ok) throw std::runtime_error(ok.error().message);
    now_ = driver_.domain().now();
  }

  void remove(std::string_view uid, ObjectKind kind = ObjectKind::workload) {
    append(Observation{ObjectDeleted{kind, "default", "", uid}});
  }

  /// The job ends and goes, and with it its Workloads, which would keep their quota until it has stopped otherwise.
  void end(const admission::WorkloadParent& parent) {
    if (const auto& job = parent.job()) remove(job->uid.text(), ObjectKind::job);
    for (const auto& w : parent.workloads()) remove(w.uid);
  }

  /// Raises a limit: the object is seen with it. `again`: otherwise as before, but changed, so that its tree is woken once more.
  void raise(const Remedy& remedy, bool again) {
    const auto space = remedy.object.find(' ');
    const Symbol name(std::string_view(remedy.object).substr(space + 1));
    const auto& catalog = *driver_.domain().catalog();
    if (remedy.kind == Remedy::Kind::raise_cohort) {
      const auto& c = *catalog.cohorts.at(name);
      CohortObserved o;
      o.meta.name = name.text();
      o.parent = c.parent.text();
      o.resource_groups = groups(c.groups, remedy);
      o.fair_weight_nano = c.fair_weight_nano + (again ? 1 : 0);
      append(Observation{o});
      return;
    }
    const auto& q = *catalog.queue(name);
    ClusterQueueObserved o;
    o.meta.name = name.text();
    o.cohort = q.cohort.text();
    o.resource_groups = groups(q.groups, remedy);
    o.queueing_strategy = q.strategy;
    o.has_namespace_selector = q.has_namespace_selector;
    o.when_can_borrow = q.when_can_borrow;
    o.when_can_preempt = q.when_can_preempt;
    o.preference = q.preference;
    o.within_cluster_queue = q.within_cluster_queue;
    o.reclaim_within_cohort = q.reclaim_within_cohort;
    o.borrow_within_cohort = q.borrow_within_cohort;
    o.max_priority_threshold = q.max_priority_threshold;
    const PolicyEdit& policy = remedy.policy.edit;
    if (policy.within_cluster_queue) o.within_cluster_queue = *policy.within_cluster_queue;
    if (policy.reclaim_within_cohort) o.reclaim_within_cohort = *policy.reclaim_within_cohort;
    if (policy.borrow_within_cohort) o.borrow_within_cohort = *policy.borrow_within_cohort;
    if (policy.max_priority_threshold) o.max_priority_threshold = policy.max_priority_threshold;
    if (policy.strategy) o.queueing_strategy = *policy.strategy;
    auto checks = arena_.make<AdmissionCheckRule>(q.checks.size());
    for (std::size_t i = 0; i < checks.size(); ++i) checks[i].name = q.checks[i].name.text();
    o.admission_checks = checks;
    o.stop_policy = remedy.kind == Remedy::Kind::resume ? StopPolicy::none : q.stop_policy;
    o.stop_policy_set = remedy.kind != Remedy::Kind::resume && q.stop_policy_set;
    o.fair_weight_nano = q.fair_weight_nano + (again ? 1 : 0);
    o.admission_mode = q.admission_mode;
    append(Observation{o});
  }

  /// By settings of this name (explorer::read_settings).
  void configure(std::string_view name) { append(Observation{ConfigurationObserved{arena_.copy(name)}}); }
  void stop(const Symbol& cluster_queue, StopPolicy policy) {
    auto o = observed_again(*driver_.domain().catalog()->queue(cluster_queue), arena_);
    o.stop_policy = policy;
    o.stop_policy_set = true;
    append(Observation{o});
  }
  void weigh(const Symbol& cluster_queue, std::int64_t weight_nano) {
    auto o = observed_again(*driver_.domain().catalog()->queue(cluster_queue), arena_);
    o.fair_weight_nano = weight_nano;
    append(Observation{o});
  }
  void stop_local_queue(const Symbol& namespace_, const Symbol& name, StopPolicy policy) {
    auto o = observed_again(*driver_.domain().catalog()->local_queue(namespace_, name), arena_);
    o.stop_policy = policy;
    o.stop_policy_set = true;
    append(Observation{o});
  }
  /// Its LocalQueue is not stopped any more.
  void resume_local_queue(const Symbol& namespace_, const Symbol& name) {
    const auto* q = driver_.domain().catalog()->local_queue(namespace_, name);
    LocalQueueObserved o;
    o.meta.namespace_ = namespace_.text();
    o.meta.name = name.text();
    o.cluster_queue = q->cluster_queue.text();
    o.fair_weight_nano = q->fair_weight_nano;
    append(Observation{o});
  }

  /// Somebody changes how many pods the job has, or may start with, or its priority; its Workloads are revised in place.
  void ask(std::string_view uid, const AskEdit& edit) {
    constexpr std::string_view new_class = "of-the-test";
    if (edit.priority) {
      WorkloadPriorityClassObserved made;
      made.meta.name = new_class;
      made.value = *edit.priority;
      append(Observation{made});
    }
    const auto* parent = driver_.parent(driver_.domain().find_parent(uid).value());
    const auto change = [&](auto o) {
      if (edit.priority) o.priority_class = new_class;
      if constexpr (requires { o.priority_class_kind; })
        if (edit.priority) {
          o.priority_class_kind = PriorityClassKind::workload_priority_class;
          o.priority = *edit.priority;
        }
      auto sets = arena_.make<PodSetFacts>(o.pod_sets.size());
      for (std::size_t i = 0; i < sets.size(); ++i) {
        sets[i] = o.pod_sets[i];
        if (sets[i].name != edit.pod_set) continue;
        if (edit.count) sets[i].count = *edit.count;
        if (edit.min_count) sets[i].min_count = *edit.min_count;
        if (sets[i].min_count) sets[i].min_count = std::min(*sets[i].min_count, sets[i].count);
      }
      o.pod_sets = sets;
      ++o.meta.resource_version;
      ++o.meta.generation;
      return Observation{o};
    };
    std::vector<Observation> told;
    if (const auto& job = parent->job()) told.push_back(change(observed_again(*job, arena_)));
    for (const auto& w : parent->workloads())
      if (w.uid == uid) told.push_back(change(observed_again(w, arena_)));
    for (auto& o : told) append(std::move(o));
  }

  /// Two seconds, and all that is decided in them.
  void settle() {
    now_ = now_ + Duration::seconds(2);
    append(Observation{TimerFired{}});
    decide();
  }
  /// The same, each timer at its moment.
  void live() {
    decide();
    const Time until = now_ + Duration::seconds(2);
    for (Time due = driver_.domain().next_due(); due.is_set() && due <= until; due = driver_.domain().next_due()) {
      now_ = std::max(now_, due);
      append(Observation{TimerFired{}});
      decide();
    }
  }
  void decide() {
    for (int i = 0; i < 400; ++i) {
      auto step = driver_.decide();
      if (!step) return;
      for (const Event& e : step->events) note(e);
      const std::vector<Event> events(step->events.begin(), step->events.end());
      append(Decisions{step->base, step->kind, step->events});
      if (gives_back)
        for (const Event& e : events) give_back(e);
    }
  }

  [[nodiscard]] const admission::LoopDriver& driver() const { return driver_; }
  [[nodiscard]] bool reserved(std::string_view uid) const {
    const auto parent = driver_.domain().find_parent(uid);
    if (!parent) return false;
    for (const auto& w : driver_.parent(*parent)->workloads())
      if (w.uid == uid) return w.reserved() && !(gives_back && w.evicted());
    return false;
  }

 private:
  List<ResourceGroupFacts> groups(const std::vector<admission::ResourceGroup>& groups, const Remedy& remedy) {
    auto out = arena_.make<ResourceGroupFacts>(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      auto resources = arena_.make<Text>(groups[g].resources.size());
      for (std::size_t r = 0; r < resources.size(); ++r) resources[r] = groups[g].resources[r].text();
      auto flavors = arena_.make<FlavorQuotasFacts>(groups[g].flavors.size());
      for (std::size_t f = 0; f < flavors.size(); ++f) {
        const auto& from = groups[g].flavors[f];
        auto quotas = arena_.make<QuotaFacts>(from.quotas.size());
        for (std::size_t r = 0; r < quotas.size(); ++r) {
          quotas[r] = {resources[r], from.quotas[r].nominal, from.quotas[r].borrowing_limit, from.quotas[r].lending_limit};
          for (const auto& s : remedy.steps) {
            if (s.flavor != from.flavor || s.resource != groups[g].resources[r]) continue;
            (remedy.kind == Remedy::Kind::raise_borrowing_limit ? *(quotas[r].borrowing_limit = 0) : quotas[r].nominal) = s.to;
          }
        }
        flavors[f] = {from.flavor.text(), quotas};
      }
      out[g] = {resources, flavors};
    }
    return out;
  }

  void append(Body body) {
    RecordView r;
    r.envelope.domain = "default";
    r.envelope.sequence = driver_.domain().sequence() + 1;
    r.envelope.epoch = driver_.domain().epoch();
    r.envelope.time = now_;
    r.body = std::move(body);
    if (auto ok = driver_.apply(r); !ok) throw std::runtime_error(ok.error().message);
  }

  admission::LoopDriver driver_;

 public:
  bool others_left = false;  ///< Somebody was preempted or ran out of time, and gave quota back.
  /// Who is evicted gives its quota back at once, in `live`.
  bool gives_back = false;
  struct Given {
    std::string uid, name;  ///< "namespace/name".
  };
  std::vector<Given> given;  ///< Quota, in order.
  struct Preempted {
    std::string name, preemptor_uid, reason;
  };
  std::vector<Preempted> preempted;
  std::vector<std::string> evicted;  ///< Whoever, for whatever reason; "namespace/name".

 private:
  static std::string name_of(const WorkloadRef& w) { return std::string(w.namespace_) + "/" + std::string(w.name); }
  void note(const Event& event) {
    others_left = others_left || std::holds_alternative<ReservationCleared>(event) ||
                  std::holds_alternative<WorkloadDeactivated>(event);  // which frees quota at once (D4)
    if (const auto* e = std::get_if<QuotaReserved>(&event)) given.push_back({std::string(e->workload.uid), name_of(e->workload)});
    if (const auto* e = std::get_if<WorkloadEvicted>(&event)) evicted.push_back(name_of(e->workload));
    if (const auto* e = std::get_if<WorkloadPreempted>(&event)) {
      evicted.push_back(name_of(e->workload));
      preempted.push_back({name_of(e->workload), std::string(e->preemptor.uid), std::string(e->reason)});
    }
  }
  /// Its pods have ended, and whoever runs it shows that it may wait again, as base-admission §8.2 has it.
  void give_back(const Event& event) {
    std::string_view uid, why = "Preempted";
    if (const auto* e = std::get_if<WorkloadPreempted>(&event)) uid = e->workload.uid;
    if (const auto* e = std::get_if<WorkloadEvicted>(&event)) {
      uid = e->workload.uid;
      why = e->reason;
    }
    const auto parent = uid.empty() ? std::nullopt : driver_.domain().find_parent(uid);
    if (!parent) return;
    for (const auto& w : driver_.parent(*parent)->workloads()) {
      if (w.uid != uid || !w.evicted() || !w.reserved()) continue;
      ReservationCleared cleared;
      cleared.workload = {arena_.copy(w.uid.text()), arena_.copy(w.namespace_.text()), arena_.copy(std::string_view(w.name))};
      cleared.reason = "PendingEvaluation";
      cleared.writes_requeued = true;
      cleared.requeued = why == "Preempted" || why == "NodeFailures";
      cleared.requeued_reason = arena_.copy(why);
      const std::vector<Event> events{cleared};
      append(Decisions{driver_.domain().sequence(), StepKind::life_cycle, events});
      return;
    }
  }

  Time now_;
  Arena arena_;
};

}  // namespace hindsight::projections
