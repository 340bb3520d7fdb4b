#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/domain/loop_driver.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/state/snapshot.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/phase.hpp"
#include "projections/quota_report.hpp"
#include "projections/why.hpp"
#include "tests/projections/copied_domain.hpp"
#include "tests/projections/plain_preemption.hpp"
#include "tests/projections/plain_tree.hpp"
#include "tests/projections/told_figures.hpp"

namespace hindsight::projections {

/// What `-o json` says of a state is held against plain computations (plain_tree.hpp, plain_preemption.hpp) and against plays on copies of
/// the whole domain (copied_domain.hpp). Each check returns what is wrong; empty: nothing is.
class Answers {
 public:
  using Pair = PlainTree::Pair;
  ToldFigures figures;

  /// How much there was to look at.
  struct Looked {
    std::size_t answers = 0;
    std::size_t flavors = 0, enough = 0, comparisons = 0, entitled = 0, spared = 0, must_borrow = 0;
    std::map<std::string, std::size_t> spared_by, reasons, kinds;
    std::size_t victims_played = 0, nobody_played = 0, policies_played = 0, policies_in_vain = 0, policies_untold = 0;
    std::size_t remedies = 0, evicting = 0, priorities_in_vain = 0, resumed_in_vain = 0, reasons_ahead = 0;
  } looked;

  std::string check(const admission::LoopDriver& state) {
    if (++asked_ % 3 == 0) return check_here(state);
    CopiedDomain other(admission::SnapshotCodec::write(state.entities()));
    change(state, other);
    if (auto finding = check_here(other.driver()); !finding.empty()) return "after a change of a queue: " + finding;
    return {};
  }
  /// Else facts alone: what a large state is asked costs many plays.
  bool with_remedies = true;
  /// A seed must find alone what it finds among others.
  void begin_history() { turn_ = asked_ = changes_ = 0; }
  [[nodiscard]] std::string summary() const {
    std::string out;
    const auto add = [&](const std::string& what, std::size_t n) { out += (out.empty() ? "" : ", ") + what + " " + std::to_string(n); };
    using Number = std::pair<const char*, std::size_t>;
    for (const auto& [what, n] :
         {Number{"answers", looked.answers}, Number{"flavors", looked.flavors}, Number{"comparisons", looked.comparisons},
          Number{"victims played", looked.victims_played}, Number{"remedies", looked.remedies}})
      add(what, n);
    for (const auto* map : {&looked.spared_by, &looked.reasons, &looked.kinds})
      for (const auto& [what, n] : *map) add(what, n);
    return out;
  }

 private:
  using Amounts = PlainTree::Amounts;
  using Info = admission::WorkloadInfo;

  static Amount amount(const Json& quantity, const std::string& resource) { return ToldFigures::amount(quantity, resource); }
  static Pair pair_of(const Json& j) { return ToldFigures::pair_of(j); }
  static std::string differs(const std::string& what, Amount told, Amount wanted) { return ToldFigures::differs(what, told, wanted); }

  std::string check_here(const admission::LoopDriver& state) {
    const PlainTree tree(state);
    if (auto finding = figures.check_sums(state, tree); !finding.empty()) return finding;
    if (auto finding = check_answers(state, tree); !finding.empty()) return finding;
    return with_remedies ? check_stopped_local_queues(state) : std::string();
  }

  /// What histories have too seldom: a queue that is stopped before somebody who waits, and policies with all that they can say.
  void change(const admission::LoopDriver& state, CopiedDomain& out) {
    out.gives_back = true;
    const auto& catalog = *state.domain().catalog();
    const std::size_t change = ++changes_;
    if (change % 2 == 0) out.configure("fair");
    std::size_t number = 0;
    if (change % 4 == 2)  // a weight of 0 makes a share infinite
      for (const auto& [name, config] : catalog.queues)
        out.weigh(name, static_cast<std::int64_t>((change / 4 + 3 * ++number) % 4) * 500'000'000);
    std::vector<Symbol> waited_for;
    for (const auto& [name, config] : catalog.queues)
      if (const auto* queue = state.queue(name); queue != nullptr && !queue->waiting().empty()) waited_for.push_back(name);
    for (const Symbol& queue : waited_for) {
      const std::size_t what = (change + queue.text().size() + static_cast<std::size_t>(queue.text().back())) % 5;
      const auto waiting = state.queue(queue)->waiting();
      const auto& first = *waiting.front().workload;
      if (what == 0) {
        out.stop(queue, StopPolicy::hold);
      } else if (what == 1) {
        if (catalog.local_queue(first.namespace_, first.local_queue) != nullptr)
          out.stop_local_queue(first.namespace_, first.local_queue, StopPolicy::hold);
      } else {
        constexpr std::int32_t thresholds[] = {-6, -1, 0, 9, 99};
        Remedy policy{Remedy::Kind::change_policy, "ClusterQueue " + std::string(queue.text()), {}, {}};
        auto& edit = policy.policy.edit;
        edit.within_cluster_queue = what == 2 ? PreemptionPolicy::never : PreemptionPolicy::lower_or_newer_equal_priority;
        edit.reclaim_within_cohort = what == 3 ? PreemptionPolicy::lower_priority : PreemptionPolicy::any;
        edit.borrow_within_cohort = PreemptionPolicy::lower_priority;
        edit.max_priority_threshold = thresholds[change / 5 % 5];
        out.raise(policy, false);
      }
    }
    if (change % 4 == 0) out.live();  // else nothing of it has been decided yet
  }

