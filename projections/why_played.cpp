// Remedies are promises: each is played on a copy of the state with everybody who waits, and only what lets the workload in is told.

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "events/observation_fields.hpp"
#include "projections/format.hpp"
#include "projections/play.hpp"
#include "projections/quota_report.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using admission::no_workload;
using admission::WorkloadInfo;
using Cure = Remedy::Kind;
using Pair = std::pair<std::string, std::string>;  // flavor and resource

// For one explanation; what was not played by then is not told. A play copies its stage: of a large one there are fewer. So many bytes
// are copied and played with in half a second.
constexpr int plays_max = 150, plays_min = 6;
constexpr std::size_t bytes_copied_max = 75'000'000;
constexpr int few_plays = 40;       // with no more than these nobody goes slowly
constexpr int plays_kept_back = 3;  // for fewer pods and another priority, whatever was used before

constexpr std::size_t singles_max = 8;  // of so many others it is tried whether they found room elsewhere
constexpr int stronger_max = 10;        // a remedy is made larger so many times, by what others took of it
constexpr int tightenings_max = 24;     // so many plays find out who need not end
constexpr int taken_slowly = 1;         // so many times by just that, then by more
constexpr std::int32_t more_nodes_max = 64;
constexpr int heads_max = 5;  // so many at the head of a StrictFIFO queue may have to go

class Player {
 public:
  Player(const StateView& state, const Stage& stage, const WorkloadInfo& workload, Symbol queue)
      : state_(state), stage_(stage), workload_(workload), queue_(queue) {}

  /// Nothing: as many were played as may be, or one came to no rest.
  [[nodiscard]] std::optional<Play::Outcome> play(const Remedy& r) {
    if (!may_play()) {
      gave_up_ = true;
      return std::nullopt;
    }
    auto out = play_out(stage_, workload_.uid.text(), [&](Play& world) { make(r, world); });
    if (!out.at_rest) {
      gave_up_ = true;
      return std::nullopt;
    }
    return out;
  }

  [[nodiscard]] bool may_play() const {
    const std::size_t bytes = stage_.bytes(), kept_back = static_cast<std::size_t>(reserve_) * bytes;
    if (stage_.played >= plays_max - reserve_) return false;
    return stage_.played < plays_min - reserve_ || stage_.copied + bytes + kept_back <= bytes_copied_max;
  }

  /// A copy is so large that only a few plays are made. Those that promise most are made first, and by great steps.
  [[nodiscard]] bool has_few_plays() const { return stage_.bytes() > bytes_copied_max / few_plays; }

  /// The change itself.
  void make(const Remedy& r, Play& world) const {
    if (!r.steps.empty() && r.kind != Cure::free) world.change(edits_of(r));
    if (r.kind == Cure::resume) world.resume(queue_);
    if (r.kind == Cure::more_nodes)
      if (const auto like = state_.domain().nodes().find(Symbol(r.from)); like != state_.domain().nodes().end() && like->second)
        world.add_nodes(*like->second, r.nodes);
    if (asks(r)) world.change(workload_.uid.text(), r.ask);
    if (r.kind == Cure::change_policy || r.kind == Cure::change_strategy) world.change(queue_, r.policy.edit);
    for (const auto& h : r.ending) world.end(h.uid);
  }

  /// Told as it is, if it lets the workload in; else a larger one that does; nothing: none was found.
  [[nodiscard]] std::optional<Remedy> lets_in(const Remedy& least) {
    if (least.kind == Cure::fewer_pods) return fewer_pods(least);
    if (least.kind == Cure::more_nodes) return more_nodes(least);
    Remedy r = least;
    for (int i = 0; i <= stronger_max; ++i) {
      const auto outcome = play(r);
      if (!outcome) return std::nullopt;
      if (outcome->starts) {
        r.played = consequences(*outcome);
        return i == 0 ? r : tightened(least, std::move(r), *outcome);
      }
      auto more = amounts_of(outcome->before);
      const bool slow = !has_few_plays() && i < (r.kind == Cure::free ? taken_slowly + 1 : taken_slowly);
      if (!more.empty() && !slow) {  // what is too much is taken back (`tightened`)
        if (r.kind != Cure::free)
          for (auto& [pair, amount] : more) amount = multiply(amount, 4);
        for (const auto& [pair, amount] : demand_ahead(r)) more[pair] = std::max(more[pair], amount);
      }
      if (more.empty() && tries_in_order()) more = demand_ahead(r);
      if (!strengthen(r, more)) return std::nullopt;
    }
    return std::nullopt;
  }

