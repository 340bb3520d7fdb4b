// Remedies are promises: each is played on a copy of the state with everybody who waits, and only what lets the workload in is told.

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/format.hpp"
#include "projections/play.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using admission::no_workload;
using admission::WorkloadInfo;
using Cure = Remedy::Kind;
using Pair = std::pair<std::string, std::string>;  // flavor and resource

// For one explanation; what was not played by then is not told. A play copies the whole state: of a large one there are fewer.
constexpr int plays_max = 60, plays_min = 6;
constexpr std::uint32_t parents_played_max = 200'000;

constexpr std::size_t singles_max = 8;  // of so many others it is tried whether they found room elsewhere
constexpr int stronger_max = 10;        // a remedy is made larger so many times, by what others took of it

class Player {
 public:
  Player(const StateView& state, const Stage& stage, const WorkloadInfo& workload, Symbol queue)
      : state_(state), stage_(stage), workload_(workload), queue_(queue) {}

  /// Nothing: as many were played as may be, or one came to no rest.
  [[nodiscard]] std::optional<Play::Outcome> play(const Remedy& r) {
    if (++stage_.played > budget_) {
      gave_up_ = true;
      return std::nullopt;
    }
    Play world(stage_);
    if (!r.steps.empty() && r.kind != Cure::free) world.change(edits_of(r));
    if (r.kind == Cure::resume) world.resume(queue_);
    if (r.kind == Cure::change_policy) world.change(queue_, r.policy.edit);
    for (const auto& h : r.ending) world.end(h.uid);
    auto out = world.run(workload_.uid.text());
    if (!out.at_rest) {
      gave_up_ = true;
      return std::nullopt;
    }
    const auto drop_family = [&](std::vector<Play::Start>& all) { std::erase_if(all, [&](const auto& s) { return is_sibling(s); }); };
    drop_family(out.before);
    drop_family(out.after);
    return out;
  }

  /// Told as it is, if it lets the workload in; else a larger one that does; nothing: none was found.
  [[nodiscard]] std::optional<Remedy> lets_in(const Remedy& least) {
    Remedy r = least;
    for (int i = 0; i <= stronger_max; ++i) {
      const auto outcome = play(r);
      if (!outcome) return std::nullopt;
      if (outcome->starts) {
        r.played = consequences(*outcome);
        return i == 0 ? r : tightened(least, std::move(r), *outcome);
      }
      const auto more = amounts_of(outcome->before);
      if (!strengthen(r, more.empty() ? demand_ahead(r) : more)) return std::nullopt;
    }
    return std::nullopt;
  }

  /// A change was not played to its end, so that nobody knows what comes of it.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

  [[nodiscard]] static std::vector<std::string> names(const std::vector<Play::Start>& starts) {
    std::vector<std::string> out;
    for (const auto& s : starts) {
      auto name = full_name(s.namespace_, s.name);
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
    }
    return out;
  }

  [[nodiscard]] static Consequences consequences(const Play::Outcome& o) { return {names(o.before), names(o.after), o.evicted}; }

 private:
  [[nodiscard]] bool is_sibling(const Play::Start& s) const {
    return workload_.option != nullptr && (s.family == workload_.option->family || s.uid == workload_.option->family);
  }

  [[nodiscard]] std::vector<QuotaEdit> edits_of(const Remedy& r) const {
    const bool cohort = r.kind == Cure::raise_cohort;
    const Symbol node(std::string_view(r.object).substr(r.object.find(' ') + 1));
    std::vector<QuotaEdit> out;
    for (const auto& s : r.steps) {
      QuotaEdit edit{node, cohort, s.flavor, s.resource, {}, {}};
      (r.kind == Cure::raise_borrowing_limit ? edit.borrowing_limit : edit.nominal) = s.to;
      out.push_back(std::move(edit));
    }
    return out;
  }

  using Amounts = std::map<Pair, Amount>;

  [[nodiscard]] static Pair pair_of(const Remedy::Step& s) { return {std::string(s.flavor.text()), std::string(s.resource.text())}; }

  [[nodiscard]] static Amounts amounts_of(std::span<const Play::Start> starts) {
    Amounts out;
    for (const auto& s : starts)
      for (const auto& [pair, amount] : s.amounts) {
        auto& sum = out[{std::string(pair.first.text()), std::string(pair.second.text())}];
        sum = add(sum, amount);
      }
    return out;
  }

