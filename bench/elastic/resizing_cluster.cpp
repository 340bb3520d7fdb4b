#include "bench/elastic/resizing_cluster.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "admission/queue/cohort_tree.hpp"
#include "bench/actors/big_domain.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::bench {

namespace {

constexpr std::string_view space = "default";
constexpr Amount cpu_of_pod = 1'000;

std::string numbered(const char* format, std::size_t n) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, n);
  return text.data();
}

/// The last twelve hexadecimal digits of a uid that was made here.
std::size_t number_of(std::string_view uid) {
  std::size_t n = 0;
  std::from_chars(uid.data() + uid.size() - 12, uid.data() + uid.size(), n, 16);
  return n;
}

/// An object as the API server names it.
ObjectMeta named(std::string_view namespace_, std::string_view name, std::string_view uid, std::uint64_t version) {
  ObjectMeta m;
  m.namespace_ = namespace_;
  m.name = name;
  m.uid = uid;
  m.resource_version = version;
  m.generation = 1;
  return m;
}

/// The one pod set of every job. `request` has to outlive it.
PodSetFacts pods(std::int32_t count, const ResourceAmount& request) {
  PodSetFacts p;
  p.name = "main";
  p.count = count;
  p.requests = {&request, 1};
  p.shape_hash = p.template_hash = p.core_hash = 7;
  return p;
}

}  // namespace

ResizingCluster::ResizingCluster(const ElasticShape& shape)
    : driver_([kept = shape.kept](Text) -> Result<admission::Settings> {
        admission::Settings s;
        s.slice_history = kept;
        return s;
      }) {
  configure(shape);
  jobs_.resize(shape.jobs);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i].name = numbered("train-%06zu", i);
    jobs_[i].uid = numbered("0c4e1d52-7b61-4a7e-9a53-%012zx", i);
    jobs_[i].queue = queue_names_[i % queue_names_.size()];
  }
}

void ResizingCluster::start(std::int32_t size) {
  for (auto& j : jobs_) resize(static_cast<std::size_t>(&j - jobs_.data()), size);
  settle();
  for (auto& j : jobs_) {
    j.runs = true;
    ++j.generation;
    observe_job(j);
  }
  settle();
}

void ResizingCluster::resize(std::size_t job, std::int32_t size) {
  Job& j = jobs_[job];
  j.size = size;
  ++j.generation;
  j.next_slice = j.name + numbered("-%zu", static_cast<std::size_t>(j.generation));
  observe_job(j);
}

void ResizingCluster::settle() {
  now_ = now_ + Duration::millis(10);
  for (;;) {
    while (const auto step = driver_.decide()) {
      collect_answers(*step);
      apply(Decisions{step->base, step->kind, step->events});
      answer();
    }
    const Time due = driver_.domain().next_due();
    if (!due.is_set() || due > now_) return;
    apply(Observation{TimerFired{}});
  }
}

Amount ResizingCluster::used() const {
  Amount sum = 0;
  for (std::size_t i = 0; i < queue_names_.size(); ++i) {
    const auto* tree = driver_.tree(Symbol(numbered("cohort-%zu", i % 10)));
    sum += tree->quota()->usage(Symbol(queue_names_[i]), Symbol("default-flavor"), Symbol("cpu"));
  }
  return sum;
}

void ResizingCluster::apply(Body body) {
  if (const auto ok = driver_.apply(record_after(sequence_++, now_, std::move(body))); !ok) {
    std::fprintf(stderr, "error: %s\n", ok.error().message.c_str());
    std::abort();
  }
}

