// A trace as text for people.

#include <algorithm>

#include "admission/scheduling/outcome_text.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/history_words.hpp"
#include "projections/how.hpp"
#include "projections/share_words.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::projections {
/// These files are joined into few, and others have helpers of the same names.
namespace how_in_words {
namespace {

using namespace admission;
using events::api_name;

std::string mode_words(FlavorMode mode) {
  switch (mode) {
    case FlavorMode::no_fit:
      return "no fit";
    case FlavorMode::no_candidates:
      return "nobody to preempt";
    case FlavorMode::preempt:
      return "preempts in its own ClusterQueue";
    case FlavorMode::reclaim:
      return "preempts in the cohort";
    case FlavorMode::fit:
      return "fits";
  }
  return {};
}

std::string mode_words(AssignmentMode mode) {
  switch (mode) {
    case AssignmentMode::no_fit:
      return "no fit";
    case AssignmentMode::preempt:
      return "needs preemption";
    case AssignmentMode::deferred_fit:
      return "fits after the preemptions of this cycle";
    case AssignmentMode::fit:
      return "fits";
  }
  return {};
}

std::string order_words(OrderedBy by) {
  switch (by) {
    case OrderedBy::nothing:
      return {};
    case OrderedBy::preemptor:
      return "it has made room by preemption and goes first";
    case OrderedBy::level:
      return "its borrowing level is lower";
    case OrderedBy::borrowing:
      return "it does not borrow";
    case OrderedBy::share:
      return "the share is lower";
    case OrderedBy::priority:
      return "its priority is higher";
    case OrderedBy::time:
      return "it has waited longer";
    case OrderedBy::queue:
      return "the name of its ClusterQueue comes first";
    case OrderedBy::uid:
      return "its uid comes first";
  }
  return {};
}

std::string passed_words(PreemptionStep::Passed why, bool one) {
  using Passed = PreemptionStep::Passed;
  switch (why) {
    case Passed::none:
      return {};
    case Passed::reclaim_never:
      return "reclaimWithinCohort of the preemptor's ClusterQueue is Never";
    case Passed::within_never:
      return "withinClusterQueue is Never";
    case Passed::queue_inactive:
      return "it is not active";
    case Passed::within_nominal:
      return "it holds no more than its nominal quota of what is needed";
    case Passed::not_borrowing:
      return "it borrows nothing at this point";
    case Passed::priority:
      return std::string("the policy does not allow it at ") + (one ? "its" : "their") + " priority";
    case Passed::not_newer:
      return "the priority is the same, and the preemptor is not older";
    case Passed::other_resources:
      return one ? "it holds nothing of what is needed" : "they hold nothing of what is needed";
    case Passed::gone:
      return one ? "it goes already for another workload of this cycle" : "they go already for another workload of this cycle";
    case Passed::replaced_slice:
      return "it is the slice that the preemptor replaces";
    case Passed::family:
      return "it belongs to the same family as the preemptor";
    case Passed::left_alone:
      return one ? "it was preempted again and again and is left alone" : "they were preempted again and again and are left alone";
  }
  return {};
}

std::string amount_words(const TracedAmount& a) {
  return text(a.resource) + " " + amount_text(a.amount, a.resource) + " of flavor " + text(a.flavor);
}

std::string amounts_words(const std::vector<TracedAmount>& amounts) {
  std::vector<std::string> parts;
  for (const auto& a : amounts) parts.push_back(amount_words(a));
  return first_names(parts);
}

std::string level_words(std::int32_t level) { return level == 0 ? std::string() : ", borrowing level " + std::to_string(level); }

std::string candidate_words(const TracedCandidate& c) {
  using Kind = PreemptionStep::Kind;
  std::string who = c.workload + " (ClusterQueue " + text(c.queue) + ", priority " + std::to_string(c.priority) +
                    (c.evicted ? ", evicted already" : "") + "): ";
  switch (c.kind) {
    case Kind::begins:
      return c.borrowing ? "the preemptor may borrow:" : "the preemptor may not borrow:";
    case Kind::put_back:
      return who + "spared after all, there is room without it";
    case Kind::exhausted:
      return who + "spared, " +
             (c.unusable ? "borrowWithinCohort does not allow it while the preemptor borrows"
                         : "its ClusterQueue or a cohort above holds no more than its nominal quota by then");
    case Kind::taken:
      who += c.victim ? "taken (" + text(reason_symbol(*c.victim)) + ")" : "taken on trial";
      break;
    case Kind::spared:
      who += "spared";
      break;
    case Kind::passed_over:
    case Kind::queue_passed:
      break;
  }
  if (!c.shares) return who;
  const TracedShares& s = *c.shares;
  const bool initial = s.strategy == Settings::FairStrategy::less_than_initial_share;
  const Share& against = initial || !s.other_new ? s.other_old : *s.other_new;
  const bool exact = differ_when_exact(s.preemptor_new, against);
  return who + "; " + std::string(name_of(s.strategy)) + ": share of " + s.preemptor + " with the preemptor " +
         share_words(s.preemptor_new, exact) + ", of " + s.other + " " + share_words(s.other_old, exact) +
         (s.other_new ? " before and " + share_words(*s.other_new, exact) + " after" : std::string());
}

class HowText {
 public:
  HowText(const Decided& decided, const HowOptions& options) : d_(decided), o_(options) {}