  /// What those ask for who stand before it in a queue that tries nobody out of order.
  [[nodiscard]] Amounts demand_ahead(const Remedy& r) const {
    Amounts out;
    const auto* config = state_.domain().catalog()->queue(queue_);
    const auto* queue = state_.queue(queue_);
    if (config == nullptr || queue == nullptr || config->strategy != QueueingStrategy::strict_fifo) return out;
    for (const auto& x : queue->waiting()) {
      if (x.workload->uid == workload_.uid) break;
      for (const auto& p : *x.workload->pod_sets)
        for (const auto& request : p.requests)
          for (const auto& step : r.steps)
            if (step.resource == request.resource) out[pair_of(step)] = add(out[pair_of(step)], multiply(request.amount, p.count));
    }
    return out;
  }

  /// By what others take. False: nothing of it is theirs, so that more of it is no help.
  [[nodiscard]] bool strengthen(Remedy& r, const Amounts& taken) const {
    bool any = false;
    for (auto& step : r.steps) {
      const auto it = taken.find(pair_of(step));
      if (it == taken.end() || it->second <= 0) continue;
      if (r.kind == Cure::free) {
        any = end_more(r, step, it->second) || any;
      } else {
        step.to = add(step.to, it->second);
        any = true;
      }
      step.amount = add(step.amount, it->second);
    }
    return any;
  }

  /// False: it would be no less, or less than what is needed without anybody else.
  [[nodiscard]] static bool weaken(Remedy& r, const Remedy& least, const Amounts& by) {
    bool any = false;
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
      const auto it = by.find(pair_of(r.steps[i]));
      if (it == by.end() || it->second <= 0) continue;
      r.steps[i].to = std::max(least.steps[i].to, subtract(r.steps[i].to, it->second));
      const Amount amount = std::max(least.steps[i].amount, subtract(r.steps[i].amount, it->second));
      any = any || amount != r.steps[i].amount;
      r.steps[i].amount = amount;
    }
    return any;
  }

  /// What was enough may have been more than that: no larger than for those who really went before it, and nobody ends in vain.
  [[nodiscard]] Remedy tightened(const Remedy& least, Remedy enough, const Play::Outcome& outcome) {
    const auto keep_if_enough = [&](Remedy r) {
      const auto again = play(r);
      if (!again || !again->starts) return false;
      r.played = consequences(*again);
      enough = std::move(r);
      return true;
    };
    if (enough.kind != Cure::free) {
      Remedy smaller = least;
      const auto taken = amounts_of(outcome.before);
      if (!taken.empty() && strengthen(smaller, taken)) (void)keep_if_enough(std::move(smaller));
      for (std::size_t i = 0; i < enough.steps.size() && enough.steps.size() > 1; ++i) {  // of one resource there may be enough anyway
        Remedy without = enough;
        without.steps[i] = least.steps[i];
        (void)keep_if_enough(std::move(without));
      }
      for (std::size_t i = 0; i < std::min(outcome.before.size(), singles_max); ++i) {  // one may have found room elsewhere
        Remedy less = enough;
        if (weaken(less, least, amounts_of(std::span(&outcome.before[i], 1)))) (void)keep_if_enough(std::move(less));
      }
      return enough;
    }
    for (std::size_t i = enough.ending.size(); i-- > least.ending.size();) {
      Remedy smaller = enough;
      smaller.ending.erase(smaller.ending.begin() + static_cast<std::ptrdiff_t>(i));
      (void)keep_if_enough(std::move(smaller));
    }
    return enough;
  }

  /// More holders, the largest first, until so much more is free.
  [[nodiscard]] bool end_more(Remedy& r, const Remedy::Step& step, Amount amount) const {
    std::set<std::string> ends;
    for (const auto& h : r.ending) ends.insert(h.uid);
    const std::string family = workload_.option == nullptr ? std::string() : std::string(std::string_view(workload_.option->family));
    bool any = false;
    for (const auto& h : holders_of(state_, queues_of_tree(state_, queue_), step.flavor, step.resource)) {
      if (amount <= 0) break;
      if (ends.contains(h.uid) || h.kept || (!family.empty() && h.family == family)) continue;
      r.ending.push_back(h);
      amount = subtract(amount, h.amount);
      any = true;
    }
    return any;
  }

  bool gave_up_ = false;
  const StateView& state_;
  const Stage& stage_;
  const WorkloadInfo& workload_;
  Symbol queue_;
  int budget_ =
      std::clamp(static_cast<int>(parents_played_max / std::max<std::uint32_t>(1, state_.domain().parent_count())), plays_min, plays_max);
};

