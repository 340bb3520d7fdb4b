#include "projections/attention.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "admission/domain/domain.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/quarantine.hpp"
#include "projections/queue_place.hpp"
#include "projections/quota_report.hpp"
#include "projections/repeated_preemptions.hpp"
#include "projections/wait_words.hpp"
#include "projections/waits.hpp"

namespace hindsight::projections {
namespace {

using admission::Catalog;
using AttentionKind = Attention::Kind;
using Shown = std::function<bool(const Symbol&)>;

/// Some who wait for the same, and of those who may be named the one that has waited longest.
struct WaitingGroup {
  std::size_t workloads = 0;
  Time since;
  const Waiter* example = nullptr;  ///< Null: none may be named.

  void add(const Waiter& x, Time from, bool may_be_named) {
    ++workloads;
    if (from.is_set() && (!since.is_set() || from < since)) since = from;
    if (may_be_named && (example == nullptr || (from.is_set() && from < example_since))) {
      example = &x;
      example_since = from;
    }
  }

 private:
  Time example_since;
};

std::string name_of_workload(const WorkloadState& w) { return full_name(w.namespace_.text(), w.name); }

Attention::Object object_of_workload(const WorkloadState& w) { return {"Workload", text(w.namespace_), w.name.text()}; }

std::string they_wait(std::size_t n) { return counted(n, "workload") + (n == 1 ? " waits" : " wait"); }

/// "95 % of those who got quota" and the like are told with minutes and seconds as ages are.
std::string duration_words(std::int64_t seconds) { return human_duration(Duration::seconds(seconds)); }

/// What one asks for of a resource, all its pods.
Amount asked_in_all(const WorkloadState& w, std::string_view resource) {
  Amount out = 0;
  for (const auto& pod_set : *w.pod_sets)
    for (const auto& request : pod_set.requests)
      if (request.resource.text() == resource) out = add(out, multiply(request.amount, pod_set.count));
  return out;
}

class AttentionSearch {
 public:
  AttentionSearch(const StateView& state, const Waiters& waiters, const Shown& shown)
      : state_(state), catalog_(*state.domain().catalog()), waiters_(waiters), shown_(shown), now_(state.now()) {}

  std::vector<Attention> search() {
    cluster_queues_that_cannot_admit();
    local_queues_that_cannot_admit();
    those_that_never_fit();
    unused_quota();
    checks_that_hang();
    repeated_preemptions();
    long_waits();
    set_aside();
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Attention& a, const Attention& b) { return a.kind != b.kind ? a.kind < b.kind : a.workloads > b.workloads; });
    return std::move(out_);
  }
  std::size_t left_out = 0;