  /// Somebody stands before it in a StrictFIFO queue, and is tried first.
  [[nodiscard]] bool held_up() const { return tries_in_order() && first_ahead({}).has_value(); }

  /// More quota, as much as those ask for who go before it, and it with them, beyond what is free; else by `lets_in`.
  [[nodiscard]] std::optional<Remedy> enough_for_those_ahead(const Remedy& least, const std::vector<FlavorTrial>& trials) {
    Remedy r = least;
    const auto ahead = demand_ahead(r);
    for (auto& step : r.steps) {
      const auto it = ahead.find(pair_of(step));
      Amount wanted = it == ahead.end() ? 0 : it->second, available = 0;
      for (const auto& t : trials) {
        if (t.flavor != step.flavor || t.resource != step.resource) continue;
        wanted = add(wanted, t.requested);
        available = std::max<Amount>(0, t.quota.figures.available);
      }
      step.amount = std::max<Amount>(0, subtract(wanted, available));
      step.to = add(step.from, step.amount);
    }
    const auto outcome = play(r);
    if (!outcome) return std::nullopt;
    if (!outcome->starts) return lets_in(least);
    r.played = consequences(*outcome);
    return tightened(least, std::move(r), *outcome);
  }

  /// Those at the head of its StrictFIFO queue are there no more: as many, in their order, as hold it up.
  [[nodiscard]] std::optional<Remedy> without_heads() {
    Remedy r{Cure::leave, {}, {}, {}};
    std::set<std::string> passed;  // who goes, or is given quota
    for (int i = 0; i < heads_max; ++i) {
      auto head = first_ahead(passed);
      if (!head) return std::nullopt;
      passed.insert(head->uid);
      r.ending.push_back(std::move(*head));
      const auto outcome = play(r);
      if (!outcome) return std::nullopt;
      if (outcome->starts) {
        r.played = consequences(*outcome);
        return r;
      }
      for (const auto& s : outcome->before) passed.insert(s.uid);
    }
    return std::nullopt;
  }

  /// The lowest priority with which it is given quota, and a class that has it or more; nothing: no priority helps.
  [[nodiscard]] std::optional<Remedy> higher_priority() {
    const std::vector<std::int32_t> wanted = higher_priorities();
    if (wanted.empty()) return std::nullopt;
    auto best = with_priority(wanted.back());
    for (std::size_t low = 0, high = wanted.size() - 1; best && low < high;) {  // `high` is enough
      const std::size_t middle = low + (high - low) / 2;
      if (auto enough = with_priority(wanted[middle])) {
        best = std::move(enough);
        high = middle;
      } else if (gave_up_) {
        break;
      } else {
        low = middle + 1;
      }
    }
    if (best) name_class(*best);
    return best;
  }

  /// From now on the plays that were kept back for what is asked last may be used, too.
  void use_reserve() { reserve_ = 0; }

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

  [[nodiscard]] static bool asks(const Remedy& r) {
    return r.kind == Cure::fewer_pods || r.kind == Cure::min_count || r.kind == Cure::looser_level || r.kind == Cure::priority;
  }

  /// Nothing: it does not let the workload in, as far as is known.
  [[nodiscard]] std::optional<Remedy> as_it_is(Remedy r) {
    const auto outcome = play(r);
    if (!outcome || !outcome->starts) return std::nullopt;
    r.played = consequences(*outcome);
    return r;
  }

