#include "projections/waits.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "admission/domain/domain.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/queue_place.hpp"
#include "projections/wait_reasons.hpp"

namespace hindsight::projections {
namespace {

const Waits::Counts nothing_happened;

/// Uids of the Workloads that a record may give quota, admit, evict or end; each once.
std::vector<std::string_view> concerned_by(const RecordView& record) {
  std::vector<std::string_view> out;
  if (const auto* o = std::get_if<Observation>(&record.body))
    if (const auto* w = std::get_if<WorkloadObserved>(o)) out.push_back(w->meta.uid);
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr) return out;
  // Those that a cycle tried in vain are many, and nothing happened to them.
  constexpr auto matters = []<class E>(const E&) {
    return std::is_same_v<E, QuotaReserved> || std::is_same_v<E, WorkloadAdmitted> || std::is_same_v<E, WorkloadPreempted> ||
           std::is_same_v<E, WorkloadEvicted> || std::is_same_v<E, WorkloadFinished> || std::is_same_v<E, SliceReplaced> ||
           std::is_same_v<E, ConditionChanged> || std::is_same_v<E, OptionAdmitted> || std::is_same_v<E, OptionAdopted> ||
           std::is_same_v<E, MigrationStarted>;
  };
  const auto add = [&](const auto& e) {
    if (!matters(e)) return;
    if constexpr (requires { e.workload; }) out.push_back(e.workload.uid);
    if constexpr (requires { e.replacement; }) out.push_back(e.replacement.uid);
    if constexpr (requires { e.parent; }) out.push_back(e.parent.uid);
  };
  for (const Event& event : d->events) std::visit(add, event);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::erase_if(out, [](std::string_view uid) { return uid.empty(); });
  return out;
}

}  // namespace

std::optional<std::int64_t> percentile(std::span<const std::int64_t> sorted, int percent) {
  if (sorted.empty()) return std::nullopt;
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

WaitFigures figures_of(std::vector<std::int64_t> waits) {
  if (waits.empty()) return {};
  std::sort(waits.begin(), waits.end());
  return {waits.size(), *percentile(waits, 50), *percentile(waits, 95), waits.back()};
}

std::string wait_text(std::int64_t milliseconds) {
  constexpr std::int64_t exact_below = 120'000;
  if (milliseconds >= exact_below) return human_duration(Duration::millis(milliseconds));
  std::string out = std::to_string(milliseconds / 1'000);
  if (milliseconds % 1'000 != 0) {
    std::string fraction = std::to_string(1'000 + milliseconds % 1'000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += "." + fraction;
  }
  return out + "s";
}

Json to_json(const WaitFigures& figures) {
  Json out{{"count", figures.waits}};
  if (figures.waits > 0) out.update({{"p50", figures.p50}, {"p95", figures.p95}, {"max", figures.longest}});
  return out;
}

void Waits::Counts::add(const Counts& other) {
  waits.insert(waits.end(), other.waits.begin(), other.waits.end());
  admitted += other.admitted;
  finished += other.finished;
  evicted += other.evicted;
  preempted += other.preempted;
}

Waits::Look Waits::look_at(const StateView& state, std::string_view uid) {
  Look out;
  out.uid = uid;
  const WorkloadAt at = find_by_uid(state, uid);
  if (at.workload == nullptr || parent_of(at) != nullptr) return out;
  const WorkloadState& w = *at.workload;
  out.there = true;
  out.queue = w.admission ? w.admission->cluster_queue : queue_of(state, w);
  out.namespace_ = w.namespace_;
  out.local_queue = w.queue_name;
  if (w.admission)
    for (const auto& p : w.admission->pod_sets)
      for (const auto& [resource, flavor] : p.flavors)
        if (std::find(out.flavors.begin(), out.flavors.end(), flavor) == out.flavors.end()) out.flavors.push_back(flavor);
  out.reserved = w.reserved();
  out.admitted = out.reserved && w.admitted();
  const auto* finished = w.find(ConditionType::finished);
  out.finished = w.finished() && finished->reason.text() != "WorkloadSliceReplaced";
  const auto* evicted = w.find(ConditionType::evicted);
  out.evicted = w.evicted();
  out.preempted = out.evicted && evicted->reason.text() == "Preempted";
  out.since = waits_since(w);
  if (w.family && !w.family->holds_itself) out.first_admitted = w.family->first_admitted;
  return out;
}

void Waits::before(const RecordView& record, const StateView& state) {
  looks_.clear();
  for (const auto uid : concerned_by(record)) looks_.push_back(look_at(state, uid));
}

void Waits::after(const RecordView&, const StateView& state) {
  for (const Look& was : looks_)
    if (was.there) look_again(was, look_at(state, was.uid), state.domain().now());
  looks_.clear();
}

template <class F>
void Waits::count(const Look& where, F&& change) {
  if (!where.queue.empty()) change(queues_[where.queue]);
  change(local_queues_[{std::string(where.namespace_.text()), std::string(where.local_queue.text())}]);
  for (const auto& flavor : where.flavors) change(flavors_[flavor]);
}

void Waits::look_again(const Look& was, const Look& is, Time now) {
  if (!is.there) return;
  // A family that moves was admitted before.
  const bool moved = was.first_admitted.is_set() && was.first_admitted == is.first_admitted;
  if (!was.reserved && is.reserved && !moved && was.since.is_set()) {
    const std::int64_t wait = std::max<std::int64_t>(0, (now - was.since).micros / 1'000);
    count(is, [&](Counts& c) { c.waits.push_back(wait); });
  }
  if (!was.admitted && is.admitted && !moved) count(is, [](Counts& c) { ++c.admitted; });
  if (was.reserved && !was.evicted && is.evicted)
    count(was, [&](Counts& c) {
      ++c.evicted;
      if (is.preempted) ++c.preempted;
    });
  if (!was.finished && is.finished) count(was, [](Counts& c) { ++c.finished; });
}

const Waits::Counts& Waits::of_queue(const Symbol& cluster_queue) const {
  const auto it = queues_.find(cluster_queue);
  return it == queues_.end() ? nothing_happened : it->second;
}

const Waits::Counts& Waits::of_local_queue(const Symbol& namespace_, const Symbol& name) const {
  const auto it = local_queues_.find({std::string(namespace_.text()), std::string(name.text())});
  return it == local_queues_.end() ? nothing_happened : it->second;
}

const Waits::Counts& Waits::of_flavor(const Symbol& flavor) const {
  const auto it = flavors_.find(flavor);
  return it == flavors_.end() ? nothing_happened : it->second;
}

}  // namespace hindsight::projections