  // ---- answers to `why` -----------------------------------------------------------------------------------------------------------

  std::string check_answers(const admission::LoopDriver& state, const PlainTree& tree) {
    const auto& catalog = *state.domain().catalog();
    std::vector<std::byte> snapshot;
    for (const auto& [name, config] : catalog.queues) {
      const auto* queue = state.queue(name);
      const bool stopped = config->stop_policy != StopPolicy::none;
      if (queue == nullptr || (!catalog.queue_active(name) && !stopped)) continue;
      std::vector<const Info*> all;
      const auto waiting = queue->waiting();
      for (const auto& w : waiting) {
        const auto& info = *w.workload;
        const bool gate_open = !info.requeued_false && (!info.requeue_at.is_set() || info.requeue_at <= state.domain().now());
        const auto* lq = catalog.local_queue(info.namespace_, info.local_queue);
        if (gate_open && !info.failed_checks && catalog.namespace_matches(*config, info.namespace_) && lq != nullptr &&
            lq->stop_policy == StopPolicy::none)
          all.push_back(&info);
      }
      if (all.empty()) continue;
      const Info& w = *all[turn_++ % all.size()];
      if (snapshot.empty()) snapshot = admission::SnapshotCodec::write(state.entities());
      if (auto finding = check_answer(state, tree, snapshot, w, name, stopped); !finding.empty())
        return "Workload " + std::string(w.uid.text()) + " in ClusterQueue " + std::string(name.text()) + ": " + finding;
    }
    return {};
  }

  [[nodiscard]] Json ask(const admission::LoopDriver& state, const WorkloadAt& at) const {
    Stage stage = Stage::of_tree(state, at);
    stage.read_settings = read_settings_of_tests;
    const Trail trail(Target{"Workload", std::string(at.workload->namespace_.text()), std::string(std::string_view(at.workload->name))});
    return to_json(with_remedies ? explain(state, at, trail, &stage) : explain_facts(state, at, trail));
  }

  std::string check_answer(const admission::LoopDriver& state, const PlainTree& tree, std::span<const std::byte> snapshot, const Info& w,
                           Symbol queue, bool stopped) {
    const Json told = ask(state, find_by_uid(state, w.uid.text()));
    const std::string key = "ClusterQueue " + std::string(queue.text());
    ++looked.answers;
    if (tree.nodes.contains(key)) {
      for (auto& finding : {figures.check_quota(told["quota"], tree, w, key), figures.check_users(told["users"], tree, key)})
        if (!finding.empty()) return finding;
      if (!stopped) {
        if (auto finding = check_preemption(state, told, tree, w, key); !finding.empty())
          return finding + "\n" + told["preemption"].dump(1);
      }
    }
    if (!stopped) {
      if (auto finding =
              !tree.nodes.contains(key) ? std::string() : check_victims(state, snapshot, told["preemption"]["victims"], tree, w, key);
          !finding.empty())
        return finding + "\n" + told["preemption"].dump(1);
      if (turn_ % 2 == 0 && with_remedies)
        if (auto finding = check_policies(state, snapshot, told, tree, w, queue); !finding.empty())
          return finding + "\n" + told["preemption"].dump(1) + told["remedies"].dump(1);
    }
    return with_remedies ? check_remedies(state, snapshot, told, w, queue) : std::string();
  }

  // ---- preemption, computed -------------------------------------------------------------------------------------------------------