  /// The most pods with which it is given quota.
  [[nodiscard]] std::optional<Remedy> fewer_pods(const Remedy& most) {
    const std::int32_t unit = std::max(1, most.unit);
    const auto with = [&](std::int32_t units) {
      Remedy r = most;
      r.ask.count = units * unit;
      r.to = std::to_string(units * unit);
      return as_it_is(std::move(r));
    };
    if (auto enough = as_it_is(most)) return enough;
    std::optional<Remedy> best;
    for (std::int32_t low = 0, high = most.ask.count.value_or(0) / unit; high - low > 1 && !gave_up_;) {  // `high` is too many
      const std::int32_t middle = low + (high - low) / 2;
      if (auto enough = with(middle)) {
        best = std::move(enough);
        low = middle;
      } else {
        high = middle;
      }
    }
    return best;
  }

  /// The fewest nodes with which it is given quota and places.
  [[nodiscard]] std::optional<Remedy> more_nodes(const Remedy& fewest) {
    const auto with = [&](std::int32_t nodes) {
      Remedy r = fewest;
      r.nodes = nodes;
      return as_it_is(std::move(r));
    };
    std::int32_t low = fewest.nodes - 1, high = fewest.nodes;  // `low` is too few
    std::optional<Remedy> best = with(high);
    while (!best && !gave_up_ && high < more_nodes_max) {
      low = high;
      high = std::min(2 * high, more_nodes_max);
      best = with(high);
    }
    while (best && high - low > 1 && !gave_up_) {
      const std::int32_t middle = low + (high - low) / 2;
      if (auto enough = with(middle)) {
        best = std::move(enough);
        high = middle;
      } else {
        low = middle;
      }
    }
    return best;
  }

  /// What its own would have to be so that it goes before others, or may preempt them: ascending.
  [[nodiscard]] std::vector<std::int32_t> higher_priorities() const {
    std::set<std::int64_t> of_others;
    for (const Symbol& name : queues_of_tree(state_, queue_)) {
      const auto* queue = state_.queue(name);
      if (queue == nullptr) continue;
      for (const auto& x : queue->waiting()) of_others.insert(x.workload->priority);
      for (const auto& r : queue->reservations()) of_others.insert(r->workload->priority);
    }
    std::set<std::int32_t> out;
    for (const std::int64_t other : of_others)
      for (const std::int64_t wanted : {other, other + 1}) {
        const std::int64_t own = wanted - boost();
        if (wanted > workload_.priority && own >= std::numeric_limits<std::int32_t>::min() &&
            own <= std::numeric_limits<std::int32_t>::max())
          out.insert(static_cast<std::int32_t>(own));
      }
    return {out.begin(), out.end()};
  }

  /// What is added to its priority.
  [[nodiscard]] std::int64_t boost() const {
    const auto* w = find_by_uid(state_, workload_.uid.text()).workload;
    return w == nullptr ? 0 : workload_.priority - w->priority.value_or(0);
  }

  [[nodiscard]] std::optional<Remedy> with_priority(std::int32_t priority) {
    Remedy r{Cure::priority, {}, {}, {}};
    r.from = std::to_string(workload_.priority - boost());
    r.to = std::to_string(priority);
    r.ask.priority = priority;
    return as_it_is(std::move(r));
  }