bool can_be_played(const Remedy& r) { return r.kind != Cure::fewer_pods && r.kind != Cure::looser_level && r.kind != Cure::more_nodes; }

/// It fits, and others are given what it would be: of the flavor that it would take, so much more that it is enough for all of them.
std::vector<Remedy> more_for_all(const std::vector<FlavorTrial>& trials, Symbol queue) {
  Remedy raise{Cure::raise_nominal, "ClusterQueue " + std::string(queue.text()), {}, {}};
  Remedy free{Cure::free, {}, {}, {}};
  std::set<Pair> served;  // pod set and resource
  for (const auto& t : trials) {
    if (t.verdict != FlavorTrial::Verdict::fits && t.verdict != FlavorTrial::Verdict::fits_borrowing) continue;
    if (!served.emplace(t.pod_set, t.resource.text()).second) continue;
    const auto same = [&](const Remedy::Step& s) { return s.flavor == t.flavor && s.resource == t.resource; };
    if (std::any_of(raise.steps.begin(), raise.steps.end(), same)) continue;
    raise.steps.push_back({t.flavor, t.resource, 0, t.quota.nominal, t.quota.nominal});
    free.steps.push_back({t.flavor, t.resource, 0, 0, 0});
  }
  return {std::move(free), std::move(raise)};
}

/// Steps that ask for nothing more are none. Whom ends were added for, it is they that are promised: nobody tried the amounts.
void drop_empty_steps(Remedy& r, bool more_end) {
  if (more_end) {
    r.steps.clear();
    for (auto& h : r.ending) h.amount = 0;
  }
  std::erase_if(r.steps, [](const Remedy::Step& s) { return s.amount == 0; });
}

}  // namespace

std::vector<Remedy> play_remedies(const StateView& state, const Stage& stage, const WorkloadInfo& workload, Symbol queue,
                                  const std::vector<FlavorTrial>& trials, std::vector<Remedy> remedies, std::vector<std::string>& facts) {
  if (!state.domain().synced()) return remedies;  // nothing is decided in this state
  // An upgrade waits for the running job to stop, which a play cannot have it do.
  if (workload.option != nullptr && workload.option->running != no_workload) return remedies;
  Player player(state, stage, workload, queue);
  std::vector<Remedy> out;
  const auto tell = [&](const Remedy& r) {
    if (auto found = player.lets_in(r)) {
      drop_empty_steps(*found, found->kind == Cure::free && found->ending.size() > r.ending.size());
      out.push_back(std::move(*found));
    }
  };
  const auto* config = state.domain().catalog()->queue(queue);
  if (config != nullptr && config->stop_policy != StopPolicy::none)
    tell({Cure::resume, "ClusterQueue " + std::string(queue.text()), {}, {}});
  for (auto& r : remedies) {
    if (!can_be_played(r)) {
      out.push_back(std::move(r));
      continue;
    }
    if (r.kind != Cure::fits_now) {
      tell(r);
      continue;
    }
    const auto outcome = player.play(r);
    if (!outcome) continue;
    if (outcome->starts) {
      r.played = Player::consequences(*outcome);
      out.push_back(std::move(r));
      continue;
    }
    if (outcome->before.empty()) {
      facts.emplace_back("there is room for it, and it is not tried as things are");
      continue;
    }
    facts.push_back("there is room for it, and others are given it first: " + first_names(Player::names(outcome->before)));
    for (const auto& larger : more_for_all(trials, queue)) tell(larger);
    Remedy leave{Cure::leave, {}, {}, {}};
    for (const auto& s : outcome->before) {
      Holder h;
      h.namespace_ = s.namespace_;
      h.name = s.name;
      h.uid = s.uid;
      h.queue = queue;
      leave.ending.push_back(std::move(h));
    }
    tell(leave);
  }
  for (auto& change : find_policy_changes(state, workload, queue)) {
    Remedy r{Cure::change_policy, "ClusterQueue " + std::string(queue.text()), {}, {}};
    r.policy = std::move(change);
    tell(r);
  }
  if (player.gave_up())
    facts.emplace_back("not every change was played to its end, because so much follows from it: there may be others that let it in");
  return out;
}

}  // namespace hindsight::projections
