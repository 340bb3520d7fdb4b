// What `hindsight why` says would let a workload in is tried over random histories: on a copy of the whole domain, with the change made as
// somebody would make it, and with everybody else who waits taken out of the way. HINDSIGHT_WHY_SEEDS: how many histories; HINDSIGHT_SEED:
// only this one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/state/snapshot.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/format.hpp"
#include "projections/jobs_again.hpp"
#include "projections/why.hpp"
#include "tests/explorer/explorer.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::projections {
namespace {

using admission::LoopDriver;

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// A copy of a domain that goes its own way.
class Copy {
 public:
  explicit Copy(std::span<const std::byte> snapshot) : driver_(explorer::read_settings) {
    if (auto ok = admission::SnapshotCodec::read(snapshot, driver_.entities()); !ok) throw std::runtime_error(ok.error().message);
    now_ = driver_.domain().now();
  }

  void remove(std::string_view uid, ObjectKind kind = ObjectKind::workload) {
    append(Observation{ObjectDeleted{kind, "default", "", uid}});
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
    o.stop_policy = q.stop_policy;
    o.stop_policy_set = q.stop_policy_set;
    o.fair_weight_nano = q.fair_weight_nano + (again ? 1 : 0);
    o.admission_mode = q.admission_mode;
    append(Observation{o});
  }

  /// Somebody changes how many pods the job has, or may start with; its Workloads are revised in place.
  void ask(std::string_view uid, const AskEdit& edit) {
    const auto* parent = driver_.parent(driver_.domain().find_parent(uid).value());
    const auto change = [&](auto o) {
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
      for (const Event& e : step->events) others_left = others_left || std::holds_alternative<ReservationCleared>(e);
      append(Decisions{step->base, step->kind, step->events});
    }
  }

  [[nodiscard]] bool reserved(std::string_view uid) const {
    const auto parent = driver_.domain().find_parent(uid);
    if (!parent) return false;
    for (const auto& w : driver_.parent(*parent)->workloads())
      if (w.uid == uid) return w.reserved();
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

  LoopDriver driver_;

 public:
  bool others_left = false;  ///< Somebody was preempted or ran out of time, and gave quota back.

 private:
  Time now_;
  Arena arena_;
};

class Remedies {
 public:
  std::string check(const LoopDriver& state) {
    const auto& catalog = *state.domain().catalog();
    for (const auto& [name, config] : catalog.queues) {
      const auto* queue = state.queue(name);
      if (queue == nullptr || !catalog.queue_active(name)) continue;
      for (const auto& w : queue->waiting()) {
        const auto& info = *w.workload;
        const bool gate_open = !info.requeued_false && (!info.requeue_at.is_set() || info.requeue_at <= state.domain().now());
        if (!gate_open || info.failed_checks || !catalog.namespace_matches(*config, info.namespace_)) continue;
        const auto* lq = catalog.local_queue(info.namespace_, info.local_queue);
        if (lq == nullptr || lq->stop_policy != StopPolicy::none) continue;
        if (auto finding = check(state, info, name); !finding.empty()) return finding;
        if (++looked_at_ % 3 != 0) break;  // mostly one of each queue is enough
      }
    }
    return {};
  }
  /// A seed must find alone what it finds among others.
  void begin_history() { looked_at_ = 0; }
  /// Also what is found before it is played: as if nobody else waited.
  bool alone = true;
  std::size_t tried = 0, tried_in_vain = 0, played = 0, after_others = 0, passed_over = 0, parts = 0, thinned = 0, larger = 0, asked = 0;

 private:
  std::string check(const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue) {
    const auto trials = try_flavors(state, info, queue);
    const auto remedies = find_remedies(state, info, queue, trials);
    if (remedies.empty()) return {};
    const auto snapshot = admission::SnapshotCodec::write(state.entities());
    if (auto finding = check_played(snapshot, state, info, queue, trials, remedies); !finding.empty()) return finding;
    if (!alone) return {};
    for (const auto& r : remedies) {
      if (!lets_in(snapshot, state, info, queue, r, false)) return "Workload " + info.uid + ": is not let in " + remedy_text(r);
      ++tried;
      for (const auto& less : smaller(r)) {
        if (lets_in(snapshot, state, info, queue, less, true))
          return "Workload " + info.uid + ": is let in " + remedy_text(less) + ", which is less than " + remedy_text(r);
        ++tried_in_vain;
      }
    }
    return {};
  }