  std::string check_preemption(const admission::LoopDriver& state, const Json& answer, const PlainTree& tree, const Info& w,
                               const std::string& queue) {
    struct Asked {
      Amounts requests;
      std::set<Pair> need;
      bool never = false;
    };
    std::map<std::string, Asked> asked;
    for (const auto& line : answer["quota"]) {
      if (line["verdict"] == "noMatch") continue;
      const Pair p = pair_of(line);
      const Amount wanted = amount(line["requested"], p.second) + amount(line.value("earlierPodSets", Json("0")), p.second);
      Asked& flavor = asked[p.first];
      flavor.never = flavor.never || wanted > tree.potential(queue, p);
      if (wanted <= 0) continue;
      flavor.requests[p] = std::max(flavor.requests[p], wanted);
      if (wanted > tree.offered(queue, p)) flavor.need.insert(p);
    }
    std::erase_if(asked, [](const auto& one) { return one.second.never || one.second.need.empty(); });
    const Json& told = answer["preemption"]["flavors"];
    if (told.size() != asked.size())
      return "preemption is explained for " + std::to_string(told.size()) + " flavors, not all that are short";
    for (const auto& f : told) {
      const auto it = asked.find(f["flavor"].get<std::string>());
      if (it == asked.end()) return "in this flavor nothing is short: " + f.dump();
      PlainPreemption plain(state, tree, w, queue, it->second.requests, it->second.need);
      plain.run();
      if (auto finding = compare(f, plain, tree, it->second.requests, queue); !finding.empty())
        return "flavor " + it->first + ": " + finding;
    }
    return {};
  }

  std::string compare(const Json& told, const PlainPreemption& plain, const PlainTree& tree, const Amounts& requests,
                      const std::string& queue) {
    ++looked.flavors;
    looked.enough += plain.targets.empty() ? 0 : 1;
    looked.must_borrow += plain.must_borrow ? 1 : 0;
    if (told["enough"] != !plain.targets.empty()) return "whether they are enough";
    const std::string flavor = told["flavor"];
    // Who is spared, by reason; all others may be preempted.
    struct Group {
      std::size_t workloads = 0;
      std::map<std::string, Amount> held;  // by resource
      std::int64_t lowest = 0, highest = 0;
      std::set<std::string> where;
    };
    std::map<std::string, Group> spared;
    Group may;
    for (const auto& h : tree.held) {
      const auto it = plain.why.find(h.uid);
      const bool is_taken =
          std::find_if(plain.taken.begin(), plain.taken.end(), [&](const auto* t) { return t->uid == h.uid; }) != plain.taken.end();
      if (it == plain.why.end() && !is_taken) continue;
      const auto add_to = [&](Group& g) {
        g.lowest = g.workloads == 0 ? h.priority : std::min(g.lowest, h.priority);
        g.highest = g.workloads == 0 ? h.priority : std::max(g.highest, h.priority);
        ++g.workloads;
        for (const auto& need : told["needs"]) {
          const std::string resource = need["resource"];
          const auto amount = h.amounts.find({flavor, resource});
          g.held[resource] += amount == h.amounts.end() ? 0 : amount->second;
        }
        const auto limit = plain.within.find(h.uid);
        g.where.insert(limit == plain.within.end() ? h.queue : limit->second);
      };
      if (it != plain.why.end()) add_to(spared[it->second]);
      if (is_taken || it->second == "notNeeded") add_to(may);
    }
    if (told["candidates"] != may.workloads)
      return "of whom " + std::to_string(may.workloads) + " may be preempted, not " + told["candidates"].dump();
    for (const auto& need : told["needs"]) {
      const std::string resource = need["resource"];
      const Pair p{flavor, resource};
      for (auto& f : {differs("what has to come free", amount(need["needed"], resource), requests.at(p) - tree.available(queue, p)),
                      differs("what they hold", amount(need["held"], resource), may.held[resource]),
                      differs("what would come free", amount(need["freed"], resource), plain.freed.at(p))})
        if (!f.empty()) return resource + ": " + f;
    }
    if (told["spared"].size() != spared.size()) return "there are " + std::to_string(spared.size()) + " reasons to spare somebody";
    for (const auto& g : told["spared"]) {
      const auto it = spared.find(g["by"].get<std::string>());
      if (it == spared.end()) return "nobody is spared by " + g["by"].dump();
      const Group& group = it->second;
      if (g["workloads"] != group.workloads || g["lowestPriority"] != group.lowest || g["highestPriority"] != group.highest)
        return it->first + ": " + std::to_string(group.workloads) + " are, with priorities " + std::to_string(group.lowest) + " to " +
               std::to_string(group.highest);
      for (const auto& [resource, held] : group.held)
        if (auto f = differs(it->first + ": what they hold of " + resource, amount(g["held"][resource], resource), held); !f.empty())
          return f;
      const auto where = g["where"].get<std::vector<std::string>>();
      if (where.size() != group.where.size() || std::set<std::string>(where.begin(), where.end()) != group.where)
        return it->first + ": they are elsewhere: " + g["where"].dump();
      ++looked.spared;
      ++looked.spared_by[it->first];
    }
    if (told.value("withinNominalQuota", false) != plain.entitled) return "whether shares are compared";
    looked.entitled += plain.entitled ? 1 : 0;
    if (told["shares"].size() != plain.comparisons.size())
      return std::to_string(plain.comparisons.size()) + " comparisons of shares, not " + std::to_string(told["shares"].size());
    for (std::size_t i = 0; i < plain.comparisons.size(); ++i) {
      const auto& c = plain.comparisons[i];
      Json wanted{
          {"strategy", c.strategy},   {"clusterQueue", c.queue.substr(c.queue.find(' ') + 1)},
          {"workload", c.candidate},  {"workloads", c.workloads},
          {"preemptor", c.preemptor}, {"preemptorShare", {{"before", c.preemptor_before.shown()}, {"after", c.preemptor_after.shown()}}},
          {"other", c.other},         {"otherShare", {{"before", c.other_before.shown()}}},
          {"allowed", c.allowed}};
      if (c.other_after) wanted["otherShare"]["after"] = c.other_after->shown();
      if (told["shares"][i] != wanted) return "it compares\n  " + wanted.dump() + "\nand not\n  " + told["shares"][i].dump();
      ++looked.comparisons;
    }
    return {};
  }

