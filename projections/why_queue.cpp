#include "projections/why_queue.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::projections {
namespace {

using admission::Catalog;
using admission::QueueConfig;
using events::api_name;
using TargetKind = QueueTarget::Kind;

constexpr std::size_t queues_max = 10;  // of those who use a pair

/// The kind that a prefix means; nothing: it is none of these.
std::optional<TargetKind> queue_kind(std::string_view prefix) {
  static constexpr std::array<std::pair<std::string_view, TargetKind>, 13> names{
      {{"clusterqueue", TargetKind::cluster_queue},
       {"clusterqueues", TargetKind::cluster_queue},
       {"cq", TargetKind::cluster_queue},
       {"clusterqueue.kueue.x-k8s.io", TargetKind::cluster_queue},
       {"cohort", TargetKind::cohort},
       {"cohorts", TargetKind::cohort},
       {"cohort.kueue.x-k8s.io", TargetKind::cohort},
       {"localqueue", TargetKind::local_queue},
       {"localqueues", TargetKind::local_queue},
       {"lq", TargetKind::local_queue},
       {"queue", TargetKind::local_queue},
       {"queues", TargetKind::local_queue},
       {"localqueue.kueue.x-k8s.io", TargetKind::local_queue}}};
  const std::string word = lower(prefix);
  for (const auto& [name, kind] : names)
    if (name == word) return kind;
  return std::nullopt;
}

std::string pair_name(const Symbol& flavor, const Symbol& resource) { return text(flavor) + "/" + text(resource); }

/// Does every pod set find a flavor that has all that it asks for, in each group of resources?
bool fits_by_quota(const std::vector<FlavorTrial>& trials) {
  using Verdict = FlavorTrial::Verdict;
  std::map<std::pair<std::string, std::string>, bool> whole;  // by pod set and flavor: all that is asked of it fits
  std::map<std::pair<std::string, std::string>, bool> found;  // by pod set and resource
  for (const auto& t : trials) {
    const bool fits = t.verdict == Verdict::fits || t.verdict == Verdict::fits_borrowing;
    const auto [it, fresh] = whole.try_emplace({t.pod_set, text(t.flavor)}, fits);
    if (!fresh) it->second = it->second && fits;
  }
  for (const auto& t : trials) {
    bool& known = found[{t.pod_set, text(t.resource)}];
    known = known || whole.at({t.pod_set, text(t.flavor)});
  }
  return std::all_of(found.begin(), found.end(), [](const auto& entry) { return entry.second; });
}

/// Builds the explanation of one queue or cohort piece by piece.
class QueueExplanation {
 public:
  QueueExplanation(const StateView& state, const QueueTarget& target)
      : state_(state), catalog_(*state.domain().catalog()), target_(target) {
    out_.object = target.text();
    out_.now = state.now();
  }

  Result<QueueWhy> make() {
    switch (target_.kind) {
      case TargetKind::cluster_queue:
        return cluster_queue();
      case TargetKind::cohort:
        return cohort();
      case TargetKind::local_queue:
        return local_queue();
    }
    return std::move(out_);
  }

 private:
  void fact(std::string line) { out_.facts.push_back(std::move(line)); }

  tl::unexpected<Error> not_found(const std::vector<std::string>& names) const {
    return fail(ErrorKind::not_found, target_.text() + " not found" + did_you_mean(target_.name, names));
  }

  // ---- kinds ----------------------------------------------------------------------------------------------------------------------

  Result<QueueWhy> cluster_queue() {
    const QueueConfig* config = nullptr;
    std::vector<std::string> names;
    for (const auto& [name, q] : catalog_.queues) {
      names.push_back(text(name));
      if (name.text() == target_.name) config = q.get();
    }
    if (config == nullptr) return not_found(names);
    if (!config->cohort.empty()) out_.place = "in cohort " + text(config->cohort);
    keep_waiters([&](const Waiter& x) { return x.queue == config->name; });
    quota(*config);
    activity(*config);
    local_queues_of(*config);
    look_at_head(*config, nullptr);
    order(*config);
    scarce_of_queue(*config);
    headline(*config);
    return std::move(out_);
  }

