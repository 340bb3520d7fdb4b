#include "projections/wait_reasons.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::projections {
namespace {

using admission::Catalog;
using admission::ClusterQueue;
using admission::WorkloadInfo;

/// Where one stands in its queue.
struct Standing {
  const WorkloadInfo* info = nullptr;
  bool parked = false;
  bool by_record = false;  ///< Parked because an equal one failed.
};

/// What a queue says of all who wait in it.
struct Lined {
  std::vector<ClusterQueue::Waiting> waiting;                    ///< Keeps alive what the others point to.
  std::unordered_map<admission::WorkloadId, Standing> standing;  ///< An Option also by that of its Parent, the first one.
  const WorkloadInfo* strict_head = nullptr;                     ///< Who holds up a StrictFIFO queue; null: nobody.
  std::unordered_map<std::uint64_t, Symbol> records;             ///< Reasons of equal ones that failed, by hash.
  std::unordered_map<std::uint64_t, std::string_view> tried;     ///< Message of one that was tried itself, by the same hash.
};

using WorkloadIds = std::unordered_set<admission::WorkloadId>;

/// `all`: what the queue says of who waits. `only`: these are looked up, or those whose Parents they are; null: anybody may be.
Lined lined_up(const StateView& state, const admission::QueueConfig& config, const ClusterQueue& queue,
               std::vector<ClusterQueue::Waiting> all, const WorkloadIds* only) {
  Lined out;
  out.waiting = std::move(all);
  std::unordered_set<std::uint64_t> failed;  // hashes of equal ones that failed
  if (only == nullptr) out.standing.reserve(out.waiting.size());
  for (const auto& x : out.waiting) {
    const WorkloadInfo& w = *x.workload;
    if (only != nullptr && !only->contains(w.id) && (w.option == nullptr || !only->contains(w.option->parent))) continue;
    const auto why = x.parked ? queue.failed_equal(w.id) : std::nullopt;
    const Standing standing{&w, x.parked, why.has_value()};
    out.standing.try_emplace(w.id, standing);
    if (w.option != nullptr) out.standing.try_emplace(w.option->parent, standing);
    if (!why) continue;
    failed.insert(w.equivalence_hash);
    if (!why->empty()) out.records.emplace(w.equivalence_hash, *why);
  }
  for (const auto& x : out.waiting) {
    const WorkloadInfo& w = *x.workload;
    if (!x.parked || w.equivalence_hash == 0 || !failed.contains(w.equivalence_hash) || out.tried.contains(w.equivalence_hash)) continue;
    if (queue.failed_equal(w.id)) continue;
    const WorkloadAt at = find_by_uid(state, w.uid);
    const auto* c = at.workload == nullptr ? nullptr : at.workload->find(ConditionType::quota_reserved);
    if (c != nullptr && !c->message.empty()) out.tried.emplace(w.equivalence_hash, c->message);
  }
  if (config.strategy != QueueingStrategy::strict_fifo) return out;
  // Where families are tried as one, those that are parked hold up nobody (CA-142, CA-143).
  const bool families = state.domain().catalog()->settings.strict_families;
  const auto head = std::find_if(out.waiting.begin(), out.waiting.end(), [&](const auto& x) { return !families || !x.parked; });
  if (head != out.waiting.end() && !head->parked) out.strict_head = head->workload.get();
  return out;
}

/// Reasons of which the message tells what is short.
bool tells_what_is_short(std::string_view reason) {
  static constexpr std::array<std::string_view, 5> reasons{"WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor",
                                                           "TopologyPlacementFailed", "WaitingForPreemptedWorkloads"};
  return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

WaitReason short_of(std::string_view reason, std::string_view message) {
  WaitReason out{std::string(reason), {}, {}};
  if (!tells_what_is_short(reason)) return out;
  out.lacks = short_pairs(message);
  std::vector<std::string> names;
  for (const auto& [flavor, resource] : out.lacks) names.push_back(flavor + "/" + resource);
  out.detail = first_names(names);
  return out;
}

/// Goes through all Workloads and says of each why it waits.
class Gathering {
 public:
  explicit Gathering(const StateView& state) : state_(state), catalog_(*state.domain().catalog()), now_(state.now()) {}

  Waiters gather() {
    for (std::uint32_t i = 0; i < state_.domain().parent_count(); ++i) {
      const auto* parent = state_.parent(i);
      if (parent == nullptr) continue;
      for (const auto& w : parent->workloads()) add({parent, &w});
    }
    return std::move(out_);
  }
  Waiters gather(std::span<const WorkloadAt> whom, const Symbol& cluster_queue, std::vector<ClusterQueue::Waiting> all) {
    WorkloadIds ids;
    for (const auto& at : whom) ids.insert(at.workload->id);
    const auto* config = catalog_.queue(cluster_queue);
    const auto* entity = config == nullptr ? nullptr : state_.queue(cluster_queue);
    if (entity != nullptr) lined_.emplace(cluster_queue, lined_up(state_, *config, *entity, std::move(all), &ids));
    for (const auto& at : whom) add(at);
    return std::move(out_);
  }

 private:
  /// Null: there is no such queue.
  const Lined* line_of(const Symbol& queue) {
    if (const auto known = lined_.find(queue); known != lined_.end()) return &known->second;
    const auto* config = catalog_.queue(queue);
    const auto* entity = config == nullptr ? nullptr : state_.queue(queue);
    if (entity == nullptr) return nullptr;
    return &lined_.emplace(queue, lined_up(state_, *config, *entity, entity->waiting(), nullptr)).first->second;
  }

  void add(const WorkloadAt& at) {
    const WorkloadState& w = *at.workload;
    const Phase phase = phase_of(w);
    if (phase != Phase::pending && phase != Phase::quota_reserved && phase != Phase::inactive) return;
    if (parent_of(at) != nullptr) return;  // its Parent stands for it
    Waiter one{at, phase, Symbol(), waits_since(w), 0};
    if (w.admission && phase == Phase::quota_reserved) {
      if (catalog_.queue(w.admission->cluster_queue) != nullptr) one.queue = w.admission->cluster_queue;
    } else {
      one.queue = home_of(w).queue;
    }
    if (phase == Phase::pending) {
      one.reason = why_pending(at);
    } else if (phase == Phase::inactive) {
      one.reason = number({reason_of(w), {}, {}});
    } else {
      one.reason = number(why_not_admitted(w));
    }
    out_.all.push_back(std::move(one));
  }

  static WaitReason why_not_admitted(const WorkloadState& w) {
    const std::string reason = reason_of(w);
    std::vector<std::string> checks;
    for (const auto& c : w.checks)
      if (c.state != CheckState::ready) checks.push_back(text(c.name));
    // The condition may still be that of the time before it had quota.
    const bool tells = !reason.empty() && reason != "NoReservation";
    if (!checks.empty()) return {tells ? reason : "UnsatisfiedAdmissionChecks", "check " + first_names(checks), {}};
    if (w.lacks_places()) return {"WaitingForPlaces", {}, {}};
    return {tells ? reason : "WaitingForAdmission", {}, {}};
  }

  /// A LocalQueue, looked up once for all who name it.
  struct Home {
    Symbol queue;  ///< The ClusterQueue that it leads to; empty: none that is there.
    bool looked_at = false;
    std::optional<std::size_t> refusal;  ///< Once looked at: why nobody of it is tried; a number of a reason.
  };
  Home& home_of(const WorkloadState& w) {
    const auto [it, fresh] = homes_.try_emplace(std::uint64_t{w.namespace_.id()} << 32 | w.queue_name.id());
    if (fresh)
      if (const auto* queue = catalog_.queue(queue_of(state_, w)); queue != nullptr) it->second.queue = queue->name;
    return it->second;
  }
  std::optional<std::size_t> refusal_of_all(const Symbol& namespace_, const Symbol& local_queue) {
    const auto* lq = catalog_.local_queue(namespace_, local_queue);
    const std::string lq_name = full_name(namespace_.text(), local_queue.text());
    if (lq == nullptr) return number({"Misconfigured", "there is no LocalQueue " + lq_name, {}});
    if (lq->stop_policy != StopPolicy::none) return number({"Suspended", "LocalQueue " + lq_name + " is stopped", {}});
    const std::string cq_name = "ClusterQueue " + text(lq->cluster_queue);
    const auto* cq = catalog_.queue(lq->cluster_queue);
    if (cq == nullptr) return number({"Misconfigured", "there is no " + cq_name, {}});
    if (const auto a = catalog_.activity.find(cq->name); a != catalog_.activity.end() && !a->second.active)
      return number({"Suspended", cq_name + ": " + a->second.reason, {}});
    if (!catalog_.namespace_matches(*cq, namespace_)) return number({"Misconfigured", "namespaceSelector of " + cq_name, {}});
    return std::nullopt;
  }

  /// What keeps it out of the queue or from being tried goes before what its condition said when it was tried (base-api §6.3, in that
  /// order).
  std::size_t why_pending(const WorkloadAt& at) {
    const WorkloadState& w = *at.workload;
    const auto& job = at.parent->job();
    if (w.deleting) return number({"Deleting", {}, {}});
    if (!w.quarantined.empty() || (job && !job->quarantined.empty())) return number({"Misconfigured", "set aside", {}});
    if (job && job->on_hold) return number({"OnHold", {}, {}});
    Home& home = home_of(w);
    if (!std::exchange(home.looked_at, true)) home.refusal = refusal_of_all(w.namespace_, w.queue_name);
    if (home.refusal) return *home.refusal;
    const auto bad = [](const admission::PodSetSpec& p) { return !p.limits_error.empty() || !p.limit_range_error.empty(); };
    if (std::any_of(w.pod_sets.begin(), w.pod_sets.end(), bad)) return number({"Misconfigured", "limits of its pods", {}});
    if (const auto gate = at.parent->admission_gate(w, catalog_); !gate.empty()) return number({"AdmissionGated", std::string(gate), {}});
    if (w.is_true(ConditionType::waiting_for_replacement_pods)) return number({"WaitingForReplacementPods", {}, {}});
    if (w.has_requeue_state && w.requeue_at.is_set() && w.requeue_at > now_) return number({"BackOff", eviction_reason(w), {}});
    if (const auto* r = w.find(ConditionType::requeued); r != nullptr && r->is_false()) return number({"NotRequeued", text(r->reason), {}});
    std::vector<std::string> failed;
    for (const auto& c : w.checks)
      if (c.state == CheckState::retry || c.state == CheckState::rejected) failed.push_back(text(c.name));
    if (!failed.empty()) return number({"UnsatisfiedAdmissionChecks", "check " + first_names(failed), {}});
    return why_in_queue(w, home.queue);
  }

  std::size_t why_in_queue(const WorkloadState& w, const Symbol& queue) {
    const Lined* lined = line_of(queue);
    const auto* c = w.find(ConditionType::quota_reserved);
    const Symbol& reason = c == nullptr ? nothing_ : c->reason;
    const std::string_view message = c == nullptr ? std::string_view() : std::string_view(c->message);
    const Standing* mine = nullptr;
    if (lined != nullptr)
      if (const auto it = lined->standing.find(w.id); it != lined->standing.end()) mine = &it->second;
    if (mine != nullptr) {
      const Lined& line = *lined;
      const auto* head = line.strict_head;
      const bool same_family =
          head != nullptr && head->option != nullptr && mine->info->option != nullptr && head->option->parent == mine->info->option->parent;
      if (head != nullptr && head != mine->info && !same_family && !mine->parked)
        return number({"StrictFIFO", "behind " + family_name(*head), {}});
      if (mine->by_record) {
        const auto record = line.records.find(mine->info->equivalence_hash);
        const auto tried = line.tried.find(mine->info->equivalence_hash);
        const Symbol& why = record == line.records.end() ? reason : record->second;
        if (!why.empty()) return condition(why, tried == line.tried.end() ? message : tried->second);
      }
    }
    return condition(reason.empty() ? not_tried_ : reason, message);
  }

  static std::string eviction_reason(const WorkloadState& w) {
    const auto* e = w.find(ConditionType::evicted);
    return e != nullptr && e->is_true() ? text(e->reason) : std::string();
  }

  /// Many have the same message, so it is read once.
  std::size_t condition(const Symbol& reason, std::string_view message) {
    auto& known = read_[reason];
    const auto it = known.find(message);
    return it != known.end() ? it->second : known.emplace(message, number(short_of(reason.text(), message))).first->second;
  }

  std::size_t number(WaitReason reason) {
    const auto [it, fresh] = numbers_.try_emplace({reason.reason, reason.detail}, out_.reasons.size());
    if (fresh) out_.reasons.push_back(std::move(reason));
    return it->second;
  }

  const StateView& state_;
  const Catalog& catalog_;
  Time now_;
  const Symbol nothing_, not_tried_{"PendingEvaluation"};
  std::unordered_map<Symbol, Lined> lined_;
  std::unordered_map<std::uint64_t, Home> homes_;  ///< By the numbers of namespace and name.
  std::unordered_map<Symbol, std::unordered_map<std::string_view, std::size_t>> read_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
  Waiters out_;
};

std::int64_t milliseconds(Time since, Time now) { return since.is_set() && now.is_set() ? (now - since).micros / 1'000 : 0; }

/// Does `a` wait longer than `b`? Who is not known to wait since any time waits shortest.
bool waits_longer(Time a, Time b) { return a.is_set() && (!b.is_set() || a < b); }

}  // namespace

std::vector<std::pair<std::string, std::string>> short_pairs(std::string_view message) {
  static constexpr std::string_view insufficient = "insufficient ", quota = "quota for ", in_flavor = " in flavor ";
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t at = message.find(insufficient); at != std::string_view::npos; at = message.find(insufficient, at + 1)) {
    const std::size_t resource = message.find(quota, at), flavor = message.find(in_flavor, at), end = message.find(',', at);
    if (resource == std::string_view::npos || flavor == std::string_view::npos || end == std::string_view::npos || end < flavor) continue;
    const std::size_t from = resource + quota.size(), flavor_from = flavor + in_flavor.size();
    if (flavor < from) continue;
    std::pair<std::string, std::string> pair(message.substr(flavor_from, end - flavor_from), message.substr(from, flavor - from));
    if (std::find(out.begin(), out.end(), pair) == out.end()) out.push_back(std::move(pair));
  }
  return out;
}

std::string text_of(const WaitReason& reason) { return reason.detail.empty() ? reason.reason : reason.reason + " (" + reason.detail + ")"; }

Time waits_since(const WorkloadState& w) {
  const auto* reserved = w.find(ConditionType::quota_reserved);
  if (w.reserved()) return reserved->last_transition;
  if (w.family && w.family->cycle_start.is_set()) return w.family->cycle_start;
  const auto* evicted = w.find(ConditionType::evicted);
  if (evicted == nullptr || !evicted->is_true()) return w.created;
  const Time lost = reserved == nullptr ? evicted->last_transition : reserved->last_transition;
  return lost.is_set() ? std::max(lost, w.created) : w.created;
}

Waiters waiters_of(const StateView& state) { return Gathering(state).gather(); }

Waiters waiters_among(const StateView& state, std::span<const WorkloadAt> whom, const Symbol& cluster_queue,
                      std::vector<ClusterQueue::Waiting> all) {
  return Gathering(state).gather(whom, cluster_queue, std::move(all));
}

std::vector<ReasonCount> count_reasons(const Waiters& waiters, const std::function<bool(const Waiter&)>& wanted, bool by_queue) {
  std::unordered_map<Symbol, std::unordered_map<std::size_t, std::pair<ReasonCount, const Waiter*>>> counts;
  const auto name = [](const Waiter& x) { return std::pair(x.at.workload->namespace_.text(), std::string_view(x.at.workload->name)); };
  for (const auto& x : waiters.all) {
    if (!wanted(x)) continue;
    auto& [count, longest] = counts[by_queue ? x.queue : Symbol()][x.reason];
    ++count.workloads;
    if (longest == nullptr || waits_longer(x.since, longest->since) || (x.since == longest->since && name(x) < name(*longest)))
      longest = &x;
  }
  std::vector<ReasonCount> out;
  for (auto& [queue, of_queue] : counts)
    for (auto& [reason, entry] : of_queue) {
      auto& [count, longest] = entry;
      count.queue = queue;
      count.reason = reason;
      count.since = longest->since;
      count.example = full_name(longest->at.workload->namespace_.text(), longest->at.workload->name);
      out.push_back(std::move(count));
    }
  std::sort(out.begin(), out.end(), [&](const ReasonCount& a, const ReasonCount& b) {
    if (a.workloads != b.workloads) return a.workloads > b.workloads;
    if (a.queue != b.queue) return a.queue.text() < b.queue.text();
    return text_of(waiters.reasons[a.reason]) < text_of(waiters.reasons[b.reason]);
  });
  return out;
}

std::string counted_by_phase(const Waiters& waiters, const std::function<bool(const Waiter&)>& wanted) {
  std::size_t pending = 0, reserved = 0, inactive = 0;
  for (const auto& x : waiters.all)
    if (wanted(x)) ++(x.phase == Phase::pending ? pending : x.phase == Phase::inactive ? inactive : reserved);
  std::string out = counted(pending + reserved + inactive, "workload");
  std::vector<std::string> parts;
  if (pending > 0) parts.push_back(std::to_string(pending) + " pending");
  if (reserved > 0) parts.push_back(std::to_string(reserved) + " with quota reserved");
  if (inactive > 0) parts.push_back(std::to_string(inactive) + " inactive");
  return parts.empty() ? out : out + ": " + joined(parts);
}

Table reasons_table(const Waiters& waiters, const std::vector<ReasonCount>& counts, Time now, bool by_queue, std::size_t most) {
  Table t;
  if (by_queue) t.columns.push_back({"CLUSTERQUEUE"});
  for (const Table::Column& c : {Table::Column{"REASON"}, {"DETAIL"}, {"WORKLOADS", false, true}, {"LONGEST WAIT"}, {"EXAMPLE"}})
    t.columns.push_back(c);
  for (const auto& count : counts) {
    if (t.rows.size() == most) break;
    const WaitReason& reason = waiters.reasons[count.reason];
    auto& row = t.rows.emplace_back();
    if (by_queue) row.emplace_back(count.queue.empty() ? std::string("<none>") : text(count.queue));
    row.emplace_back(reason.reason);
    row.emplace_back(reason.detail);
    row.emplace_back(std::to_string(count.workloads));
    row.emplace_back(age(count.since, now));
    row.emplace_back(count.example);
  }
  return t;
}

std::string reasons_left_out(const std::vector<ReasonCount>& counts, std::size_t most) {
  if (counts.size() <= most) return {};
  std::size_t workloads = 0;
  for (std::size_t i = most; i < counts.size(); ++i) workloads += counts[i].workloads;
  return "and " + counted(counts.size() - most, "more reason") + " with " + counted(workloads, "workload");
}

Json reasons_json(const Waiters& waiters, const std::vector<ReasonCount>& counts, Time now, bool by_queue) {
  Json out = Json::array();
  for (const auto& count : counts) {
    const WaitReason& reason = waiters.reasons[count.reason];
    Json one = Json::object();
    if (by_queue) one["clusterQueue"] = count.queue.text();
    one["reason"] = reason.reason;
    if (!reason.detail.empty()) one["detail"] = reason.detail;
    if (!reason.lacks.empty()) one["lacks"] = Json::array();
    for (const auto& [flavor, resource] : reason.lacks) one["lacks"].push_back({{"flavor", flavor}, {"resource", resource}});
    one["workloads"] = count.workloads;
    one["longestWaitMilliseconds"] = milliseconds(count.since, now);
    one["example"] = count.example;
    out.push_back(std::move(one));
  }
  return out;
}

Json waiting_json(const Waiters& waiters, const std::function<bool(const Waiter&)>& wanted) {
  std::size_t pending = 0, reserved = 0, inactive = 0;
  for (const auto& x : waiters.all)
    if (wanted(x)) ++(x.phase == Phase::pending ? pending : x.phase == Phase::inactive ? inactive : reserved);
  return {{"total", pending + reserved + inactive}, {"pending", pending}, {"quotaReserved", reserved}, {"inactive", inactive}};
}

}  // namespace hindsight::projections