  // ---- preemption, played ---------------------------------------------------------------------------------------------------------

  struct Alone {
    bool starts = false;
    std::set<std::pair<std::string, std::string>> preempted;  ///< Whom it preempts, and why.
  };
  /// Without anybody else who waits, with a change of its queue. Nothing: something else happened meanwhile.
  static std::optional<Alone> play_alone(const admission::LoopDriver& state, std::span<const std::byte> snapshot, const Info& w,
                                         Symbol queue, const PolicyEdit& edit) {
    // What is done here is news, after which nobody is left alone any more.
    if (!state.domain().repeated_preemptions().left_alone_by(w.uid).empty()) return std::nullopt;
    CopiedDomain copy(snapshot);
    for (const auto& [name, config] : state.domain().catalog()->queues)
      if (const auto* holder = state.queue(name))
        for (const auto& other : holder->waiting())
          if (other.workload->uid != w.uid) copy.remove(other.workload->uid);
    Remedy change{Remedy::Kind::change_policy, "ClusterQueue " + std::string(queue.text()), {}, {}};
    change.policy.edit = edit;
    Alone out;
    const bool fair = state.domain().catalog()->settings.fair_sharing;
    for (const bool again : {false, true}) {  // it may be tried at the second change only (D12), or by then with another flavor
      if (again && fair) break;               // the second change is one of its weight, which would matter
      copy.raise(change, again);
      copy.decide();
      for (const auto& p : copy.preempted) {
        if (p.preemptor_uid != w.uid) return std::nullopt;
        out.preempted.emplace(p.name, p.reason);
      }
      out.starts = copy.reserved(w.uid);
      if (out.starts || !out.preempted.empty()) return out;
      if (!copy.evicted.empty() || copy.others_left) return std::nullopt;
      copy.settle();
      if (!PlainTree(state).same_order_of_usage(PlainTree(copy.driver()))) return std::nullopt;
      for (const auto& p : copy.preempted)
        if (p.preemptor_uid == w.uid) out.preempted.emplace(p.name, p.reason);
      out.starts = copy.reserved(w.uid);
      if (copy.evicted.size() != copy.preempted.size() || copy.others_left || out.preempted.size() != copy.preempted.size())
        if (copy.evicted.size() != 2 * copy.preempted.size() || copy.others_left) return std::nullopt;
      if (out.starts || !out.preempted.empty()) return out;
    }
    return out;
  }

  std::string check_victims(const admission::LoopDriver& state, std::span<const std::byte> snapshot, const Json& told,
                            const PlainTree& tree, const Info& w, const std::string& queue) {
    const auto played = play_alone(state, snapshot, w, Symbol(std::string_view(queue).substr(queue.find(' ') + 1)), {});
    if (!played) return {};
    std::set<std::string> already;
    for (const auto& h : tree.held)
      if (h.evicted) already.insert(h.name);
    std::set<std::pair<std::string, std::string>> promised;
    for (const auto& v : told)
      if (v["needed"].get<bool>() && !already.contains(v["workload"].get<std::string>()))
        promised.emplace(v["workload"].get<std::string>(), v["reason"].get<std::string>());
    if (promised != played->preempted) {
      std::string out = "whom it preempts is somebody else; promised:";
      for (const auto& [name, reason] : promised) out += " " + name + " (" + reason + ")";
      out += "; played:";
      for (const auto& [name, reason] : played->preempted) out += " " + name + " (" + reason + ")";
      return out;
    }
    ++(promised.empty() ? looked.nobody_played : looked.victims_played);
    for (const auto& [name, reason] : promised) ++looked.reasons[reason];
    for (std::size_t i = 0; i < told.size(); ++i)
      if (auto finding = check_victim(told[i], tree, queue, state.domain().catalog()->settings.fair_sharing); !finding.empty())
        return finding;
    return {};
  }

