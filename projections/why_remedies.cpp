#include <algorithm>
#include <map>
#include <set>

#include "admission/domain/domain.hpp"
#include "projections/format.hpp"
#include "projections/scratch_tree.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using admission::WorkloadInfo;
using Verdict = FlavorTrial::Verdict;

constexpr std::size_t holders_max = 500;  // more are not tried out one by one
constexpr int doublings_max = 12;
constexpr std::int32_t savings_max = 64;  // pods fewer; sizes below are found by halving only

/// What a workload lacks if it goes for one flavor.
struct Plan {
  struct Lack {
    Symbol flavor, resource;
    Amount missing = 0;
    QuotaLine quota;
    /// What single pod sets and several together miss here, ascending: with less than `missing` one of them may go elsewhere and make room.
    std::set<Amount> steps;
  };
  std::vector<Lack> lacks;

  [[nodiscard]] double weight() const {  // of the nominal quota; only for the order of proposals
    double sum = 0;
    for (const auto& l : lacks) sum += static_cast<double>(l.missing) / static_cast<double>(std::max<Amount>(1, l.quota.nominal));
    return sum;
  }
};

/// What fewer pods would spare of a resource, ascending, 0 first: of the pod set with minCount, where there is one (§5.2 c).
std::vector<Amount> savings_of(const WorkloadInfo& workload, const std::vector<FlavorTrial>& trials, Symbol resource) {
  std::vector<Amount> out{0};
  for (const auto& p : workload.pod_sets) {
    if (p.min_count < 0 || p.min_count >= p.count) continue;
    const auto trial = std::find_if(trials.begin(), trials.end(),
                                    [&](const FlavorTrial& t) { return t.pod_set == p.name.text() && t.resource == resource; });
    if (trial == trials.end()) continue;
    const std::int32_t fewer_max = std::min(p.count - p.min_count, savings_max);
    for (std::int32_t fewer = 1; fewer <= fewer_max; ++fewer) out.push_back(multiply(trial->requested / p.count, fewer));
  }
  return out;
}

/// One plan for each flavor: pod sets that it does not match take the first flavor that does.
std::vector<Plan> plans_of(const WorkloadInfo& workload, const std::vector<FlavorTrial>& trials) {
  std::vector<Symbol> flavors;
  for (const auto& t : trials)
    if (t.verdict != Verdict::no_match && std::find(flavors.begin(), flavors.end(), t.flavor) == flavors.end()) flavors.push_back(t.flavor);
  std::vector<Plan> out;
  std::set<std::vector<std::pair<std::string, std::string>>> seen;
  for (const Symbol& wanted : flavors) {
    std::map<std::pair<std::string, std::string>, Plan::Lack> lacks;  // by flavor and resource
    std::set<std::pair<std::string, std::string>> served;             // pod set and resource
    bool possible = true;
    for (const auto& t : trials) served.emplace(t.pod_set, t.resource.text());
    for (const auto& [pod_set, resource] : served) {
      const FlavorTrial* choice = nullptr;
      for (const auto& t : trials) {
        if (t.pod_set != pod_set || t.resource.text() != resource || t.verdict == Verdict::no_match) continue;
        if (choice == nullptr || t.flavor == wanted) choice = &t;
      }
      if (choice == nullptr) {
        possible = false;
        break;
      }
      if (choice->missing == 0) continue;
      auto& lack = lacks[{std::string(choice->flavor.text()), resource}];
      lack.flavor = choice->flavor;
      lack.resource = choice->resource;
      lack.quota = choice->quota;
      lack.missing = std::max(lack.missing, choice->missing);  // that of the last pod set has the earlier ones in it
      for (const Amount saving : savings_of(workload, trials, choice->resource))
        for (const Amount step : {choice->missing - saving, choice->missing - choice->earlier - saving})
          if (step > 0) lack.steps.insert(step);
    }
    if (!possible) continue;
    std::vector<std::pair<std::string, std::string>> key;
    Plan plan;
    for (auto& [pair, lack] : lacks) {
      key.push_back(pair);
      plan.lacks.push_back(std::move(lack));
    }
    if (seen.insert(std::move(key)).second) out.push_back(std::move(plan));
  }
  std::stable_sort(out.begin(), out.end(), [](const Plan& a, const Plan& b) {
    return a.lacks.size() != b.lacks.size() ? a.lacks.size() < b.lacks.size() : a.weight() < b.weight();
  });
  return out;
}