  std::string make() {
    line(0, "Decision " + std::to_string(d_.position) + " at " + format_rfc3339_micro(d_.time) + ", made on record " +
                std::to_string(d_.base));
    line(1, std::string(d_.base_record));
    line(0, "Epoch " + std::to_string(d_.epoch) + ", rules " + std::to_string(d_.rules) + ". Made again, it comes out as recorded.");
    if (d_.kind == StepKind::life_cycle) {
      life_cycle();
    } else if (d_.kind == StepKind::timers) {
      line(0, "Timers that were due: parked Workloads of these trees are tried again.");
      events();
    } else {
      cycle();
    }
    return std::move(out_);
  }

 private:
  void line(std::size_t depth, const std::string& words) {
    out_.append(2 * depth, ' ').append(printable(words));
    out_ += '\n';
  }

  void life_cycle() {
    line(0, "Life cycle: what follows from what has happened to each job and Workload. Nobody is compared with anybody.");
    events();
  }

  void events() {
    std::size_t shown = 0, left_out = 0;
    for (const Event& e : d_.events) {
      const std::string object = std::visit(
          []<class E>(const E& event) {
            if constexpr (requires { event.workload; })
              if (!event.workload.uid.empty() || !event.workload.name.empty()) return full_name(event.workload);
            if constexpr (requires { event.job; })
              return std::string(event.job.kind) + " " + full_name(event.job.namespace_, event.job.name);
            else if constexpr (requires { event.root; })
              return "tree " + std::string(event.root);
            else
              return std::string();
          },
          e);
      const bool of_job = !o_.filter.job.empty() && object.ends_with(" " + o_.filter.job);
      if (!o_.filter.workload.empty() && object != o_.filter.workload && !of_job) continue;
      if (shown == o_.lines) {
        ++left_out;
        continue;
      }
      ++shown;
      const auto words = words_for(e, false);
      line(1, object + ": " + std::string(events_kind(e)) + (words.text.empty() ? "" : ", " + words.text));
    }
    if (left_out != 0) line(1, "and " + counted(left_out, "event") + " more");
    if (shown == 0 && !d_.events.empty()) line(1, "no event is about it");
  }

  static std::string_view events_kind(const Event& e) {
    return std::visit([]<class E>(const E&) { return hindsight::events::Fields<E>::table; }, e);
  }

  void cycle() {
    // A tree that has nothing to say is asked or not, as it comes; the record knows nothing of it.
    std::size_t trees = 0;
    for (const TracedTree& t : d_.trace->trees()) {
      if (t.events == 0 && !o_.filter.is_set()) continue;
      if (o_.filter.is_set() && !has_any(t)) continue;
      if (++trees <= o_.lines) tree(t);
    }
    if (trees > o_.lines) line(0, "and " + counted(trees - o_.lines, "tree") + " more");
    if (d_.trace->trees_left_out() != 0) line(0, counted(d_.trace->trees_left_out(), "tree") + " more, of which nothing was noted");
    if (o_.filter.is_set() && trees == 0) line(0, "Nobody whom this decision looked at is meant by " + meant() + ".");
    if (d_.trace->is_cut()) line(0, "Details were left out, because there are too many; name a Workload or a ClusterQueue to see its own.");
  }