  static bool would_go_first(const PlainTree::Held& a, const PlainTree::Held& b) {
    if (a.evicted != b.evicted) return a.evicted;
    if (PlainTree::used_more(a, b) || PlainTree::used_more(b, a)) return PlainTree::used_more(a, b);
    if (a.priority != b.priority) return a.priority < b.priority;
    if (a.reserved_at != b.reserved_at) return !a.reserved_at.is_set() || (b.reserved_at.is_set() && a.reserved_at > b.reserved_at);
    return a.uid < b.uid;
  }
  std::string check_victim(const Json& v, const PlainTree& tree, const std::string& queue, bool fair) {
    const auto find = [&](const std::string& name) {
      return std::find_if(tree.held.begin(), tree.held.end(), [&](const auto& h) { return h.name == name; });
    };
    const auto a = find(v["workload"].get<std::string>());
    if (a == tree.held.end()) return "a victim holds nothing: " + v.dump();
    if ("ClusterQueue " + v["clusterQueue"].get<std::string>() != a->queue || v["priority"] != a->priority)
      return "a victim is another one: " + v.dump();
    for (const auto& held : v["amounts"]) {
      const auto it = a->amounts.find(pair_of(held));
      if (it == a->amounts.end() || it->second != amount(held["amount"], pair_of(held).second)) return "it does not hold that: " + v.dump();
    }
    if (!v.contains("before")) return {};
    const auto b = find(v["before"]["workload"].get<std::string>());
    if (b == tree.held.end()) return "the next one holds nothing: " + v.dump();
    const std::string because = v["before"]["because"];
    const bool right = because == "it is evicted already"   ? a->evicted && !b->evicted
                       : because == "its priority is lower" ? a->priority < b->priority
                       : because == "it got its quota later"
                           ? a->priority == b->priority && a->reserved_at != b->reserved_at &&
                                 (!a->reserved_at.is_set() || (b->reserved_at.is_set() && a->reserved_at > b->reserved_at))
                       : because == "its uid comes first"
                           ? a->priority == b->priority && a->reserved_at == b->reserved_at && a->uid < b->uid
                       : because == "other ClusterQueues come before the preemptor's own" ? a->queue != queue && b->queue == queue
                       : because == "its ClusterQueue has the larger share"         ? tree.share(a->queue).compare(tree.share(b->queue)) > 0
                       : because == "the shares were such when its turn came"       ? a->queue != b->queue
                       : because == "its LocalQueue has used more"                  ? a->queue == b->queue && PlainTree::used_more(*a, *b)
                       : because == "its quota can be taken back without borrowing" ? a->queue != queue && a->queue != b->queue
                       : because == "the first strategy spares the next one"        ? fair && a->queue == b->queue && would_go_first(*b, *a)
                                                                                    : false;
    ++looked.reasons_ahead;
    return right ? std::string() : "that is not why it goes before the next one: " + v.dump();
  }

  // ---- policies -------------------------------------------------------------------------------------------------------------------
  struct Setting {
    std::string name;
    std::vector<PolicyEdit> looser;  ///< Weaker ones first.
  };
  static std::string value_of(const PolicyEdit& e) {
    for (const auto* policy : {&e.within_cluster_queue, &e.reclaim_within_cohort, &e.borrow_within_cohort})
      if (*policy) return std::string(events::api_name(**policy));
    return std::to_string(e.max_priority_threshold.value_or(0));
  }
  /// What the API server accepts, of one setting alone.
  static std::vector<Setting> settings_of(const admission::QueueConfig& q, const Info& w, bool fair) {
    std::vector<Setting> out(1, {"withinClusterQueue", {}});
    for (const auto p : {PreemptionPolicy::lower_priority, PreemptionPolicy::lower_or_newer_equal_priority})
      if (p > q.within_cluster_queue) out[0].looser.push_back({.within_cluster_queue = p});
    if (q.cohort.empty()) return out;
    out.push_back({"reclaimWithinCohort", {}});
    for (const auto p : {PreemptionPolicy::lower_priority, PreemptionPolicy::any})
      if (p > q.reclaim_within_cohort) out.back().looser.push_back({.reclaim_within_cohort = p});
    if (fair || q.reclaim_within_cohort == PreemptionPolicy::never) return out;
    if (q.borrow_within_cohort == PreemptionPolicy::never) {
      out.push_back({"borrowWithinCohort.policy", {{.borrow_within_cohort = PreemptionPolicy::lower_priority}}});
    } else if (q.max_priority_threshold && *q.max_priority_threshold < w.priority - 1) {
      PolicyEdit edit;
      edit.max_priority_threshold = static_cast<std::int32_t>(w.priority - 1);
      out.push_back({"borrowWithinCohort.maxPriorityThreshold", {edit}});
    }
    return out;
  }