class Trials {
 public:
  Trials(const StateView& state, const WorkloadInfo& workload, Symbol queue) : state_(state), workload_(workload), queue_(queue) {}

  [[nodiscard]] bool fits_with(const std::vector<QuotaEdit>& edits) const {
    auto scratch = ScratchTree::of(state_, queue_, edits);
    return scratch && scratch->fits(workload_);
  }

  /// Raises one kind of limit of a node for all that is lacking; nothing: no such raise lets it in.
  ///
  /// The smallest raise: it lets the workload in without preempting anybody, and with any one of its amounts one unit less, the others as
  /// they are, it does not. There can be more than one such choice: of several limits less of one may cost more of another; and of one
  /// limit more can be worse than less, when the first pod set then takes what the second needs, or preempts instead. Of these it is the
  /// least that gives some pod sets, alone or together, with all or fewer pods, just what they miss. An amount of 0: this limit is high
  /// enough.
  template <class EditOf>
  [[nodiscard]] std::optional<std::vector<Amount>> smallest_raise(const Plan& plan, const EditOf& edit_of) const {
    const auto edits = [&](const std::vector<Amount>& raise) {
      std::vector<QuotaEdit> out;
      for (std::size_t i = 0; i < plan.lacks.size(); ++i) out.push_back(edit_of(plan.lacks[i], raise[i]));
      return out;
    };
    std::vector<Amount> raise;
    for (const auto& l : plan.lacks) raise.push_back(l.missing);
    int doublings = 0;
    while (!fits_with(edits(raise))) {
      if (++doublings > doublings_max) return std::nullopt;
      for (auto& r : raise) r = multiply(r, 2);
    }
    const auto enough = [&](std::size_t i, Amount amount) {
      auto probe = raise;
      probe[i] = amount;
      return fits_with(edits(probe));
    };
    // Less of one may make less of another enough: a second pod set goes for another flavor when the first has less room. So until none
    // can be lowered any more.
    for (bool lowered = true; lowered;) {
      lowered = false;
      for (std::size_t i = 0; i < raise.size(); ++i) {
        if (raise[i] == 0) continue;
        Amount least = raise[i];
        for (const Amount step : plan.lacks[i].steps)
          if (step < least && enough(i, step)) least = step;
        if (enough(i, least - 1)) least = enough(i, 0) ? 0 : least_enough(least - 1, [&](Amount amount) { return enough(i, amount); });
        lowered = lowered || least < raise[i];
        raise[i] = least;
      }
    }
    return raise;
  }

  /// Below this amount, which is enough, one that is enough and of which one unit less is not. 0 is not enough.
  template <class Enough>
  [[nodiscard]] static Amount least_enough(Amount high, const Enough& enough) {
    for (Amount low = 0; low + 1 < high;) {
      const Amount middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    return high;
  }

  /// A small set of workloads whose end would make room.
  [[nodiscard]] std::vector<Holder> enough_to_end(const Plan& plan) const {
    auto scratch = ScratchTree::of(state_, queue_);
    if (!scratch) return {};
    std::map<std::string, Holder> by_uid;
    const auto queues = queues_of_tree(state_, queue_);
    for (const auto& lack : plan.lacks)
      for (auto& h : holders_of(state_, queues, lack.flavor, lack.resource))
        if (workload_.option == nullptr || h.family != workload_.option->family) by_uid.try_emplace(h.uid, h);
    std::vector<Holder> all;
    for (auto& [uid, h] : by_uid) all.push_back(std::move(h));
    std::sort(all.begin(), all.end(), [](const Holder& a, const Holder& b) {
      return std::tie(a.amount, a.priority, a.namespace_, a.name) < std::tie(b.amount, b.priority, b.namespace_, b.name);
    });
    if (all.size() > holders_max) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(holders_max));
    for (const auto& h : all) {  // the smallest single one that is enough
      scratch->release(h);
      const bool enough = scratch->fits(workload_);
      if (enough) return {h};
      scratch->restore(h);
    }
    std::vector<Holder> out;
    for (auto h = all.rbegin(); h != all.rend(); ++h) {  // else the largest first
      scratch->release(*h);
      out.push_back(*h);
      if (scratch->fits(workload_)) break;
    }
    if (!scratch->fits(workload_)) return {};
    for (std::size_t i = out.size(); i-- > 0;) {  // and without those that are not needed after all
      scratch->restore(out[i]);
      if (scratch->fits(workload_)) {
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        scratch->release(out[i]);
      }
    }
    return out;
  }

