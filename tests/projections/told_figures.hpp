#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/domain/loop_driver.hpp"
#include "projections/objects.hpp"
#include "projections/quota_report.hpp"
#include "projections/quota_totals.hpp"
#include "tests/projections/plain_tree.hpp"

namespace hindsight::projections {

/// Figures that `-o json` says of queues, of cohorts and of what a Workload asks for, held against a plain computation. Each check returns
/// what is wrong; empty: nothing is.
class ToldFigures {
 public:
  using Pair = PlainTree::Pair;
  using Info = admission::WorkloadInfo;

  /// How much there was to look at.
  struct Looked {
    std::size_t sums = 0, cohort_sums = 0, deep = 0, users = 0, cut_lists = 0;
  } looked;

  static Amount amount(const Json& quantity, const std::string& resource) {
    return parse_quantity(quantity.get<std::string>(), resource).value();
  }
  static Pair pair_of(const Json& j) { return {j["flavor"].get<std::string>(), j["resource"].get<std::string>()}; }
  static std::string differs(const std::string& what, Amount told, Amount wanted) {
    return told == wanted ? std::string() : what + " is said to be " + std::to_string(told) + ", and is " + std::to_string(wanted);
  }

  // ---- sums -----------------------------------------------------------------------------------------------------------------------

  std::string check_sums(const admission::LoopDriver& state, const PlainTree& tree) {
    const auto& catalog = *state.domain().catalog();
    for (const auto& [name, config] : catalog.queues)
      if (const std::string n = "ClusterQueue " + std::string(name.text()); tree.nodes.contains(n))
        if (auto finding = check_lines(cluster_queue_object(state, *config)["status"]["hindsight"]["quota"], tree, n); !finding.empty())
          return n + ": " + finding;
    std::size_t nodes = catalog.queues.size();
    for (const Symbol& name : all_cohorts(state)) {
      ++nodes;
      const std::string n = "Cohort " + std::string(name.text());
      if (!tree.nodes.contains(n) || tree_of_cohort(state, name) == nullptr) continue;  // nobody is below it
      if (auto finding = check_lines(cohort_object(state, name)["status"]["hindsight"]["quota"], tree, n); !finding.empty())
        return n + ": " + finding;
      ++looked.cohort_sums;
      const auto below = tree.below(n);
      looked.deep += !tree.is_root(n) && !below.empty() ? 1 : 0;
    }
    if (nodes != tree.nodes.size()) return {};  // some stand above no tree
    for (const auto& total : quota_totals(state)) {
      const Pair p{std::string(total.flavor.text()), std::string(total.resource.text())};
      Amount nominal = 0, used = 0;
      for (const auto& [n, node] : tree.nodes) {
        nominal += tree.limits(n, p).nominal;
        if (node.is_queue && node.limits.contains(p)) used += tree.usage(n, p);
      }
      for (auto& finding : {differs("all nominal quota", total.nominal, nominal), differs("all that is used", total.used, used)})
        if (!finding.empty()) return p.first + "/" + p.second + ": " + finding;
    }
    return {};
  }

  std::string check_lines(const Json& lines, const PlainTree& tree, const std::string& n) {
    std::set<Pair> told;
    const auto below = tree.below(n);
    for (const auto& line : lines) {
      const Pair p = pair_of(line);
      told.insert(p);
      Amount unused = 0;
      for (const auto& other : below) unused += tree.local_available(other, p);
      const Amount nominal = tree.nominal_with_all_below(n, p), subtree = tree.subtree(n, p);
      const Amount guaranteed = tree.is_root(n) ? nominal : nominal - (subtree - tree.local(n, p));
      const Amount maximum = nominal + tree.potential(n, p) - subtree;
      const std::vector<std::pair<const char*, Amount>> figures{
          {"nominal", nominal},
          {"used", tree.used_by_all_below(n, p)},
          {"borrowed", tree.is_root(n) ? 0 : std::max<Amount>(0, tree.usage(n, p) - subtree)},
          {"available", std::max<Amount>(0, tree.available(n, p) + unused)},
          {"maximum", maximum},
          {"guaranteed", guaranteed},
          {"lendable", nominal - guaranteed},
          {"borrowable", maximum - nominal}};
      for (const auto& [figure, wanted] : figures)
        if (auto finding = differs(p.first + "/" + p.second + " " + figure, amount(line[figure], p.second), wanted); !finding.empty())
          return finding;
      if (line.contains("own"))
        if (auto finding = differs("own quota", amount(line["own"], p.second), tree.limits(n, p).nominal); !finding.empty()) return finding;
      ++looked.sums;
    }
    for (const auto& p : tree.pairs())
      if (!told.contains(p) && (tree.used_by_all_below(n, p) != 0 || tree.nominal_with_all_below(n, p) != 0))
        return "nothing is said of " + p.first + "/" + p.second;
    return {};
  }