  /// The weakest change of each setting by which it preempts somebody, and no other, is promised where it lets the Workload in.
  std::string check_policies(const admission::LoopDriver& state, std::span<const std::byte> snapshot, const Json& told,
                             const PlainTree& tree, const Info& w, Symbol queue) {
    const std::string key = "ClusterQueue " + std::string(queue.text());
    const bool any_evicted = std::any_of(tree.held.begin(), tree.held.end(), [](const auto& h) { return h.evicted; });
    const bool given_up = std::any_of(told["facts"].begin(), told["facts"].end(),
                                      [](const Json& f) { return f.get<std::string>().starts_with("not every change was played"); });
    if (any_evicted || given_up || !tree.nodes.contains(key)) return {};
    const auto as_it_is = play_alone(state, snapshot, w, queue, {});
    if (!as_it_is || as_it_is->starts || !as_it_is->preempted.empty()) return {};
    std::map<std::string, std::string> promised;  // of one setting alone: its value
    std::vector<Json> together;
    for (const auto& r : told["remedies"]) {
      if (r["kind"] != "changePreemptionPolicy") continue;
      if (r["settings"].size() == 1)
        promised[r["settings"][0]["setting"].get<std::string>()] = r["settings"][0]["to"].get<std::string>();
      else
        together.push_back(r["settings"]);
    }
    const auto& config = *state.domain().catalog()->queue(queue);
    const auto settings = settings_of(config, w, state.domain().catalog()->settings.fair_sharing);
    bool any_alone = false;
    for (const auto& s : settings) {
      const auto it = promised.find(s.name);
      std::optional<PolicyEdit> weakest;
      for (const auto& edit : s.looser) {
        const auto played = play_alone(state, snapshot, w, queue, edit);
        if (!played) return {};
        if (!played->preempted.empty()) {
          weakest = edit;
          break;
        }
        ++looked.policies_in_vain;
      }
      any_alone = any_alone || weakest;
      if (it != promised.end()) {
        if (!weakest) return "with " + s.name + " " + it->second + " it preempts nobody";
        if (value_of(*weakest) != it->second) return "already with " + s.name + " " + value_of(*weakest) + " it preempts somebody";
        ++looked.policies_played;
        continue;
      }
      if (!weakest) continue;
      Remedy untold{Remedy::Kind::change_policy, key, {}, {}};
      untold.policy.edit = *weakest;
      if (play_among_all(state, snapshot, w, untold).starts)
        return "with " + s.name + " " + value_of(*weakest) + " it would be admitted, and nobody says so";
      ++looked.policies_untold;
    }
    if (any_alone && !together.empty()) return "one setting is enough, and several are told: " + together.front().dump();
    return {};
  }

  // ---- remedies, played among all -------------------------------------------------------------------------------------------------

  struct Among {
    bool starts = false;
    std::size_t times = 0;  ///< That it was given quota.
    std::set<std::string> before, after, evicted;
  };
  static Among play_among_all(const admission::LoopDriver& state, std::span<const std::byte> snapshot, const Info& w, const Remedy& r) {
    CopiedDomain copy(snapshot);
    copy.gives_back = true;
    make(state, w, r, copy);
    copy.live();
    return outcome(copy, w.uid.text());
  }
  static Among outcome(const CopiedDomain& copy, std::string_view uid) {
    Among out;
    for (const auto& g : copy.given) {
      if (g.uid == uid)
        ++out.times;
      else
        (out.times > 0 ? out.after : out.before).insert(g.name);
    }
    out.starts = copy.reserved(uid);
    out.evicted = {copy.evicted.begin(), copy.evicted.end()};
    return out;
  }
  static void make(const admission::LoopDriver& state, const Info& w, const Remedy& r, CopiedDomain& copy) {
    using enum Remedy::Kind;
    for (const auto& h : r.ending)
      if (const auto parent = state.domain().find_parent(h.uid)) copy.end(*state.parent(*parent));
    if ((!r.steps.empty() && r.kind != free) || r.kind == change_policy || r.kind == change_strategy || r.kind == resume)
      copy.raise(r, false);
    if (r.ask.count || r.ask.min_count || r.ask.priority) copy.ask(w.uid.text(), r.ask);
  }