  /// The lowest class that is high enough; that of a higher priority is played as well.
  void name_class(Remedy& r) {
    const Symbol* name = nullptr;
    std::int32_t value = 0;
    for (const auto& [other, config] : state_.domain().catalog()->workload_priority_classes) {
      if (config.value < *r.ask.priority || (name != nullptr && config.value >= value)) continue;
      name = &other;
      value = config.value;
    }
    if (name == nullptr) return;
    if (value != *r.ask.priority) {
      auto with_class = with_priority(value);
      if (!with_class) return;
      r = std::move(*with_class);
    }
    r.object = "WorkloadPriorityClass " + std::string(name->text());
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

  [[nodiscard]] bool tries_in_order() const {
    const auto* config = state_.domain().catalog()->queue(queue_);
    return config != nullptr && config->strategy == QueueingStrategy::strict_fifo;
  }

  /// The first before it in its queue who is tried and none of these; nothing: nobody.
  [[nodiscard]] std::optional<Holder> first_ahead(const std::set<std::string>& but) const {
    const auto* queue = state_.queue(queue_);
    if (queue == nullptr) return std::nullopt;
    for (const auto& x : queue->waiting()) {
      const auto& w = *x.workload;
      if (w.uid == workload_.uid) break;
      const bool sibling = w.option != nullptr && workload_.option != nullptr && w.option->family == workload_.option->family;
      if (x.parked || sibling || but.contains(std::string(w.uid.text()))) continue;
      Holder h;
      h.namespace_ = w.namespace_.text();
      h.name = w.name;
      h.uid = w.uid.text();
      h.queue = queue_;
      h.priority = w.priority;
      return h;
    }
    return std::nullopt;
  }

  /// What those ask for who stand before it in its queue.
  [[nodiscard]] Amounts demand_ahead(const Remedy& r) const {
    Amounts out;
    const auto* queue = state_.queue(queue_);
    if (queue == nullptr) return out;
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

  [[nodiscard]] static bool is_less(const Remedy& a, const Remedy& b) {
    bool any = false;
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
      if (a.steps[i].to > b.steps[i].to) return false;
      any = any || a.steps[i].to < b.steps[i].to;
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
      if (!taken.empty() && strengthen(smaller, taken) && is_less(smaller, enough)) (void)keep_if_enough(std::move(smaller));
      for (std::size_t i = 0; i < enough.steps.size() && enough.steps.size() > 1; ++i) {  // of one resource there may be enough anyway
        Remedy without = enough;
        without.steps[i] = least.steps[i];
        (void)keep_if_enough(std::move(without));
      }
      const std::size_t singles = has_few_plays() ? 0 : std::min(outcome.before.size(), singles_max);
      for (std::size_t i = 0; i < singles; ++i) {  // one may have found room elsewhere
        Remedy less = enough;
        if (weaken(less, least, amounts_of(std::span(&outcome.before[i], 1)))) (void)keep_if_enough(std::move(less));
      }
      return enough;
    }
    // Of many, groups of them first, so that a few plays are enough.
    int tries = tightenings_max;
    const std::size_t added = enough.ending.size() - least.ending.size();
    for (std::size_t group = added > singles_max ? added / 2 : 1; group > 0; group /= 2)
      for (std::size_t end = enough.ending.size(); end > least.ending.size();) {
        if (--tries < 0) return enough;
        const std::size_t from = end - std::min(group, end - least.ending.size());
        Remedy smaller = enough;
        const auto first = smaller.ending.begin();
        smaller.ending.erase(first + static_cast<std::ptrdiff_t>(from), first + static_cast<std::ptrdiff_t>(end));
        (void)keep_if_enough(std::move(smaller));
        end = from;
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
  int reserve_ = plays_kept_back;  ///< Of all plays on this stage.
};

/// It fits, and others are given what it would be: of the flavor that it would take, so much more that it is enough for all of them.
std::vector<Remedy> more_for_all(const std::vector<FlavorTrial>& trials, const Symbol& queue) {
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

/// Those who go first are there no more.
Remedy without(const std::vector<Play::Start>& before, const Symbol& queue) {
  Remedy out{Cure::leave, {}, {}, {}};
  for (const auto& s : before) {
    Holder h;
    h.namespace_ = s.namespace_;
    h.name = s.name;
    h.uid = s.uid;
    h.queue = queue;
    out.ending.push_back(std::move(h));
  }
  return out;
}

/// The queue passes over those who find no room.
Remedy not_in_order(const Symbol& queue) {
  Remedy out{Cure::change_strategy, "ClusterQueue " + std::string(queue.text()), {}, {}};
  out.policy.edit.strategy = QueueingStrategy::best_effort_fifo;
  out.policy.settings.push_back({"queueingStrategy", std::string(events::api_name(QueueingStrategy::strict_fifo)),
                                 std::string(events::api_name(QueueingStrategy::best_effort_fifo))});
  return out;
}

}  // namespace

std::vector<Remedy> play_remedies(const StateView& state, const Stage& stage, const WorkloadInfo& workload, const Symbol& queue,
                                  const std::vector<FlavorTrial>& trials, std::vector<Remedy> remedies, std::vector<std::string>& facts,
                                  const std::function<void(const Remedy&)>& tell) {
  std::vector<Remedy> out;
  const auto add = [&](Remedy r) {
    if (tell) tell(r);
    out.push_back(std::move(r));
  };
  if (!state.domain().synced()) {  // nothing is decided in this state
    for (auto& r : remedies) add(std::move(r));
    return out;
  }
  Player player(state, stage, workload, queue);
  bool fits = false;
  const auto add_found = [&](const Remedy& least, std::optional<Remedy> found) {
    if (!found) return;
    drop_empty_steps(*found, found->kind == Cure::free && found->ending.size() > least.ending.size());
    add(std::move(*found));
  };
  const auto add_if_in = [&](const Remedy& r) { add_found(r, player.lets_in(r)); };
  const auto* config = state.domain().catalog()->queue(queue);
  if (config != nullptr && config->stop_policy != StopPolicy::none)
    add_if_in({Cure::resume, "ClusterQueue " + std::string(queue.text()), {}, {}});
  // How much quota would do takes two or three plays, who would have to end may take all that there are.
  if (player.has_few_plays()) std::stable_partition(remedies.begin(), remedies.end(), [](const Remedy& r) { return r.kind != Cure::free; });
  for (auto& r : remedies) {
    if (r.kind != Cure::fits_now) {
      add_if_in(r);
      continue;
    }
    const auto outcome = player.play(r);
    if (!outcome) continue;
    if (outcome->starts) {
      fits = true;
      r.played = Player::consequences(*outcome);
      add(std::move(r));
      continue;
    }
    const bool held_up = player.held_up(), active = state.domain().catalog()->queue_active(queue);
    if (outcome->before.empty()) {
      facts.emplace_back("there is room for it, and it is not tried as things are");
      if (!held_up || !active) continue;
      for (const auto& larger : more_for_all(trials, queue))
        add_found(larger, larger.kind == Cure::free ? player.lets_in(larger) : player.enough_for_those_ahead(larger, trials));
      if (auto gone = player.without_heads()) add(std::move(*gone));
    } else {
      facts.push_back("there is room for it, and others are given it first: " + first_names(Player::names(outcome->before)));
      for (const auto& larger : more_for_all(trials, queue)) add_if_in(larger);
      add_if_in(without(outcome->before, queue));
    }
    if (held_up && active) add_if_in(not_in_order(queue));
  }
  for (auto& change : find_policy_changes(state, workload, queue)) {
    Remedy r{Cure::change_policy, "ClusterQueue " + std::string(queue.text()), {}, {}};
    r.policy = std::move(change);
    add_if_in(r);
  }
  player.use_reserve();
  if (!fits) {
    for (const auto& ask : find_asks(state, workload, queue)) add_if_in(ask);
    if (auto higher = player.higher_priority()) add(std::move(*higher));
  }
  if (player.gave_up())
    facts.emplace_back("not every change was played to its end, because so much follows from it: there may be others that let it in");
  return out;
}

std::optional<Remedy> play_resumed(const StateView& state, const Stage& stage, const WorkloadState& w) {
  const auto& catalog = *state.domain().catalog();
  const auto* local = catalog.local_queue(w.namespace_, w.queue_name);
  if (local == nullptr || !state.domain().synced()) return std::nullopt;
  const auto* config = catalog.queue(local->cluster_queue);
  const bool both = config != nullptr && config->stop_policy != StopPolicy::none;
  const auto outcome = play_out(stage, w.uid.text(), [&](Play& world) {
    world.resume(w.namespace_, w.queue_name);
    if (both) world.resume(local->cluster_queue);
  });
  if (!outcome.at_rest || !outcome.starts) return std::nullopt;
  Remedy out{Cure::resume, "LocalQueue " + full_name(w.namespace_.text(), w.queue_name.text()), {}, {}};
  if (both) out.object += " and ClusterQueue " + std::string(local->cluster_queue.text());
  out.played = Player::consequences(outcome);
  return out;
}

}  // namespace hindsight::projections