  // ---- of one Workload ------------------------------------------------------------------------------------------------------------

  std::string check_quota(const Json& told, const PlainTree& tree, const Info& w, const std::string& queue) {
    for (const auto& line : told) {
      const Pair p = pair_of(line);
      const std::string& resource = p.second;
      Amount requested = 0, earlier = 0;
      bool found = false;
      for (const auto& pod_set : *w.pod_sets) {
        if (found) break;
        earlier += requested;
        requested = 0;
        for (const auto& r : pod_set.requests)
          if (r.resource.text() == resource) requested += r.amount * pod_set.count;
        found = pod_set.name.text() == line["podSet"].get<std::string>();
      }
      const bool plain = w.replaces == admission::no_workload;  // a slice is charged the difference
      if (plain)
        if (auto f = differs("what is asked for", amount(line["requested"], resource), requested); !f.empty()) return f;
      if (plain && line["verdict"] != "noMatch")
        if (auto f = differs("what earlier pod sets ask for", amount(line.value("earlierPodSets", Json("0")), resource), earlier);
            !f.empty())
          return f;
      const Amount wanted = amount(line["requested"], resource) + amount(line.value("earlierPodSets", Json("0")), resource);
      const Amount usage = tree.usage(queue, p), nominal = tree.limits(queue, p).nominal;
      for (const auto& [figure, is] : std::initializer_list<std::pair<const char*, Amount>>{
               {"nominal", nominal},
               {"used", usage},
               {"borrowed", tree.is_root(queue) ? 0 : std::max<Amount>(0, usage - nominal)},
               {"available", tree.offered(queue, p)},
               {"maximum", tree.potential(queue, p)}})
        if (auto f = differs(p.first + "/" + resource + " " + figure, amount(line[figure], resource), is); !f.empty()) return f;
      if (line["verdict"] == "noMatch") continue;
      const std::string verdict = wanted > tree.potential(queue, p)     ? "exceedsMaximum"
                                  : wanted > tree.offered(queue, p)     ? "short"
                                  : tree.borrows_with(queue, p, wanted) ? "fitsBorrowing"
                                                                        : "fits";
      if (line["verdict"] != verdict) return "the verdict on " + p.first + "/" + resource + " is " + verdict + ": " + line.dump();
      const Amount missing = std::max<Amount>(0, wanted - tree.offered(queue, p));
      if (auto f = differs("what is missing", amount(line.value("missing", Json("0")), resource), missing); !f.empty()) return f;
    }
    return {};
  }

  /// Who uses it: whole sums, the largest first, and how many more there are.
  std::string check_users(const Json& told, const PlainTree& tree, const std::string& queue) {
    for (const auto& u : told) {
      const Pair p = pair_of(u);
      std::map<std::string, Amount> own, others;
      Amount in_queue = 0, in_tree = 0;
      for (const auto& h : tree.held) {
        const auto it = h.amounts.find(p);
        if (it == h.amounts.end() || it->second == 0 || tree.root_of(h.queue) != tree.root_of(queue)) continue;
        (h.queue == queue ? own : others)[h.name + h.queue] = it->second;
        if (h.queue == queue) in_queue += it->second;
        in_tree += it->second;
      }
      for (auto& f : {differs("use in its queue", amount(u["inQueue"], p.second), in_queue),
                      differs("use in its cohort", amount(u["inCohort"], p.second), in_tree), check_list(u["own"], u["ownLeftOut"], own, p),
                      check_list(u["others"], u["othersLeftOut"], others, p)})
        if (!f.empty()) return f;
      ++looked.users;
    }
    return {};
  }
  std::string check_list(const Json& list, const Json& left_out, std::map<std::string, Amount> all, const Pair& p) {
    if (list.size() + left_out.get<std::size_t>() != all.size()) return "of those who use it not all are counted: " + list.dump();
    std::optional<Amount> last;
    for (const auto& one : list) {
      const auto it = all.find(one["workload"].get<std::string>() + "ClusterQueue " + one["clusterQueue"].get<std::string>());
      if (it == all.end() || it->second != amount(one["amount"], p.second)) return "it does not hold that: " + one.dump();
      if (last && it->second > *last) return "larger ones come later: " + list.dump();
      last = it->second;
      all.erase(it);
    }
    for (const auto& [name, amount] : all)
      if (last && amount > *last) return name + " holds more and is left out: " + list.dump();
    looked.cut_lists += all.empty() ? 0 : 1;
    return {};
  }
};

}  // namespace hindsight::projections