  Result<QueueWhy> local_queue() {
    const admission::LocalQueueConfig* lq = nullptr;
    std::vector<std::string> names;
    for (const auto& [key, q] : catalog_.local_queues) {
      if (q.namespace_.text() == target_.namespace_) names.push_back(text(q.name));
      if (q.namespace_.text() == target_.namespace_ && q.name.text() == target_.name) lq = &q;
    }
    std::sort(names.begin(), names.end());
    if (lq == nullptr) return not_found(names);
    out_.place = "of ClusterQueue " + text(lq->cluster_queue);
    keep_waiters([&](const Waiter& x) { return x.at.workload->namespace_ == lq->namespace_ && x.at.workload->queue_name == lq->name; });
    const QueueConfig* config = catalog_.queue(lq->cluster_queue);
    if (lq->stop_policy != StopPolicy::none) fact("it is stopped: stopPolicy " + std::string(api_name(lq->stop_policy)));
    if (config == nullptr) {
      std::vector<std::string> others;
      for (const auto& [name, q] : catalog_.queues) others.push_back(text(name));
      fact("there is no ClusterQueue " + text(lq->cluster_queue) + did_you_mean(lq->cluster_queue.text(), others));
      out_.headline = "It admits nothing: there is no ClusterQueue " + text(lq->cluster_queue);
      return std::move(out_);
    }
    quota(*config);
    activity(*config);
    own_use(*lq, *config);
    look_at_head(*config, lq);
    order(*config);
    scarce_of_queue(*config);
    if (lq->stop_policy != StopPolicy::none) {
      out_.active = false;
      out_.headline = "It admits nothing: it is stopped";
    } else {
      headline(*config);
    }
    return std::move(out_);
  }

  Result<QueueWhy> cohort() {
    const auto all = all_cohorts(state_);
    const auto it = std::find_if(all.begin(), all.end(), [&](const Symbol& c) { return c.text() == target_.name; });
    if (it == all.end()) {
      std::vector<std::string> names;
      for (const auto& c : all) names.push_back(text(c));
      return not_found(names);
    }
    const Symbol& name = *it;
    const auto config = catalog_.cohorts.find(name);
    if (config != catalog_.cohorts.end() && !config->second->parent.empty()) out_.place = "in cohort " + text(config->second->parent);
    const auto below = catalog_.below(name);
    std::vector<Symbol> members;
    for (const auto& [queue, q] : catalog_.queues)
      if (std::find(below.begin(), below.end(), q->cohort) != below.end()) members.push_back(queue);
    keep_waiters([&](const Waiter& x) { return std::find(members.begin(), members.end(), x.queue) != members.end(); });
    out_.by_queue = true;
    out_.quota = subtree_of_cohort(state_, name);
    out_.quota_of = out_.object;
    if (config == catalog_.cohorts.end())
      fact("there is no object Cohort " + text(name) + ": its members name it, and it has no quota of its own");
    out_.active = tree_of_cohort(state_, name) != nullptr;
    if (!out_.active && !members.empty())
      fact("no ClusterQueue below it is scheduled: the chain of parents above it ends in a cycle, or its tree is not built");
    std::vector<std::string> stopped;
    for (const auto& queue : members)
      if (const auto a = catalog_.activity.find(queue); a != catalog_.activity.end() && !a->second.active) stopped.push_back(text(queue));
    if (!stopped.empty()) fact("not active: " + counted(stopped.size(), "ClusterQueue") + ", " + first_names(stopped));
    std::vector<std::string> full;
    for (const auto& line : out_.quota) {
      if (line.available > 0 || line.used == 0) continue;
      full.push_back(pair_name(line.flavor, line.resource));
      out_.scarce.push_back(users(line.flavor, line.resource, members, Symbol()));
    }
    const std::size_t pending = count_pending();
    if (members.empty()) {
      out_.headline = "No ClusterQueue belongs to it";
    } else if (full.empty()) {
      out_.headline =
          "None of its quota is used up; " + (pending == 0 ? "nobody waits" : counted(pending, "workload") + wait_for_quota(pending));
    } else {
      out_.headline = "Nothing is available of " + first_names(full) + "; " +
                      (pending == 0 ? "nobody waits" : counted(pending, "workload") + wait_for_quota(pending));
    }
    return std::move(out_);
  }

  // ---- parts ----------------------------------------------------------------------------------------------------------------------

  static std::string wait_for_quota(std::size_t n) { return n == 1 ? " waits" : " wait"; }

  template <class F>
  void keep_waiters(F&& wanted) {
    out_.waiters = waiters_of(state_);
    std::erase_if(out_.waiters.all, [&](const Waiter& x) { return !wanted(x); });
    const auto everyone = [](const Waiter&) { return true; };
    out_.reasons = count_reasons(out_.waiters, everyone, target_.kind == TargetKind::cohort);
  }