  /// The change that an answer tells of; nothing: it is of a kind that these histories do not have.
  static std::optional<Remedy> read(const admission::LoopDriver& state, const Json& j) {
    using enum Remedy::Kind;
    static const std::map<std::string, Remedy::Kind> kinds{{"fitsNow", fits_now},
                                                           {"free", free},
                                                           {"raiseNominalQuota", raise_nominal},
                                                           {"raiseBorrowingLimit", raise_borrowing_limit},
                                                           {"raiseCohortNominalQuota", raise_cohort},
                                                           {"fewerPods", fewer_pods},
                                                           {"resume", resume},
                                                           {"leave", leave},
                                                           {"changePreemptionPolicy", change_policy},
                                                           {"changeQueueingStrategy", change_strategy},
                                                           {"minCount", min_count},
                                                           {"priority", priority}};
    const auto kind = kinds.find(j["kind"].get<std::string>());
    if (kind == kinds.end()) return std::nullopt;
    Remedy out{kind->second, j.value("object", std::string()), {}, {}};
    for (const auto& s : j.value("steps", Json::array())) {
      const auto [flavor, resource] = pair_of(s);
      Remedy::Step step{Symbol(flavor), Symbol(resource), amount(s["amount"], resource)};
      if (s.contains("to")) step.to = amount(s["to"], resource);
      out.steps.push_back(step);
    }
    for (const auto& e : j.value("ending", Json::array()))
      for (const auto& at : all_workloads(state))
        if (full_name(at.workload->namespace_.text(), std::string_view(at.workload->name)) == e["workload"].get<std::string>()) {
          Holder h;
          h.uid = at.workload->uid.text();
          out.ending.push_back(std::move(h));
        }
    if (out.ending.size() != j.value("ending", Json::array()).size()) return std::nullopt;
    const auto number = [&](const char* field) { return static_cast<std::int32_t>(std::stol(j[field].get<std::string>())); };
    if (out.kind == fewer_pods || out.kind == min_count || out.kind == priority) out.ask.pod_set = j.value("podSet", std::string());
    if (out.kind == fewer_pods) out.ask.count = number("to");
    if (out.kind == min_count) out.ask.min_count = number("to");
    if (out.kind == priority) out.ask.priority = number("to");
    for (const auto& s : j.value("settings", Json::array())) {
      const std::string name = s["setting"], to = s["to"];
      const auto policy = [&] {
        for (const auto p : {PreemptionPolicy::never, PreemptionPolicy::lower_priority, PreemptionPolicy::lower_or_newer_equal_priority,
                             PreemptionPolicy::any})
          if (events::api_name(p) == to) return p;
        throw std::runtime_error("no such policy: " + to);
      };
      auto& edit = out.policy.edit;
      if (name == "withinClusterQueue")
        edit.within_cluster_queue = policy();
      else if (name == "reclaimWithinCohort")
        edit.reclaim_within_cohort = policy();
      else if (name == "borrowWithinCohort.policy")
        edit.borrow_within_cohort = policy();
      else if (name == "borrowWithinCohort.maxPriorityThreshold")
        edit.max_priority_threshold = static_cast<std::int32_t>(std::stol(to));
      else
        edit.strategy = to == "StrictFIFO" ? QueueingStrategy::strict_fifo : QueueingStrategy::best_effort_fifo;
    }
    return out;
  }

  static std::set<std::string> names_in_tree(const admission::LoopDriver& state, Symbol queue) {
    std::set<std::string> out;
    for (const Symbol& name : queues_of_tree(state, queue)) {
      for (const auto& w : state.queue(name)->waiting()) out.insert(full_name(w.workload->namespace_.text(), w.workload->name));
      for (const auto& r : state.queue(name)->reservations()) out.insert(full_name(r->workload->namespace_.text(), r->workload->name));
    }
    return out;
  }