  /// What is told after it was played lets the workload in with everybody who waits; and who is said to be passed over is.
  std::string check_played(std::span<const std::byte> snapshot, const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue,
                           const std::vector<FlavorTrial>& trials, const std::vector<Remedy>& remedies) {
    std::vector<std::string> facts;
    const Stage stage{{snapshot.begin(), snapshot.end()}, explorer::read_settings};
    const auto told = play_remedies(state, stage, info, queue, trials, remedies, facts);
    if (auto finding = compare_with_tree(state, info, queue, trials, remedies, told, facts); !finding.empty()) return finding;
    const auto comes_in = [&](const Remedy& r) {
      Copy copy(snapshot);
      for (const auto& h : r.ending)
        if (const auto parent = state.domain().find_parent(h.uid))
          for (const auto& w : state.parent(*parent)->workloads()) copy.remove(w.uid);
      if ((!r.steps.empty() && r.kind != Remedy::Kind::free) || r.kind == Remedy::Kind::change_policy ||
          r.kind == Remedy::Kind::change_strategy)
        copy.raise(r, false);
      if (r.ask.count || r.ask.min_count) copy.ask(info.uid.text(), r.ask);
      copy.live();
      return copy.reserved(info.uid);
    };
    const Remedy as_it_is{Remedy::Kind::fits_now, {}, {}, {}};
    std::erase_if(facts, [](const auto& f) { return f.find("there is room for it") == std::string::npos; });
    if (!facts.empty() && comes_in(as_it_is)) return "Workload " + info.uid + ": is let in, although " + facts.front();
    passed_over += facts.size();
    for (const auto& r : told) {
      using enum Remedy::Kind;
      if (!r.played || !r.played->evicted.empty() || r.kind == resume || r.kind == priority) continue;
      asked += r.kind == fewer_pods || r.kind == min_count ? 1 : 0;
      ++played;
      after_others += r.played->before.empty() ? 0 : 1;
      if (!comes_in(r)) return "Workload " + info.uid + ": is not let in among all others " + remedy_text(r);
    }
    return {};
  }

  /// Whether the whole state is copied or the trees that concern it, without those who stand behind others like them: the same lets it in,
  /// after the same others, and as much is said.
  std::string compare_with_tree(const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue,
                                const std::vector<FlavorTrial>& trials, const std::vector<Remedy>& remedies,
                                const std::vector<Remedy>& by_whole, const std::vector<std::string>& facts_by_whole) {
    Stage stage = Stage::of_tree(state, find_by_uid(state, info.uid.text()), 1 + parts % 2);
    stage.read_settings = explorer::read_settings;
    if (stage.copies && stage.copies->thinned().left_out != 0) ++thinned;
    if (admission::SnapshotCodec::trees_are_apart(state.domain())) ++parts;
    // Of others only those of the same tree: timers of other trees fire in the whole state meanwhile, whatever is changed here.
    std::set<std::string> in_tree;
    for (const Symbol& name : queues_of_tree(state, queue)) {
      for (const auto& w : state.queue(name)->waiting()) in_tree.insert(full_name(w.workload->namespace_.text(), w.workload->name));
      for (const auto& r : state.queue(name)->reservations()) in_tree.insert(full_name(r->workload->namespace_.text(), r->workload->name));
    }
    const auto words = [&](const std::vector<Remedy>& all) {
      std::vector<std::string> out;
      for (const auto& r : all) {
        std::string line = remedy_text(r);
        for (const auto& [what, list] :
             {std::pair("before", r.played->before), std::pair("after", r.played->after), std::pair("evicted", r.played->evicted)})
          for (const auto& name : list)
            if (in_tree.contains(name)) line += std::string("; ") + what + " " + name;
        out.push_back(std::move(line));
      }
      return out;
    };
    std::vector<std::string> facts;
    const auto by_tree = words(play_remedies(state, stage, info, queue, trials, remedies, facts));
    const auto wanted = words(by_whole);
    if (stage.copies && stage.copies->grown()) ++larger;
    if (by_tree == wanted && facts == facts_by_whole) return {};
    std::string out = "Workload " + info.uid + ": by the tree alone another answer;";
    for (const auto& line : wanted) out += "\n  whole: " + line;
    for (const auto& line : by_tree) out += "\n  tree:  " + line;
    for (const auto& line : facts_by_whole) out += "\n  whole says: " + line;
    for (const auto& line : facts) out += "\n  tree says:  " + line;
    return out;
  }