  [[nodiscard]] std::size_t count_pending() const {
    return static_cast<std::size_t>(
        std::count_if(out_.waiters.all.begin(), out_.waiters.all.end(), [](const Waiter& x) { return x.phase == Phase::pending; }));
  }

  void quota(const QueueConfig& config) {
    out_.quota = subtree_of_queue(state_, config.name);
    out_.quota_of = "ClusterQueue " + text(config.name);
    if (config.groups.empty()) fact(out_.quota_of + " has no quota at all: spec.resourceGroups is empty");
  }

  void activity(const QueueConfig& config) {
    const auto a = catalog_.activity.find(config.name);
    out_.active = a != catalog_.activity.end() && a->second.active;
    if (out_.active) return;
    inactive_because_ = a == catalog_.activity.end() ? "Unknown" : a->second.reason;
    if (a != catalog_.activity.end())
      fact("ClusterQueue " + text(config.name) + " is not active, " + a->second.reason + ": " + a->second.message);
    if (config.stop_policy != StopPolicy::none)
      fact("stopPolicy of ClusterQueue " + text(config.name) + " is " + std::string(api_name(config.stop_policy)));
    tell_cycle(config.cohort);
  }

  /// The reason of an inactive queue does not say so (base-admission §2.1).
  void tell_cycle(const Symbol& cohort) {
    if (const auto cycle = cohort_cycle(state_, cohort); !cycle.empty()) fact("its cohorts form a cycle: " + joined(cycle, " -> "));
  }

  void local_queues_of(const QueueConfig& config) {
    std::vector<std::string> stopped;
    const auto& keys = catalog_.local_queues_of(config.name);
    for (const auto& [namespace_, name] : keys) {
      const auto* lq = catalog_.local_queue(namespace_, name);
      if (lq != nullptr && lq->stop_policy != StopPolicy::none) stopped.push_back(full_name(namespace_.text(), name.text()));
    }
    std::sort(stopped.begin(), stopped.end());
    if (keys.empty()) fact("no LocalQueue leads to it");
    if (!stopped.empty())
      fact(counted(stopped.size(), "LocalQueue") + " of it " + (stopped.size() == 1 ? "is" : "are") + " stopped: " + first_names(stopped));
  }

  /// What the LocalQueue itself holds.
  void own_use(const admission::LocalQueueConfig& lq, const QueueConfig& config) {
    const auto* queue = state_.queue(config.name);
    if (queue == nullptr) return;
    const auto counters = queue->local_counters(lq.namespace_, lq.name);
    std::vector<std::string> parts;
    for (const auto& cell : counters.cells)
      if (cell.reserved != 0) parts.push_back(pair_name(cell.flavor, cell.resource) + " " + amount_text(cell.reserved, cell.resource));
    std::sort(parts.begin(), parts.end());
    if (parts.empty()) return fact("none of its workloads holds quota");
    const auto holders = static_cast<std::size_t>(std::max(0, counters.reserving));
    fact(counted(holders, "workload") + " of it " + (holders == 1 ? "holds " : "hold ") + joined(parts));
  }

  /// `only`: of this LocalQueue.
  void look_at_head(const QueueConfig& config, const admission::LocalQueueConfig* only) {
    const auto* queue = state_.queue(config.name);
    if (queue == nullptr) return;
    const auto line = waiting_once(state_, *queue);
    const auto backs_off = [&](const admission::WorkloadInfo& w) {
      return w.requeued_false || (w.requeue_at.is_set() && w.requeue_at > state_.domain().now());
    };
    const auto mine = [&](const admission::WorkloadInfo& w) {
      return only == nullptr || (w.namespace_ == only->namespace_ && w.local_queue == only->name);
    };
    auto head = std::find_if(line.begin(), line.end(), [&](const auto& x) { return mine(*x.workload) && !backs_off(*x.workload); });
    if (head == line.end()) head = std::find_if(line.begin(), line.end(), [&](const auto& x) { return mine(*x.workload); });
    if (head == line.end()) return;
    const admission::WorkloadInfo& w = *head->workload;
    QueueHead one;
    one.name = family_name(w);
    one.priority = w.priority;
    one.position = static_cast<std::size_t>(head - line.begin());
    one.parked = head->parked;
    const std::string_view uid = w.option == nullptr ? std::string_view(w.uid) : std::string_view(w.option->family);
    for (const auto& x : out_.waiters.all) {
      if (x.at.workload->uid != uid) continue;
      one.since = x.since;
      one.reason = out_.waiters.reasons[x.reason];
    }
    one.trials = try_flavors(state_, w, config.name);
    const auto uncovered = uncovered_resources(state_, w, config.name);
    one.fits = uncovered.empty() && fits_by_quota(one.trials);
    one.preemption = preemption_facts(state_, w, config.name, one.trials);
    for (const Symbol& r : uncovered)
      fact("its head asks for " + text(r) + ", which no resource group of ClusterQueue " + text(config.name) + " covers");
    if (only != nullptr)
      fact("its first in line, " + one.name + ", stands at position " + std::to_string(one.position) + " of " +
           std::to_string(line.size()) + " in ClusterQueue " + text(config.name));
    out_.head = std::move(one);
  }