  [[nodiscard]] std::string meant() const {
    return o_.filter.workload.empty() ? "clusterqueue/" + o_.filter.cluster_queue : o_.filter.workload;
  }

  [[nodiscard]] bool has_any(const TracedTree& t) const {
    const auto matches = [&](const TracedEntry& e) { return o_.filter.matches(e); };
    const auto is_it = [&](const TracedSecondPass& p) { return p.workload == o_.filter.workload; };
    return std::any_of(t.second_passes.list.begin(), t.second_passes.list.end(), is_it) ||
           std::any_of(t.rounds.begin(), t.rounds.end(),
                       [&](const auto& r) { return std::any_of(r.entries.begin(), r.entries.end(), matches); });
  }

  void tree(const TracedTree& t) {
    std::size_t heads = 0;
    for (const auto& r : t.rounds) heads += r.heads;
    line(0, "Tree " + text(t.root) + ": " + counted(heads, "head") +
                (t.rounds.size() > 1 ? " in " + counted(t.rounds.size(), "round") : "") +
                (t.blocked ? "; nobody may be admitted, because an entry of another tree goes first" : ""));
    if (const auto why = why_not_recorded(d_, t); !why.empty()) line(1, "Of this nothing stands in the record: " + why + ".");
    for (const auto& p : t.second_passes.list)
      line(1, p.workload + (p.failed_nodes ? ", which lost hosts: " : ", which has quota and no places yet: ") +
                  (p.placed ? "it gets places" : p.message));
    if (t.second_passes.left_out != 0) line(1, "and " + std::to_string(t.second_passes.left_out) + " more");
    std::size_t left_out = 0, lines = 0;
    for (std::size_t r = 0; r < t.rounds.size(); ++r) {
      if (t.rounds.size() > 1 && !t.rounds[r].entries.empty()) {
        if (detailed_ >= o_.heads && lines >= o_.lines) {
          left_out += t.rounds[r].heads;
          continue;
        }
        line(1,
             "Round " + std::to_string(r + 1) + (r == 0 ? ":" : ", because all that came out of the one before is that heads are parked:"));
      }
      left_out += t.rounds[r].left_out;
      for (const TracedEntry& e : t.rounds[r].entries) {
        if (o_.filter.is_set() && !o_.filter.matches(e))
          continue;
        else if (detailed_ < o_.heads)
          ++detailed_, entry(t.rounds[r], e, true);
        else if (lines++ < o_.lines)
          entry(t.rounds[r], e, false);
        else
          ++left_out;
      }
    }
    if (left_out != 0) line(1, "and " + counted(left_out, "head") + " more");
  }

  // ---- one head -------------------------------------------------------------------------------------------------------------------

  void entry(const TracedRoundOfHeads& round, const TracedEntry& e, bool detailed) {
    std::string who = std::to_string(round.before + e.turn + 1) + ". " + e.workload + " (ClusterQueue " + text(e.queue) + ", priority " +
                      std::to_string(e.priority) +
                      (e.queue_time.is_set() ? ", waits since " + format_rfc3339_micro(e.queue_time) : std::string()) +
                      "): " + outcome_words(e);
    line(1, who);
    if (!detailed) return;
    if (!e.family.empty())
      line(3, "an Option of " + e.family +
                  (e.for_family ? ", the best one that may get something"
                   : e.follows  ? ", tried because the one before it got nothing"
                                : ""));
    order(e);
    if (!e.detailed) line(3, "what was tried for it was left out");
    for (const auto& n : e.nominations) nomination(n, e.nominations.size() > 1);
    meanwhile(round, e);
    if (!e.victims.list.empty()) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < std::min(o_.candidates, e.victims.list.size()); ++i)
        names.push_back(e.victims.list[i].first + " (" + text(e.victims.list[i].second) + ")");
      const std::size_t more = e.victims.list.size() - names.size() + e.victims.left_out;
      line(3, "preempts: " + joined(names) + (more == 0 ? "" : " and " + std::to_string(more) + " more"));
    }
    if (!e.message.empty()) line(3, "it is told: " + text(e.reason) + (e.reason.empty() ? "" : ": ") + e.message);
  }