 private:
  [[nodiscard]] bool may_name(const WorkloadState& w) {
    const auto [it, fresh] = named_.try_emplace(w.namespace_.id());
    if (fresh) it->second = shown_(w.namespace_);
    return it->second;
  }
  [[nodiscard]] static std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }
  [[nodiscard]] bool never_fits(const Waiter& x) const { return waiters_.reasons[x.reason].reason == "ExceedsMaxQuota"; }

  void add_example(Attention& item, const WaitingGroup& group) const {
    if (group.example != nullptr) item.objects.push_back(object_of_workload(*group.example->at.workload));
  }

  void cluster_queues_that_cannot_admit() {
    std::unordered_map<Symbol, WaitingGroup> stopped;
    for (const auto& [name, config] : catalog_.queues)
      if (const auto a = catalog_.activity.find(name); a != catalog_.activity.end() && !a->second.active) stopped.try_emplace(name);
    if (stopped.empty()) return;
    for (const auto& x : waiters_.all)
      if (x.phase == Phase::pending)
        if (const auto it = stopped.find(x.queue); it != stopped.end()) it->second.add(x, x.since, may_name(*x.at.workload));
    for (const auto& [name, config] : catalog_.queues) {
      if (!stopped.contains(name)) continue;
      const auto activity = catalog_.activity.find(name);
      const WaitingGroup& group = stopped.at(name);
      Attention item{
          .kind = AttentionKind::queue_cannot_admit, .objects = {{"ClusterQueue", {}, text(name)}}, .workloads = group.workloads};
      item.sentence = "ClusterQueue " + text(name) + " is not active, " + activity->second.reason +
                      (activity->second.message.empty() ? "" : ": " + activity->second.message);
      if (group.workloads > 0) item.sentence += "; " + they_wait(group.workloads);
      item.since = group.since;
      add_example(item, group);
      out_.push_back(std::move(item));
    }
  }

  /// LocalQueues that are stopped, or lead nowhere, while somebody waits in them.
  void local_queues_that_cannot_admit() {
    std::map<std::pair<std::string, std::string>, WaitingGroup> groups;
    std::unordered_map<std::uint64_t, bool> known;  // by the numbers of namespace and name
    for (const auto& x : waiters_.all) {
      if (x.phase != Phase::pending) continue;
      const WorkloadState& w = *x.at.workload;
      const auto [it, fresh] = known.try_emplace(pair_of(w.namespace_.id(), w.queue_name.id()));
      if (fresh) {
        const auto* queue = catalog_.local_queue(w.namespace_, w.queue_name);
        it->second = queue != nullptr && queue->stop_policy == StopPolicy::none && catalog_.queue(queue->cluster_queue) != nullptr;
      }
      if (!it->second && !w.queue_name.empty()) groups[{text(w.namespace_), text(w.queue_name)}].add(x, x.since, may_name(w));
    }
    for (const auto& [key, group] : groups) {
      if (group.example == nullptr) {
        ++left_out;
        continue;
      }
      const auto& reason = waiters_.reasons[group.example->reason];
      Attention item{.kind = AttentionKind::queue_cannot_admit,
                     .sentence = they_wait(group.workloads) + " in LocalQueue " + full_name(key.first, key.second) + ": the first " +
                                 wait_sentence(reason),
                     .objects = {{"LocalQueue", key.first, key.second}},
                     .since = group.since,
                     .workloads = group.workloads};
      add_example(item, group);
      out_.push_back(std::move(item));
    }
  }

  struct TreeTop {
    Symbol cohort;  ///< Empty: the queue has none.
    std::vector<SubtreeQuota> lines;
  };
  const TreeTop& top_above(const Symbol& queue) {
    const auto above = cohorts_above(state_, queue);
    const Symbol cohort = above.empty() ? Symbol() : above.back();
    const Symbol& key = cohort.empty() ? queue : cohort;
    auto& known = cohort.empty() ? queues_alone_ : cohorts_at_top_;
    if (const auto it = known.find(key); it != known.end()) return it->second;
    return known.emplace(key, TreeTop{cohort, cohort.empty() ? subtree_of_queue(state_, queue) : subtree_of_cohort(state_, cohort)})
        .first->second;
  }

  static const SubtreeQuota* line_in(const std::vector<SubtreeQuota>& lines, std::string_view flavor, std::string_view resource) {
    const auto it =
        std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.flavor.text() == flavor && l.resource.text() == resource; });
    return it == lines.end() ? nullptr : &*it;
  }

  void unused_quota() {
    struct Key {
      std::string queue, flavor, resource;
      auto operator<=>(const Key&) const = default;
    };
    std::map<Key, WaitingGroup> groups;
    // Many wait in one queue for one reason, so that names are looked up once for all of these.
    std::unordered_map<std::uint64_t, std::vector<WaitingGroup*>> known;
    for (const auto& x : waiters_.all) {
      if (x.phase != Phase::pending || x.queue.empty() || never_fits(x)) continue;
      const auto [it, fresh] = known.try_emplace(pair_of(x.queue.id(), static_cast<std::uint32_t>(x.reason)));
      if (fresh)
        for (const auto& [flavor, resource] : waiters_.reasons[x.reason].lacks)
          it->second.push_back(&groups[{text(x.queue), flavor, resource}]);
      for (auto* group : it->second) group->add(x, x.since, may_name(*x.at.workload));
    }
    for (const auto& [key, group] : groups) {
      if (group.example == nullptr) continue;  // what it asks for is not for this audience
      const Symbol queue = group.example->queue;
      const TreeTop& top = top_above(queue);
      const auto* whole = line_in(top.lines, key.flavor, key.resource);
      if (whole == nullptr || whole->nominal == unlimited) continue;
      const Amount unused = std::max<Amount>(0, subtract(whole->nominal, whole->used));
      const Amount asked = asked_in_all(*group.example->at.workload, key.resource);
      const auto own = subtree_of_queue(state_, queue);
      const auto* mine = line_in(own, key.flavor, key.resource);
      const Amount available = mine == nullptr ? 0 : mine->available;
      // What the queue may use and is enough goes to somebody soon; what is less than anybody asks for is no loss.
      if (asked <= 0 || unused < asked || available >= asked) continue;
      const std::string of = key.flavor + "/" + key.resource;
      Attention item{.kind = AttentionKind::unused_quota,
                     .objects = {{"ClusterQueue", {}, key.queue}},
                     .since = group.since,
                     .workloads = group.workloads};
      item.sentence = amount_text(unused, whole->resource) + " of " + of + " is unused in " +
                      (top.cohort.empty() ? "ClusterQueue " + key.queue : "Cohort " + text(top.cohort)) + ", but ClusterQueue " +
                      key.queue + " may use only " + amount_text(available, whole->resource) + " more of it, where " +
                      they_wait(group.workloads) + " for it and the first asks for " + amount_text(asked, whole->resource);
      if (!top.cohort.empty()) item.objects.push_back({"Cohort", {}, text(top.cohort)});
      add_example(item, group);
      out_.push_back(std::move(item));
    }
  }

  void those_that_never_fit() {
    std::map<Symbol, WaitingGroup, ByText> groups;
    for (const auto& x : waiters_.all)
      if (x.phase == Phase::pending && never_fits(x)) groups[x.queue].add(x, x.since, may_name(*x.at.workload));
    for (const auto& [queue, group] : groups) {
      if (group.example == nullptr) continue;
      Attention item{.kind = AttentionKind::never_fits,
                     .objects = {{"ClusterQueue", {}, text(queue)}},
                     .since = group.since,
                     .workloads = group.workloads};
      item.sentence = counted(group.workloads, "workload") + " of ClusterQueue " + text(queue) +
                      " cannot start with the quota that it has: " + name_of_workload(*group.example->at.workload) + " " +
                      wait_sentence(waiters_.reasons[group.example->reason]);
      add_example(item, group);
      out_.push_back(std::move(item));
    }
  }

  void checks_that_hang() {
    std::map<std::string, WaitingGroup> hanging, all;
    for (const auto& x : waiters_.all) {
      if (x.phase != Phase::quota_reserved) continue;
      const WorkloadState& w = *x.at.workload;
      for (const auto& check : w.checks) {
        if (check.state == CheckState::ready) continue;
        const Time since = check.last_transition.is_set() ? std::max(check.last_transition, x.since) : x.since;
        all[text(check.name)].add(x, since, may_name(w));
        if (since.is_set() && now_ - since >= check_hangs_after) hanging[text(check.name)].add(x, since, may_name(w));
      }
    }
    for (const auto& [name, group] : all) {
      const auto is_it = [&sought = name](const auto& c) { return c.first.text() == sought; };
      const auto config = std::find_if(catalog_.checks.begin(), catalog_.checks.end(), is_it);
      const bool works = config != catalog_.checks.end() && config->second->active;
      const auto it = hanging.find(name);
      if (works && it == hanging.end()) continue;
      const WaitingGroup& told = works ? it->second : group;
      Attention item{
          .kind = AttentionKind::check_hangs, .objects = {{"AdmissionCheck", {}, name}}, .since = told.since, .workloads = told.workloads};
      const std::string who = counted(told.workloads, "workload") + (told.workloads == 1 ? " holds" : " hold") + " quota and " +
                              (told.workloads == 1 ? "waits" : "wait") + " for it";
      item.sentence = "Admission check " + name +
                      (config == catalog_.checks.end() ? " is not there: "
                       : !config->second->active       ? " is not active: "
                                                       : " takes long: ") +
                      who + ", the first for " + age(told.since, now_);
      add_example(item, told);
      out_.push_back(std::move(item));
    }
  }

  void repeated_preemptions() {
    const auto& counts = state_.domain().repeated_preemptions().counts();
    const auto count_of = [&](const std::string& preemptor, const std::string& victim) -> const admission::RepeatedPreemptions::Count* {
      const auto it = counts.find(preemptor);
      if (it == counts.end()) return nullptr;
      const auto found = std::find_if(it->second.begin(), it->second.end(), [&](const auto& c) { return c.victim == victim; });
      return found == it->second.end() ? nullptr : &*found;
    };
    for (const auto& [preemptor, victims] : counts) {
      const WorkloadAt by = find_by_uid(state_, preemptor);
      for (const auto& count : victims) {
        const auto* back = count_of(count.victim, preemptor);
        if (back == nullptr && count.in_a_row < 2 && !count.left_alone) continue;
        if (back != nullptr && count.victim < preemptor) continue;  // the pair is told once
        const WorkloadAt victim = find_by_uid(state_, count.victim);
        if (by.workload == nullptr || victim.workload == nullptr || !may_name(*by.workload) || !may_name(*victim.workload)) {
          ++left_out;
          continue;
        }
        Attention item{.kind = AttentionKind::mutual_preemption, .workloads = 2};
        const std::string a = name_of_workload(*by.workload), b = name_of_workload(*victim.workload);
        item.sentence = back != nullptr ? "Workloads " + a + " and " + b + " preempt each other: " + a + " has preempted " +
                                              preempted_how_often(state_, count) + ", and " + b + " " + preempted_how_often(state_, *back)
                                        : "Workload " + a + " has preempted " + preempted_how_often(state_, count) + ", which came back";
        if (count.left_alone || (back != nullptr && back->left_alone))
          item.sentence += "; now it is left alone until something else changes";
        item.objects = {object_of_workload(*by.workload), object_of_workload(*victim.workload)};
        out_.push_back(std::move(item));
      }
    }
  }

  /// Seconds that each waited who got quota at its first try, by ClusterQueue.
  [[nodiscard]] std::unordered_map<Symbol, std::vector<std::int64_t>> waits_on_record() const {
    std::unordered_map<Symbol, std::vector<std::int64_t>> out;
    for (std::uint32_t i = 0; i < state_.domain().parent_count(); ++i) {
      const auto* parent = state_.parent(i);
      if (parent == nullptr) continue;
      for (const auto& w : parent->workloads()) {
        const auto* reserved = w.find(ConditionType::quota_reserved);
        if (reserved == nullptr || !reserved->is_true() || w.is_made_as_option() || w.family || !w.evictions.empty()) continue;
        if (!w.created.is_set() || reserved->last_transition < w.created) continue;
        const Symbol queue = w.admission ? w.admission->cluster_queue : queue_of(state_, w);
        if (!queue.empty()) out[queue].push_back((reserved->last_transition - w.created).micros / 1'000'000);
      }
    }
    return out;
  }

  void long_waits() {
    struct Limit {
      std::int64_t seconds = 0;
      std::size_t waits = 0;
    };
    std::unordered_map<Symbol, Limit> limits;
    for (auto& [queue, waits] : waits_on_record()) {
      if (waits.size() < waits_on_record_min) continue;
      std::vector<std::int64_t> sorted = waits;
      std::sort(sorted.begin(), sorted.end());
      limits.emplace(queue, Limit{*percentile(sorted, 95), sorted.size()});
    }
    std::map<Symbol, WaitingGroup, ByText> groups;
    for (const auto& x : waiters_.all) {
      const auto limit = limits.find(x.queue);
      if (x.phase != Phase::pending || !x.since.is_set() || limit == limits.end()) continue;
      const Duration waited = now_ - x.since;
      if (waited > Duration::seconds(limit->second.seconds) && waited >= long_wait_min)
        groups[x.queue].add(x, x.since, may_name(*x.at.workload));
    }
    for (const auto& [queue, group] : groups) {
      const Limit& limit = limits.at(queue);
      Attention item{.kind = AttentionKind::long_wait,
                     .objects = {{"ClusterQueue", {}, text(queue)}},
                     .since = group.since,
                     .workloads = group.workloads};
      item.sentence = counted(group.workloads, "workload") + " of ClusterQueue " + text(queue) + (group.workloads == 1 ? " has" : " have") +
                      " waited longer than " + duration_words(limit.seconds) + ", which was enough for 95 % of the " +
                      std::to_string(limit.waits) + " that got quota there; the first for " + age(group.since, now_);
      if (group.example != nullptr)
        item.sentence +=
            ": " + name_of_workload(*group.example->at.workload) + " " + wait_sentence(waiters_.reasons[group.example->reason]);
      add_example(item, group);
      out_.push_back(std::move(item));
    }
  }

  void set_aside() {
    for (const auto& object : quarantined_objects(state_)) {
      if (!object.namespace_.empty() && !shown_(Symbol(object.namespace_))) {
        ++left_out;
        continue;
      }
      out_.push_back({.kind = AttentionKind::set_aside,
                      .sentence = object.kind + " " + full_name(object.namespace_, object.name) + " was set aside: " + object.reason,
                      .objects = {{object.kind, object.namespace_, object.name}},
                      .since = object.since});
    }
  }

  const StateView& state_;
  const Catalog& catalog_;
  const Waiters& waiters_;
  const Shown& shown_;
  Time now_;
  std::unordered_map<std::uint32_t, bool> named_;  ///< Whether objects of a namespace may be named, by its number.
  std::unordered_map<Symbol, TreeTop> cohorts_at_top_, queues_alone_;
  std::vector<Attention> out_;
};

}  // namespace

std::string_view name_of(Attention::Kind kind) {
  switch (kind) {
    case AttentionKind::queue_cannot_admit:
      return "queueCannotAdmit";
    case AttentionKind::never_fits:
      return "neverFits";
    case AttentionKind::unused_quota:
      return "unusedQuota";
    case AttentionKind::check_hangs:
      return "checkHangs";
    case AttentionKind::mutual_preemption:
      return "mutualPreemption";
    case AttentionKind::long_wait:
      return "longWait";
    case AttentionKind::set_aside:
      return "setAside";
  }
  return "";
}

std::vector<Attention> attention_of(const StateView& state, const Waiters& waiters, const Shown& shown, std::size_t& left_out) {
  AttentionSearch search(state, waiters, shown);
  auto out = search.search();
  left_out = search.left_out;
  return out;
}

}  // namespace hindsight::projections