 private:
  const StateView& state_;
  const WorkloadInfo& workload_;
  Symbol queue_;
};

Remedy raise(Remedy::Kind kind, std::string object, const Plan& plan, const std::vector<Amount>& amounts, const std::vector<Amount>& from) {
  Remedy out{kind, std::move(object), {}, {}};
  for (std::size_t i = 0; i < plan.lacks.size(); ++i) {
    if (amounts[i] == 0) continue;
    out.steps.push_back({plan.lacks[i].flavor, plan.lacks[i].resource, amounts[i], from[i], add(from[i], amounts[i])});
  }
  return out;
}

void add_remedies(const StateView& state, const Trials& trials, Symbol queue, const Plan& plan, std::vector<Remedy>& out) {
  if (auto ending = trials.enough_to_end(plan); !ending.empty()) {
    Remedy free{Remedy::Kind::free, {}, {}, std::move(ending)};
    for (const auto& l : plan.lacks) free.steps.push_back({l.flavor, l.resource, l.missing, 0, 0});
    out.push_back(std::move(free));
  }
  std::vector<Amount> nominal, limit;
  bool limited = true;
  for (const auto& l : plan.lacks) {
    nominal.push_back(l.quota.nominal);
    limit.push_back(l.quota.borrowing_limit.value_or(0));
    limited = limited && l.quota.borrowing_limit.has_value();
  }
  const std::string object = "ClusterQueue " + std::string(queue.text());
  if (limited) {
    const auto amounts = trials.smallest_raise(plan, [&](const Plan::Lack& l, Amount by) {
      return QuotaEdit{queue, false, l.flavor, l.resource, {}, add(l.quota.borrowing_limit.value_or(0), by)};
    });
    if (amounts) out.push_back(raise(Remedy::Kind::raise_borrowing_limit, object, plan, *amounts, limit));
  }
  const auto amounts = trials.smallest_raise(
      plan, [&](const Plan::Lack& l, Amount by) { return QuotaEdit{queue, false, l.flavor, l.resource, add(l.quota.nominal, by), {}}; });
  if (amounts) out.push_back(raise(Remedy::Kind::raise_nominal, object, plan, *amounts, nominal));

  // a cohort above that has quota of its own for all of it
  for (const Symbol& cohort : cohorts_above(state, queue)) {
    const auto lines = quota_of_cohort(state, cohort);
    const auto& catalog = *state.domain().catalog();
    const auto config = catalog.cohorts.find(cohort);
    if (config == catalog.cohorts.end() || config->second->groups.empty()) continue;
    std::vector<Amount> own;
    for (const auto& l : plan.lacks)
      for (const auto& line : lines)
        if (line.flavor == l.flavor && line.resource == l.resource) own.push_back(line.nominal);
    if (own.size() != plan.lacks.size()) continue;
    const auto by = trials.smallest_raise(plan, [&](const Plan::Lack& l, Amount extra) {
      for (std::size_t i = 0; i < plan.lacks.size(); ++i)
        if (plan.lacks[i].flavor == l.flavor && plan.lacks[i].resource == l.resource)
          return QuotaEdit{cohort, true, l.flavor, l.resource, add(own[i], extra), {}};
      return QuotaEdit{cohort, true, l.flavor, l.resource, {}, {}};
    });
    if (!by) continue;
    out.push_back(raise(Remedy::Kind::raise_cohort, "Cohort " + std::string(cohort.text()), plan, *by, own));
    break;
  }
}