  static std::string outcome_words(const TracedEntry& e) {
    std::string out;
    switch (e.kind) {
      case Outcome::Kind::admit:
        out = "gets quota" + level_words(e.level);
        break;
      case Outcome::Kind::migrate:
        out = "takes the place of the Option that runs, which is evicted";
        break;
      case Outcome::Kind::drop:
        return "holds quota already";
      case Outcome::Kind::requeue:
        out = std::string(api_name(e.requeue_reason));
        if (!e.recorded) return out + (e.postponed ? ", left to the next step, because this one is full" : ", as before");
        out += e.to_heap ? ", tried again" : ", parked";
        if (e.parked_with != 0) out += " with " + std::to_string(e.parked_with) + " that ask for the same";
        return out;
    }
    return out + (e.recorded ? "" : e.postponed ? ", left to the next step, because this one is full" : "");
  }

  void order(const TracedEntry& e) {
    if (!e.next.empty()) line(3, "before " + e.next + ": " + order_words(e.by));
    for (const auto& r : e.rounds) {
      const bool exact = !r.next_node.empty() && differ_when_exact(r.share, r.next_share);
      std::string words = r.node + " with it: share " + share_words(r.share, exact) + (r.borrows ? ", borrows" : "");
      if (!r.next_node.empty())
        words += "; before " + r.next_node + (r.next_workload.empty() ? "" : " with " + r.next_workload) + " (share " +
                 share_words(r.next_share, exact) + ")" + (r.others > 1 ? " and " + std::to_string(r.others - 1) + " more" : "") + ": " +
                 order_words(r.by);
      line(3, words);
    }
  }

  void nomination(const TracedNomination& n, bool several) {
    if (several || n.on != TracedNomination::On::present)
      line(3, n.on == TracedNomination::On::present     ? "As the cycle found it:"
              : n.on == TracedNomination::On::projected ? "Again, on what the preemptions before it will leave:"
                                                        : "Again, for other places on the same flavors:");
    std::size_t shown = 0;
    for (const auto& a : n.attempts.list)
      if (shown++ < o_.candidates) attempt(a);
    const std::size_t more = n.attempts.left_out + (shown > o_.candidates ? shown - o_.candidates : 0);
    if (more != 0) line(3, "and " + counted(more, "attempt") + " more");
    if (n.attempts.list.size() + n.attempts.left_out > 1) line(3, "nominated: " + mode_words(n.mode) + level_words(n.level));
  }

  void attempt(const TracedAttempt& a) {
    if (a.with != TracedAttempt::With::all) {
      std::vector<std::string> counts;
      for (const auto& [pod_set, n] : a.counts) counts.push_back(text(pod_set) + " x" + std::to_string(n));
      line(3, (a.with == TracedAttempt::With::fewer_pods ? "with fewer pods, " : "with other sizes, ") + joined(counts) + ":");
    }
    for (const auto& s : a.scans) scan(s, a.scans.size() > 1);
    std::size_t shown = 0;
    for (const auto& s : a.searches.list)
      if (shown++ < o_.candidates) search(s);
    const std::size_t more = a.searches.left_out + (shown > o_.candidates ? shown - o_.candidates : 0);
    if (more != 0) line(3, "and " + counted(more, "search") + " for victims more");
    for (const auto& p : a.places) {
      std::vector<std::string> domains;
      for (const auto& [domain, pods] : p.domains.list) domains.push_back(domain + ": " + std::to_string(pods));
      line(3, (a.mode == AssignmentMode::fit ? "places" : "places after preemption") + std::string(" for pod set ") + text(p.pod_set) +
                  " in flavor " + text(p.flavor) + ": " + first_names(domains));
    }
    if (a.with != TracedAttempt::With::all) line(3, "that " + mode_words(a.mode) + level_words(a.level));
  }

  void scan(const TracedScan& s, bool several) {
    if (!s.resumes_behind.empty()) line(3, "the scan goes on behind flavor " + text(s.resumes_behind) + ", where the last one stopped");
    const std::string pod_sets = several ? " for pod set " + joined(s.pod_sets) : std::string();
    std::size_t shown = 0;
    for (const auto& f : s.flavors.list)
      if (shown++ < o_.candidates) flavor(f, pod_sets);
    const std::size_t more = s.flavors.left_out + (shown > o_.candidates ? shown - o_.candidates : 0);
    if (more != 0) line(3, "and " + counted(more, "flavor") + " more");
    if (!s.chosen.empty() && s.flavors.list.size() > 1) line(3, "chosen" + pod_sets + ": flavor " + text(s.chosen));
  }