  void order(const QueueConfig& config) {
    if (config.strategy != QueueingStrategy::strict_fifo) return;
    std::size_t behind = 0;
    for (const auto& x : out_.waiters.all) behind += out_.waiters.reasons[x.reason].reason == "StrictFIFO" ? 1 : 0;
    std::string line = "ClusterQueue " + text(config.name) + " is StrictFIFO: nothing is tried before its head";
    if (behind > 0) line += "; " + counted(behind, "workload") + wait_for_quota(behind) + " for no other reason than that";
    fact(std::move(line));
  }

  QueueUse use_of(const Symbol& queue, const Symbol& flavor, const Symbol& resource) const {
    QueueUse out{queue, 0, 0, 0, {}};
    for (const auto& line : subtree_of_queue(state_, queue)) {
      if (line.flavor != flavor || line.resource != resource) continue;
      out.used = line.used;
      out.nominal = line.nominal;
      out.borrowed = line.borrowed;
    }
    if (out.used != 0) out.holders = holders_of(state_, {queue}, flavor, resource);
    return out;
  }

  /// Who among `queues` uses a pair. `own`: the one that is asked about; empty: none of them.
  ScarcePair users(const Symbol& flavor, const Symbol& resource, const std::vector<Symbol>& queues, const Symbol& own) const {
    ScarcePair out;
    out.flavor = flavor;
    out.resource = resource;
    for (const auto& queue : queues) {
      QueueUse use = use_of(queue, flavor, resource);
      out.total = add(out.total, use.used);
      if (queue == own)
        out.own = std::move(use);
      else if (use.used != 0)
        out.others.push_back(std::move(use));
    }
    std::sort(out.others.begin(), out.others.end(), [](const QueueUse& a, const QueueUse& b) {
      return std::tuple(-a.borrowed, -a.used, a.queue.text()) < std::tuple(-b.borrowed, -b.used, b.queue.text());
    });
    while (out.others.size() > queues_max) {
      ++out.queues_left_out;
      out.amount_left_out = add(out.amount_left_out, out.others.back().used);
      out.others.pop_back();
    }
    return out;
  }

  /// Pairs that the head lacks; without any, those of which nothing is available.
  void scarce_of_queue(const QueueConfig& config) {
    std::vector<std::pair<Symbol, Symbol>> pairs;
    const auto put = [&](const Symbol& flavor, const Symbol& resource) {
      const std::pair pair(flavor, resource);
      if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
    };
    if (out_.head)
      for (const auto& t : out_.head->trials)
        if (t.missing > 0 && t.verdict != FlavorTrial::Verdict::no_match) put(t.flavor, t.resource);
    if (pairs.empty())
      for (const auto& line : out_.quota)
        if (line.available <= 0 && (line.used > 0 || line.nominal > 0)) put(line.flavor, line.resource);
    const auto tree = queues_of_tree(state_, config.name);
    for (const auto& [flavor, resource] : pairs) {
      ScarcePair pair = users(flavor, resource, tree, config.name);
      if (pair.total == 0) continue;
      whose_it_is(config, pair);
      out_.scarce.push_back(std::move(pair));
    }
  }