/// All of a few; of many the first ones, and how many more.
std::string names_of(const std::vector<Holder>& holders) {
  constexpr std::size_t all_of = 10;
  std::vector<std::string> names;
  for (const auto& h : holders) names.push_back(full_name(h.namespace_, h.name));
  return names.size() <= all_of ? joined(names) : first_names(names);
}

std::string pair_text(const Remedy::Step& s) { return std::string(s.resource.text()) + " in flavor " + std::string(s.flavor.text()); }

}  // namespace

std::vector<Remedy> find_remedies(const StateView& state, const WorkloadInfo& workload, const Symbol& cluster_queue,
                                  const std::vector<FlavorTrial>& trials) {
  std::vector<Remedy> out;
  const Trials tries(state, workload, cluster_queue);
  if (tries.fits_with({})) {
    out.push_back({Remedy::Kind::fits_now, {}, {}, {}});
    return out;
  }
  for (const auto& plan : plans_of(workload, trials)) {
    if (plan.lacks.empty()) continue;
    add_remedies(state, tries, cluster_queue, plan, out);
  }
  return out;
}

std::string remedy_text(const Remedy& r) {
  std::vector<std::string> parts;
  switch (r.kind) {
    case Remedy::Kind::fits_now:
      return "it fits now: it only has to be tried";
    case Remedy::Kind::free: {
      for (const auto& s : r.steps) parts.push_back(amount_text(s.amount, s.resource) + " of " + pair_text(s));
      if (parts.empty()) return "if " + names_of(r.ending) + " ended";
      return "if " + joined(parts, " and ") + " got free, for instance by the end of " + names_of(r.ending);
    }
    case Remedy::Kind::raise_nominal:
    case Remedy::Kind::raise_cohort:
      for (const auto& s : r.steps)
        parts.push_back("nominalQuota of " + pair_text(s) + " were " + amount_text(s.to, s.resource) + " instead of " +
                        amount_text(s.from, s.resource));
      return "if in " + r.object + " the " + joined(parts, " and ");
    case Remedy::Kind::raise_borrowing_limit:
      for (const auto& s : r.steps)
        parts.push_back("borrowingLimit of " + pair_text(s) + " were " + amount_text(s.to, s.resource) + " instead of " +
                        amount_text(s.from, s.resource));
      return "if in " + r.object + " the " + joined(parts, " and ");
    case Remedy::Kind::free_places:
      return "if places got free, for instance by the end of " + names_of(r.ending);
    case Remedy::Kind::fewer_pods:
      return "if pod set " + r.pod_set + " had " + r.to + (r.to == "1" ? " pod instead of " : " pods instead of ") + r.from;
    case Remedy::Kind::looser_level:
      return "if pod set " + r.pod_set + " asked for " + r.to + " instead of " + r.from;
    case Remedy::Kind::more_nodes:
      return "if there " +
             std::string(r.nodes == 1 ? "was one more empty node like " : "were " + std::to_string(r.nodes) + " more empty nodes like ") +
             r.from + " in " + r.to;
    case Remedy::Kind::resume:
      return "if " + r.object + " were not stopped (stopPolicy None)";
    case Remedy::Kind::leave:
      return "if " + names_of(r.ending) + " did not wait before it";
    case Remedy::Kind::min_count:
      return "if pod set " + r.pod_set + " could start with " + r.to + (r.to == "1" ? " pod" : " pods") + " (minCount " + r.to +
             " instead of " + r.from + ")";
    case Remedy::Kind::priority:
      return "if its priority were " + r.to + " instead of " + r.from +
             (r.object.empty() ? std::string(", which no WorkloadPriorityClass has") : ", as with " + r.object);
    case Remedy::Kind::change_policy:
    case Remedy::Kind::change_strategy:
      for (const auto& s : r.policy.settings) parts.push_back(s.setting + " were " + s.to + " instead of " + s.from);
      return "if in " + r.object + " " + joined(parts, " and ");
  }
  return {};
}

}  // namespace hindsight::projections