  /// The raise with one limit one unit lower, for each of its limits; and of a single limit what is a good deal lower.
  static std::vector<Remedy> smaller(const Remedy& r) {
    std::vector<Remedy> out;
    if (r.kind == Remedy::Kind::fits_now || r.kind == Remedy::Kind::free) return out;
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
      std::set<Amount> by{1};
      if (r.steps.size() == 1) by.merge(std::set<Amount>{r.steps[i].amount / 2, r.steps[i].amount / 4, r.steps[i].amount - 1});
      for (const Amount amount : by) {
        if (amount <= 0 || amount > r.steps[i].amount) continue;
        Remedy less = r;
        less.steps[i].amount -= amount;
        less.steps[i].to -= amount;
        out.push_back(std::move(less));
      }
    }
    return out;
  }

  /// `alone`: without anybody else leaving meanwhile, which would be another remedy.
  static bool lets_in(std::span<const std::byte> snapshot, const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue,
                      const Remedy& r, bool alone) {
    Copy copy(snapshot);
    for (const auto& [name, config] : state.domain().catalog()->queues)
      if (const auto* holder = state.queue(name))
        for (const auto& other : holder->waiting())
          if (other.workload->uid != info.uid) copy.remove(other.workload->uid);
    for (const auto& h : r.ending)  // with all slices of its job: one that it has replaced holds quota again when only its successor goes
      if (const auto parent = state.domain().find_parent(h.uid))
        for (const auto& w : state.parent(*parent)->workloads()) copy.remove(w.uid);
    const bool raises = r.kind != Remedy::Kind::fits_now && r.kind != Remedy::Kind::free;
    const Remedy woken{Remedy::Kind::raise_nominal, "ClusterQueue " + std::string(queue.text()), {}, {}};
    // A scan that goes on where it stopped may miss the flavor at the first try, and the end of a workload whose LocalQueue is stopped
    // wakes nobody (§3.7, D12): a second change has it tried anew.
    for (const bool again : {false, true}) {
      if (raises)
        copy.raise(r, again);
      else if (again)
        copy.raise(woken, true);
      copy.settle();
      if (alone && copy.others_left) return false;
      if (copy.reserved(info.uid)) return true;
    }
    return false;
  }

  std::size_t looked_at_ = 0;
};

// What it says lets it in, and one unit less of any limit does not
TEST(WhyProperty, EveryRemedyLetsTheWorkloadInAndNothingSmallerDoes) {
  const std::uint64_t only = number("HINDSIGHT_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t seeds = only != 0 ? 1 : number("HINDSIGHT_WHY_SEEDS", as_much_as<std::uint64_t>(1'000, 60));
  constexpr std::uint64_t alone_max = 350;
  Remedies remedies;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    explorer::Explorer history(seed);
    std::size_t rests = 0;
    remedies.begin_history();
    remedies.alone = seed <= alone_max;
    history.look_when_at_rest([&](const LoopDriver& state) { return rests++ % 4 == 0 ? remedies.check(state) : std::string(); });
    const std::string finding = history.run();
    ASSERT_EQ(finding, "") << "repeat with: HINDSIGHT_SEED=" << seed << " " << ::testing::internal::GetArgvs().front()
                           << " --gtest_filter=WhyProperty.*";
  }
  if (only == 0) {
    EXPECT_GT(remedies.tried, 100U);
    EXPECT_GT(remedies.tried_in_vain, 100U);
    std::printf(
        "%zu remedies played among all, %zu of them after others; %zu fit and are passed over; %zu answers also by trees alone, %zu of "
        "them without some who wait, %zu of which had to be asked for; %zu ask for fewer pods\n",
        remedies.played, remedies.after_others, remedies.passed_over, remedies.parts, remedies.thinned, remedies.larger, remedies.asked);
    EXPECT_GT(remedies.parts, 100U);
    EXPECT_GT(remedies.asked, 10U);
    EXPECT_GT(remedies.played, 100U);
    EXPECT_GT(remedies.after_others, 10U);
  }
}

}  // namespace
}  // namespace hindsight::projections