  /// Do others hold what would be its own, and may it take that back?
  void whose_it_is(const QueueConfig& config, ScarcePair& pair) {
    if (!pair.own || config.cohort.empty()) return;
    const auto amount = [&](Amount a) { return amount_text(a, pair.resource); };
    const std::string name = pair_name(pair.flavor, pair.resource);
    const Amount unused = std::max<Amount>(0, subtract(pair.own->nominal, pair.own->used));
    for (const auto& line : out_.quota)
      if (line.flavor == pair.flavor && line.resource == pair.resource)
        pair.held_by_others = std::max<Amount>(0, subtract(unused, std::max<Amount>(0, line.available)));
    if (pair.held_by_others == 0) {
      fact(name + ": nobody holds what would be its own by nominal quota; it uses " + amount(pair.own->used) + " of " +
           amount(pair.own->nominal) + ", and what goes beyond that has to be borrowed");
      return;
    }
    std::vector<std::string> borrowers;
    for (const auto& other : pair.others)
      if (other.borrowed > 0) borrowers.push_back(text(other.queue) + " borrows " + amount(other.borrowed));
    std::string line = name + ": it uses " + amount(pair.own->used) + " of its own " + amount(pair.own->nominal) + ", and others hold " +
                       amount(pair.held_by_others) + " of the rest";
    if (!borrowers.empty()) line += " (" + first_names(borrowers) + ")";
    switch (config.reclaim_within_cohort) {
      case PreemptionPolicy::never:
        line += "; reclaimWithinCohort is Never, so it gets that back only when they end";
        break;
      case PreemptionPolicy::any:
        line += "; reclaimWithinCohort is Any, so it may take that back by preemption";
        break;
      case PreemptionPolicy::lower_priority:
      case PreemptionPolicy::lower_or_newer_equal_priority:
        line += "; reclaimWithinCohort is " + std::string(api_name(config.reclaim_within_cohort)) +
                ", so it may take that back by preemption, but not from workloads of higher priority";
        break;
    }
    fact(std::move(line));
  }

  void headline(const QueueConfig& config) {
    const std::size_t pending = count_pending();
    if (!out_.active) {
      out_.headline = "It admits nothing: ClusterQueue " + text(config.name) + " is not active, " + inactive_because_;
      return;
    }
    if (!out_.head) {
      out_.headline =
          pending == 0 ? "Nobody waits in it"
                       : counted(pending, "workload") + wait_for_quota(pending) + ", and none of them may be tried: see the reasons below";
      return;
    }
    const QueueHead& head = *out_.head;
    std::vector<std::string> missing, beyond;
    for (const auto& t : head.trials) {
      if (t.missing == 0 || t.verdict == FlavorTrial::Verdict::no_match) continue;
      const std::string what = amount_text(t.missing, t.resource) + " of " + pair_name(t.flavor, t.resource);
      (t.verdict == FlavorTrial::Verdict::exceeds_maximum ? beyond : missing).push_back(what);
    }
    if (head.fits) {
      out_.headline = "Its head " + head.name + " asks for no more quota than there is" +
                      (head.reason.reason.empty() ? "" : "; it waits: " + text_of(head.reason));
    } else if (!missing.empty()) {
      out_.headline = "Its head " + head.name + " lacks " + first_names(missing);
    } else if (!beyond.empty()) {
      out_.headline = "Its head " + head.name + " asks for more than can ever be had: " + first_names(beyond) + " too much";
    } else {
      out_.headline = "Its head " + head.name + " finds no flavor" + (head.reason.reason.empty() ? "" : ": " + text_of(head.reason));
    }
  }

  const StateView& state_;
  const Catalog& catalog_;
  const QueueTarget& target_;
  std::string inactive_because_;
  QueueWhy out_;
};

}  // namespace

std::string QueueTarget::text() const {
  switch (kind) {
    case TargetKind::cluster_queue:
      return "ClusterQueue " + name;
    case TargetKind::cohort:
      return "Cohort " + name;
    case TargetKind::local_queue:
      return "LocalQueue " + full_name(namespace_, name);
  }
  return name;
}

Result<std::optional<QueueTarget>> parse_queue_target(std::string_view text, std::string_view default_namespace) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::optional<QueueTarget>();
  const auto kind = queue_kind(text.substr(0, slash));
  if (!kind) return std::optional<QueueTarget>();
  std::string_view rest = text.substr(slash + 1);
  QueueTarget out{*kind, {}, {}};
  const bool local = *kind == TargetKind::local_queue;
  if (local) out.namespace_ = default_namespace;
  if (const std::size_t second = rest.find('/'); local && second != std::string_view::npos) {
    out.namespace_ = rest.substr(0, second);
    rest.remove_prefix(second + 1);
  }
  out.name = rest;
  if (out.name.empty() || out.name.find('/') != std::string::npos || (local && out.namespace_.empty()))
    return fail(ErrorKind::invalid, "found \"" + std::string(text) +
                                        "\" for a queue; allowed: clusterqueue/NAME, cohort/NAME, localqueue/NAME, " +
                                        "localqueue/NAMESPACE/NAME");
  return std::optional(std::move(out));
}

Result<QueueWhy> explain_queue(const StateView& state, const QueueTarget& target) { return QueueExplanation(state, target).make(); }

}  // namespace hindsight::projections