void ResizingCluster::configure(const ElasticShape& shape) {
  apply(Observation{ConfigurationObserved{"{}"}});  // so that the settings are read
  ResourceFlavorObserved flavor;
  flavor.meta = named({}, "default-flavor", "uid-flavor", ++version_);
  apply(Observation{flavor});
  NamespaceObserved n;
  n.meta = named({}, space, "uid-namespace", ++version_);
  apply(Observation{n});
  const QuotaFacts quota{"cpu", 1'000'000'000, {}, {}};
  const Text cpu = "cpu";
  const FlavorQuotasFacts flavors{"default-flavor", {&quota, 1}};
  const ResourceGroupFacts group{{&cpu, 1}, {&flavors, 1}};
  for (std::size_t i = 0; i < shape.queues; ++i) {
    queue_names_.push_back(numbered("queue-%04zu", i));
    const std::string cohort = numbered("cohort-%zu", i % 10);
    const std::string uid = "uid-" + queue_names_[i];
    ClusterQueueObserved q;
    q.meta = named({}, queue_names_[i], uid, ++version_);
    q.cohort = cohort;
    q.resource_groups = {&group, 1};
    q.has_namespace_selector = true;
    apply(Observation{q});
    LocalQueueObserved local;
    local.meta = named(space, queue_names_[i], uid, ++version_);
    local.cluster_queue = q.meta.name;
    apply(Observation{local});
  }
  apply(Observation{MirrorSynced{}});
}

void ResizingCluster::observe_job(const Job& j) {
  const ResourceAmount request{"cpu", cpu_of_pod};
  const PodSetFacts p = pods(j.size, request);
  JobObserved o;
  o.meta = named(space, j.name, j.uid, ++version_);
  o.meta.generation = j.generation;
  o.meta.created = now_;
  o.kind = "Job";
  o.group = "batch";
  o.queue_name = j.queue;
  o.suspended = !j.runs;
  o.active = j.runs;
  o.elastic = true;
  o.workload_name = j.next_slice;
  o.pod_sets = {&p, 1};
  apply(Observation{o});
}

void ResizingCluster::observe_slice(const Slice& s) {
  const Job& j = jobs_[s.job];
  const ResourceAmount request{"cpu", cpu_of_pod};
  const PodSetFacts p = pods(s.count, request);
  WorkloadObserved o;
  o.meta = named(space, s.name, s.uid, ++version_);
  o.meta.generation = s.generation;
  o.meta.created = s.created;
  o.owner_uid = o.job_uid = j.uid;
  o.owner_kind = "Job";
  o.owner_name = j.name;
  o.queue_name = j.queue;
  o.priority = 0;
  o.pod_sets = {&p, 1};
  o.elastic = true;
  o.replacement_for = s.replaces;
  o.slice_name = s.chain;
  const FlavorChoice choice{"cpu", "default-flavor"};
  const ResourceAmount usage{"cpu", cpu_of_pod * s.granted};
  const PodSetAssignmentFacts assignment{"main", s.granted, {&choice, 1}, {&usage, 1}};
  const std::array<ConditionFacts, 3> conditions{{
      {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved", s.created},
      {ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", s.created},
      {ConditionType::finished, ConditionStatus::true_, "WorkloadSliceReplaced", "Replaced", now_},
  }};
  if (s.granted > 0) {
    o.has_admission = true;
    o.admission_cluster_queue = j.queue;
    o.assignments = {&assignment, 1};
    o.conditions = std::span(conditions).first(s.finished ? 3 : 2);
  }
  apply(Observation{o});
}

void ResizingCluster::collect_answers(const admission::Domain::Step& step) {
  answers_.clear();
  std::vector<Answer> ends;  // written when the reservations have been (EJ-50)
  for (const Event& e : step.events) {
    if (const auto* asked = std::get_if<WorkloadRequested>(&e))
      answers_.push_back({Write::create, create_slice(*asked)});
    else if (const auto* reserved = std::get_if<QuotaReserved>(&e))
      answers_.push_back({Write::admit, number_of(reserved->workload.uid)});
    else if (const auto* revised = std::get_if<WorkloadRevised>(&e))
      answers_.push_back({Write::shrink, number_of(revised->workload.uid)});
    else if (const auto* removed = std::get_if<WorkloadRemoved>(&e))
      answers_.push_back({Write::remove, number_of(removed->workload.uid)});
    else if (const auto* replaced = std::get_if<SliceReplaced>(&e))
      ends.push_back({Write::finish, number_of(replaced->workload.uid)});
  }
  replacements_ += ends.size();
  answers_.insert(answers_.end(), ends.begin(), ends.end());
}

std::size_t ResizingCluster::create_slice(const WorkloadRequested& e) {
  Slice s;
  s.job = number_of(e.job.uid);
  s.name = e.name;
  s.uid = numbered("6ba7b810-9dad-41d1-80b4-%012zx", slices_.size());
  s.chain = e.slice_name.empty() ? e.name : e.slice_name;
  if (!e.replaces.uid.empty()) s.replaces = std::string(space) + "/" + std::string(e.replaces.name);
  s.count = e.counts.front().count;
  s.created = Time::from_seconds(now_.floor_seconds());
  slices_.push_back(std::move(s));
  return slices_.size() - 1;
}

void ResizingCluster::answer() {
  for (const Answer& a : answers_) {
    Slice& s = slices_[a.slice];
    switch (a.write) {
      case Write::create:
        break;
      case Write::admit:
        s.granted = s.count;
        break;
      case Write::shrink:
        s.count = jobs_[s.job].size;
        ++s.generation;
        break;
      case Write::finish:
        s.finished = true;
        break;
      case Write::remove: {
        ObjectDeleted gone;
        gone.kind = ObjectKind::workload;
        gone.namespace_ = space;
        gone.name = s.name;
        gone.uid = s.uid;
        apply(Observation{gone});
        continue;
      }
    }
    observe_slice(s);
  }
}

}  // namespace hindsight::bench
