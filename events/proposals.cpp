#include "events/proposals.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/decision_fields.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::events {
namespace {

/// Says nothing of what is decided: texts with amounts and moments, how far a search came, versions, and which host out of many.
constexpr bool is_detail(std::string_view field) {
  constexpr std::string_view details[] = {"message",         "requeued_message", "progress",      "scan_generation",    "bulk_parked",
                                          "job_generation",  "topology",         "requeue_count", "preemption_skipped", "recomputed",
                                          "resource_version"};
  return std::find(std::begin(details), std::end(details), field) != std::end(details);
}

class Meaning {
 public:
  template <Registered T>
  void add(const T& value) {
    for_each_field<T>([&](auto, const auto& f) {
      if (!is_detail(f.name)) add(value.*f.member);
    });
  }
  void add(Text text) { hash_.add(text); }
  void add(const Time& /*moments come with the clock*/) {}
  void add(bool value) { hash_.add(value); }
  template <class N>
  requires(std::is_integral_v<N> || std::is_enum_v<N>) void add(const N& value) { hash_.add(static_cast<std::uint64_t>(value)); }
  template <class N>
  void add(const std::optional<N>& value) {
    hash_.add(value.has_value());
    if (value) add(*value);
  }
  template <class T>
  void add(const List<T>& list) {
    hash_.add(static_cast<std::uint64_t>(list.size()));
    for (const T& one : list) add(one);
  }
  void begin(std::size_t kind) { hash_.add(static_cast<std::uint64_t>(kind)); }
  [[nodiscard]] std::uint64_t value() const { return hash_.value(); }

 private:
  StateHash hash_;
};

/// So much is remembered at most.
constexpr std::size_t standing_max = 1'000'000;

/// Whose quota somebody else is to take, or who is to lose it otherwise.
template <class E>
constexpr bool takes_quota = std::is_same_v<E, WorkloadPreempted> || std::is_same_v<E, WorkloadEvicted>;

bool says_evicted(const WorkloadObserved& w) {
  return std::any_of(w.conditions.begin(), w.conditions.end(),
                     [](const ConditionFacts& c) { return c.type == ConditionType::evicted && c.status == ConditionStatus::true_; });
}

}  // namespace

std::uint64_t meaning_of(const Event& event) {
  Meaning meaning;
  meaning.begin(event.index());
  std::visit([&](const auto& e) { meaning.add(e); }, event);
  return meaning.value();
}

std::uint64_t meaning_of_admission(Text cluster_queue, List<PodSetAssignmentFacts> assignments) {
  std::vector<std::uint64_t> parts;
  const auto add = [&](const PodSetAssignmentFacts& a, Text resource, Text flavor) {
    StateHash one;
    one.add(a.pod_set);
    one.add(a.count);
    one.add(resource);
    one.add(flavor);
    parts.push_back(one.value());
  };
  for (const PodSetAssignmentFacts& a : assignments) {
    add(a, {}, {});
    for (const FlavorChoice& f : a.flavors) add(a, f.resource, f.flavor);
  }
  std::sort(parts.begin(), parts.end());
  StateHash all;
  all.add(cluster_queue);
  for (const std::uint64_t part : parts) all.add(part);
  return std::max<std::uint64_t>(all.value(), 1);
}

std::optional<ForeignDecision> foreign_decision(const RecordView& record, const admission::StateView& state) {
  const auto* o = std::get_if<Observation>(&record.body);
  const auto* w = o == nullptr ? nullptr : std::get_if<WorkloadObserved>(o);
  if (w == nullptr) return std::nullopt;
  const auto* known = find_workload(state, w->meta.uid);
  if (known == nullptr || known->finished() || w->meta.resource_version <= known->resource_version) return std::nullopt;
  const WorkloadRef ref{w->meta.uid, w->meta.namespace_, w->meta.name};
  if (!known->admission)
    return w->has_admission ? std::optional(ForeignDecision{ref, meaning_of_admission(w->admission_cluster_queue, w->assignments)})
                            : std::nullopt;
  // That somebody who was evicted before gives its quota back is no decision.
  const bool takes = !known->evicted() && (!w->has_admission || says_evicted(*w));
  return takes ? std::optional(ForeignDecision{ref, 0}) : std::nullopt;
}

const admission::WorkloadState* find_workload(const admission::StateView& state, Text uid) {
  const auto index = state.domain().find_parent(uid);
  const auto* parent = index ? state.parent(*index) : nullptr;
  if (parent == nullptr) return nullptr;
  for (const auto& w : parent->workloads())
    if (w.uid == uid) return &w;
  return nullptr;
}

void Proposals::stand(const Event& event) {
  standing_.insert(meaning_of(event));
  std::visit(
      [this]<class E>(const E& e) {
        if constexpr (std::is_same_v<E, QuotaReserved>)
          admits_.insert_or_assign(std::string(e.workload.uid), Admission{std::string(e.workload.namespace_), std::string(e.workload.name),
                                                                          meaning_of_admission(e.cluster_queue, e.assignments)});
        if constexpr (takes_quota<E>) evicts_.emplace(e.workload.uid);
      },
      event);
}

Proposals::News Proposals::take(const Trial& trial, const admission::StateView& state) {
  News news;
  news.memory = std::make_shared<Arena>();
  const auto before = std::exchange(standing_, {});
  auto admitted_before = std::exchange(admits_, {});
  evicts_.clear();
  for (const auto& step : trial.steps)
    for (const Event& event : std::get<Decisions>(step->view().body).events) {
      if (!before.contains(meaning_of(event)) && !standing_.contains(meaning_of(event))) news.events.push_back(event);
      stand(event);
    }
  if (!trial.at_rest) {  // what lies behind the end of the trial may stand as before
    for (auto& [uid, name] : admitted_before) admits_.emplace(uid, std::move(name));
    standing_.insert(before.begin(), before.end());
    if (standing_.size() > standing_max) forget();
    return news;
  }
  std::vector<std::string> gone;
  for (const auto& [uid, name] : admitted_before)
    if (!admits_.contains(uid)) gone.push_back(uid);
  std::sort(gone.begin(), gone.end());
  for (const auto& uid : gone) {
    const auto* w = find_workload(state, uid);
    if (w == nullptr || w->reserved() || w->finished()) continue;  // it came about, or there is nothing left to decide
    const Admission& name = admitted_before[uid];
    news.withdrawn.push_back({news.memory->copy(uid), news.memory->copy(name.namespace_), news.memory->copy(name.name)});
  }
  return news;
}

bool Proposals::foresees(const ForeignDecision& decision) const {
  const std::string uid(decision.workload.uid);
  if (decision.admission == 0) return evicts_.contains(uid);
  const auto found = admits_.find(uid);
  return found != admits_.end() && found->second.meaning == decision.admission;
}

/// Of a long history more is read than ever stood at one time: that something is noted once more does no harm.
void Proposals::read(const DecisionsNoted& note) {
  if (standing_.size() > standing_max) forget();
  for (const Event& event : note.events) stand(event);
  for (const auto& w : note.withdrawn) admits_.erase(std::string(w.uid));
}

void Proposals::forget() { *this = {}; }

}  // namespace hindsight::events