  std::string check_remedies(const admission::LoopDriver& state, std::span<const std::byte> snapshot, const Json& told, const Info& w,
                             Symbol queue) {
    const auto in_tree = names_in_tree(state, queue);
    const auto& config = *state.domain().catalog()->queue(queue);
    const bool stopped = config.stop_policy != StopPolicy::none;
    bool resumes = false, fits = false;
    std::optional<Remedy> higher;
    for (const auto& j : told["remedies"]) {
      if (!j.contains("played")) return "a remedy was not played: " + j.dump();
      auto r = read(state, j);
      if (!r) continue;
      ++looked.kinds[j["kind"].get<std::string>()];
      resumes = resumes || r->kind == Remedy::Kind::resume;
      fits = fits || r->kind == Remedy::Kind::fits_now;
      if (r->kind == Remedy::Kind::priority) higher = r;
      const Among played = play_among_all(state, snapshot, w, *r);
      if (!played.starts) return "it is not let in " + j.dump();
      ++looked.remedies;
      looked.evicting += played.evicted.empty() ? 0 : 1;
      if (played.times != 1) continue;
      for (const auto& [field, names] :
           {std::pair("before", &played.before), std::pair("after", &played.after), std::pair("evicted", &played.evicted)}) {
        std::set<std::string> wanted, said;
        for (const auto& name : *names)
          if (in_tree.contains(name)) wanted.insert(name);
        for (const auto& name : j["played"][field])
          if (in_tree.contains(name.get<std::string>())) said.insert(name.get<std::string>());
        if (wanted == said) continue;
        std::string out = std::string(field) + " it are others:";
        for (const auto& name : wanted) out += " " + name;
        return out + "; it says " + j.dump();
      }
    }
    const bool given_up = std::any_of(told["facts"].begin(), told["facts"].end(),
                                      [](const Json& f) { return f.get<std::string>().starts_with("not every change was played"); });
    if (given_up || !state.domain().synced()) return {};
    if (stopped && !resumes) {
      Remedy resume{Remedy::Kind::resume, "ClusterQueue " + std::string(queue.text()), {}, {}};
      if (play_among_all(state, snapshot, w, resume).starts) return "it would be admitted if its ClusterQueue were not stopped";
      ++looked.resumed_in_vain;
    }
    if (fits || told["remedies"].empty() || (higher && !higher->object.empty())) return {};
    // One that is lower than promised, or, where none is, one that is higher than all.
    std::int64_t other = higher ? *higher->ask.priority - 1 : w.priority;
    if (!higher)
      for (const Symbol& name : queues_of_tree(state, queue)) {
        for (const auto& x : state.queue(name)->waiting()) other = std::max(other, x.workload->priority + 1);
        for (const auto& x : state.queue(name)->reservations()) other = std::max(other, x->workload->priority + 1);
      }
    if (other <= w.priority || w.priority != w.base_priority) return {};
    Remedy less{Remedy::Kind::priority, {}, {}, {}};
    less.ask.priority = static_cast<std::int32_t>(other);
    if (play_among_all(state, snapshot, w, less).starts)
      return "it would be admitted if its priority were " + std::to_string(other) + ", and nobody says so: " + told["remedies"].dump(1);
    ++looked.priorities_in_vain;
    return {};
  }

  // ---- stopped LocalQueues ----------------------------------------------------------------------------------------------------------

  /// Who waits before a LocalQueue that is stopped stands in no line: if it were not, it would be admitted, or it would not.
  std::string check_stopped_local_queues(const admission::LoopDriver& state) {
    const auto& catalog = *state.domain().catalog();
    std::size_t number = 0;
    std::vector<std::byte> snapshot;
    for (const auto& at : all_workloads(state)) {
      const auto& w = *at.workload;
      const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
      if (phase_of(w) != Phase::pending || lq == nullptr || lq->stop_policy == StopPolicy::none) continue;
      if (++number > 2) return {};  // of the others nothing else is to be seen
      const Json told = ask(state, at);
      if (snapshot.empty()) snapshot = admission::SnapshotCodec::write(state.entities());
      const auto* config = catalog.queue(lq->cluster_queue);
      CopiedDomain copy(snapshot);
      copy.gives_back = true;
      copy.resume_local_queue(w.namespace_, w.queue_name);
      if (config != nullptr && config->stop_policy != StopPolicy::none)
        copy.raise({Remedy::Kind::resume, "ClusterQueue " + std::string(lq->cluster_queue.text()), {}, {}}, false);
      copy.live();
      const bool starts = outcome(copy, w.uid.text()).starts;
      const bool promised =
          std::any_of(told["remedies"].begin(), told["remedies"].end(), [](const Json& r) { return r["kind"] == "resume"; });
      if (starts != promised)
        return "Workload " + std::string(w.uid.text()) +
               ": whether it would be admitted if its LocalQueue were not stopped: " + told["remedies"].dump(1);
      ++(starts ? looked.kinds["resume of a LocalQueue"] : looked.resumed_in_vain);
    }
    return {};
  }

  std::size_t turn_ = 0, asked_ = 0, changes_ = 0;
};

}  // namespace hindsight::projections