  void flavor(const TracedFlavor& f, const std::string& pod_sets) {
    using Verdict = TracedFlavor::Verdict;
    if (f.verdict == Verdict::ruled_out) {
      line(3, (f.flavor.empty() ? "no flavor" : "flavor " + text(f.flavor)) + pod_sets + ": ruled out, " + f.why);
      return;
    }
    line(3, "flavor " + text(f.flavor) + pod_sets + ": " + mode_words(f.mode) + level_words(f.level) +
                (f.verdict == Verdict::taken    ? "; no other is tried behind it"
                 : f.verdict == Verdict::better ? "; the best so far"
                                                : "; not better than what came before") +
                (f.why.empty() ? "" : "; " + f.why));
    for (const auto& r : f.resources)
      line(4, text(r.resource) + " " + amount_text(r.asked, r.resource) + ": " + amount_text(r.offered, r.resource) + " free of at most " +
                  amount_text(r.potential, r.resource) + ", " + mode_words(r.mode) + level_words(r.level));
  }

  void search(const TracedSearch& s) {
    line(3, "victims for " + amounts_words(s.asked) + (s.need.empty() ? "" : " (short of " + amounts_words(s.need) + ")") +
                (s.with_places ? " and for places" : "") + ": " + (s.victims == 0 ? "none that would do" : counted(s.victims, "victim")));
    std::size_t shown = 0;
    for (const auto& c : s.candidates.list) {
      const bool told = shown < o_.candidates || (!o_.filter.workload.empty() && c.workload == o_.filter.workload);
      if (told) line(c.kind == PreemptionStep::Kind::begins ? 4 : 5, candidate_words(c));
      ++shown;
    }
    const std::size_t more = s.candidates.left_out + (shown > o_.candidates ? shown - o_.candidates : 0);
    if (more != 0) line(5, "and " + counted(more, "step") + " more");
    std::size_t groups = 0;
    for (const auto& p : s.passed.list) {
      if (groups++ >= o_.candidates) continue;
      const std::string who = p.workloads == 0   ? p.where
                              : p.workloads == 1 ? p.first + " (" + p.where + ")"
                                                 : p.first + " and " + std::to_string(p.workloads - 1) + " more of " + p.where;
      line(5, who + (p.workloads > 1 ? " are no candidates: " : " is no candidate: ") + passed_words(p.why, p.workloads < 2));
    }
    const std::size_t others = s.passed.left_out + (groups > o_.candidates ? groups - o_.candidates : 0);
    if (others != 0) line(5, "and " + std::to_string(others) + " more groups that are no candidates");
  }

  /// What happened between its nomination and its turn.
  void meanwhile(const TracedRoundOfHeads& round, const TracedEntry& e) {
    if (!e.gives_way_to.empty()) line(3, "it gives way to " + e.gives_way_to);
    if (!e.withheld_for.empty())
      line(3, "it has room, but " + e.withheld_for + ", passed over before it, would preempt it in the next cycle");
    if (!e.shared_victims.list.empty()) line(3, "of its victims these go already for another one: " + first_names(e.shared_victims.list));
    for (std::size_t i = 0; i < e.lacks.size(); ++i) {
      const TracedAmount& lack = e.lacks[i];
      std::vector<std::string> takers;
      for (const TracedEntry& other : round.entries) {
        if (other.turn >= e.turn) break;
        for (const auto& c : other.charged)
          if (c.flavor == lack.flavor && c.resource == lack.resource)
            takers.push_back(other.workload + " (" + amount_text(c.amount, c.resource) + ")");
      }
      line(3, "at its turn " + amount_words(lack) + " no longer fits: " + amount_text(e.lacks_offered[i], lack.resource) + " free" +
                  (takers.empty() ? "" : "; before it took of that: " + first_names(takers)));
    }
    if (e.recomputed != Recomputation::none && e.nominations.empty()) line(3, "it was nominated again after the preemptions before it");
  }

  const Decided& d_;
  const HowOptions& o_;
  std::size_t detailed_ = 0;
  std::string out_;
};

}  // namespace
}  // namespace how_in_words

std::string how_text(const Decided& decided, const HowOptions& options) { return how_in_words::HowText(decided, options).make(); }

}  // namespace hindsight::projections
