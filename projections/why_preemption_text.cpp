// What why_preemption.cpp found, for people and as JSON.

#include <nlohmann/json.hpp>

#include "admission/model/catalog.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/share_words.hpp"
#include "projections/why_preemption.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;

const char* spared_name(SparedBy by) {
  switch (by) {
    case SparedBy::within_never:
      return "withinClusterQueueNever";
    case SparedBy::within_priority:
      return "withinClusterQueuePriority";
    case SparedBy::reclaim_never:
      return "reclaimWithinCohortNever";
    case SparedBy::reclaim_priority:
      return "reclaimWithinCohortPriority";
    case SparedBy::queue_inactive:
      return "clusterQueueInactive";
    case SparedBy::within_nominal:
      return "withinNominalQuota";
    case SparedBy::nominal_by_then:
      return "withinNominalQuotaByThen";
    case SparedBy::borrow_never:
      return "borrowWithinCohortNever";
    case SparedBy::borrow_priority:
      return "borrowWithinCohortPriority";
    case SparedBy::borrow_threshold:
      return "borrowWithinCohortThreshold";
    case SparedBy::shares:
      return "fairSharing";
    case SparedBy::left_alone:
      return "repeatedPreemptions";
    case SparedBy::not_needed:
      return "notNeeded";
  }
  return "";
}

std::string priorities_words(const SparedGroup& g, std::int64_t own) {
  const std::string whose = g.workloads == 1 ? "its " : "their ";
  const std::string theirs = g.lowest == g.highest
                                 ? whose + "priority is " + std::to_string(g.lowest)
                                 : whose + "priorities are " + std::to_string(g.lowest) + " to " + std::to_string(g.highest);
  return theirs + ", that of the preemptor " + std::to_string(own);
}

/// Of a policy that goes by priority.
std::string policy_words(std::string_view setting, PreemptionPolicy policy, const SparedGroup& g, std::int64_t own) {
  std::string out = std::string(setting) + " is " + std::string(events::api_name(policy)) + ", and " + priorities_words(g, own);
  if (policy == PreemptionPolicy::lower_or_newer_equal_priority && g.lowest <= own)
    out += ", and of the same priority only newer ones may be";
  return out;
}

std::string spared_words(const SparedGroup& g, const QueueConfig& queue, std::int64_t own) {
  const std::string of_queue = " of ClusterQueue " + text(queue.name);
  const std::string borrows = "it would have to borrow, and borrowWithinCohort" + of_queue + " is ";
  const bool one = g.where.size() == 1;
  switch (g.by) {
    case SparedBy::within_never:
      return "withinClusterQueue" + of_queue + " is Never";
    case SparedBy::within_priority:
      return policy_words("withinClusterQueue", queue.within_cluster_queue, g, own);
    case SparedBy::reclaim_never:
      return "reclaimWithinCohort" + of_queue + " is Never";
    case SparedBy::reclaim_priority:
      return policy_words("reclaimWithinCohort", queue.reclaim_within_cohort, g, own);
    case SparedBy::queue_inactive:
      return first_names(g.where) + (one ? " is not active" : " are not active");
    case SparedBy::within_nominal:
      return first_names(g.where) + (one ? " holds no more than its nominal quota" : " hold no more than their nominal quota");
    case SparedBy::nominal_by_then:
      return first_names(g.where) +
             (one ? " would hold no more than its nominal quota by then" : " would hold no more than their nominal quota by then");
    case SparedBy::borrow_never:
      return borrows + "Never";
    case SparedBy::borrow_priority:
      return borrows + std::string(events::api_name(queue.borrow_within_cohort)) + ", and " + priorities_words(g, own);
    case SparedBy::borrow_threshold:
      return "it would have to borrow, and maxPriorityThreshold" + of_queue + " is " +
             std::to_string(queue.max_priority_threshold.value_or(0)) + ", and " + priorities_words(g, own);
    case SparedBy::shares:
      return "the shares speak against it";
    case SparedBy::left_alone:
      return "preempted again and again, and left alone until something else changes";
    case SparedBy::not_needed:
      return g.workloads == 1 ? "there is room without it" : "there is room without them";
  }
  return {};
}

std::string resource_words(const ResourceAmounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [resource, amount] : amounts) parts.push_back(amount_text(amount, resource) + " of " + text(resource));
  return joined(parts, " and ");
}

std::string flavor_words(const FlavorPreemption& f) {
  ResourceAmounts needed, held, freed;
  bool differs = false;
  for (const auto& n : f.needs) {
    needed.emplace_back(n.resource, n.needed);
    held.emplace_back(n.resource, n.held);
    freed.emplace_back(n.resource, n.freed);
    differs = differs || n.held != n.freed;
  }
  const std::string needs = resource_words(needed) + " are needed";
  const std::string head = "flavor " + text(f.flavor) + ": ";
  if (f.candidates == 0) return head + "nobody may be preempted; " + needs;
  const std::string who = f.candidates == 1 ? "the only one that may be preempted holds "
                                            : (f.enough ? std::to_string(f.candidates) : "all " + std::to_string(f.candidates)) +
                                                  " that may be preempted hold ";
  return head + who + resource_words(held) + "; " +
         (differs && !f.enough ? resource_words(freed) + " would come free by that, " : std::string()) + needs;
}

std::string comparison_words(const ShareComparison& c) {
  const bool initial = c.strategy == "LessThanInitialShare";
  const Share& against = initial || !c.other_after ? c.other_before : *c.other_after;
  // As the status has it, rounded up, unless this would hide a difference that decides.
  const bool exact = differ_when_exact(c.preemptor_after, against);
  const auto words = [&](const Share& s) { return share_words(s, exact); };
  std::string out = c.strategy + ", " + c.candidate;
  if (c.workloads > 1) out += " and " + std::to_string(c.workloads - 1) + " more of ClusterQueue " + text(c.queue);
  out += ": " + c.preemptor + " " + words(c.preemptor_before) + " -> " + words(c.preemptor_after) + ", " + c.other + " " +
         words(c.other_before) + (c.other_after ? " -> " + words(*c.other_after) : std::string()) + ": ";
  if (!c.other_after) return out + "spared, because the share of the preemptor would be infinite";
  const std::string mine = words(c.preemptor_after) + " is ";
  if (c.allowed) return out + "may be preempted, " + mine + (initial ? "less than " : "at most ") + words(against);
  return out + "spared, " + mine + (initial ? "not less than " : "more than ") + words(against);
}

std::string victim_words(std::size_t number, const VictimInOrder& v) {
  std::vector<std::string> amounts;
  for (const auto& [pair, amount] : v.amounts)
    amounts.push_back(text(pair.first) + "/" + text(pair.second) + " " + amount_text(amount, pair.second));
  std::string out = std::to_string(number) + ". " + v.name + " (ClusterQueue " + text(v.queue) + ", priority " +
                    std::to_string(v.priority) + (amounts.empty() ? "" : ", " + joined(amounts)) +
                    "): " + (v.needed ? v.reason : std::string("there is room without it after all"));
  if (!v.next.empty()) out += "; before " + v.next + ", because " + v.ahead;
  return out;
}

Json share_json(const Share& before, const std::optional<Share>& after) {
  Json out{{"before", before.rounded()}};
  if (after) out["after"] = after->rounded();
  return out;
}

}  // namespace

std::vector<std::string> preemption_lines(const PreemptionReport& report, const QueueConfig& queue, std::int64_t priority) {
  std::vector<std::string> out;
  for (const auto& f : report.flavors) {
    out.push_back(flavor_words(f));
    if (f.enough && report.victims.empty())
      out.emplace_back("  of quota in this flavor that is enough, but not of all that it asks for at once");
    if (f.entitled)
      out.push_back("  shares need not be compared: with what it asks for ClusterQueue " + text(queue.name) +
                    " stays within its nominal quota");
    for (const auto& g : f.spared) {
      const bool one = g.workloads == 1;
      out.push_back("  " + counted(g.workloads, "workload") + (one ? " that holds " : " that hold ") + resource_words(g.held) +
                    (one ? " is spared: " : " are spared: ") + spared_words(g, queue, priority));
    }
    if (!f.shares.empty()) out.emplace_back("  shares that were compared, before -> after:");
    for (const auto& c : f.shares) out.push_back("    " + comparison_words(c));
  }
  if (!report.victims.empty()) out.emplace_back("victims, in the order in which they are looked at:");
  for (std::size_t i = 0; i < report.victims.size(); ++i) out.push_back("  " + victim_words(i + 1, report.victims[i]));
  return out;
}

Json to_json(const PreemptionReport& report) {
  Json out{{"flavors", Json::array()}, {"victims", Json::array()}};
  for (const auto& f : report.flavors) {
    Json one{{"flavor", f.flavor.text()}, {"candidates", f.candidates}, {"enough", f.enough}};
    if (f.entitled) one["withinNominalQuota"] = true;
    for (const char* list : {"needs", "spared", "shares"}) one[list] = Json::array();
    for (const auto& n : f.needs)
      one["needs"].push_back({{"resource", n.resource.text()},
                              {"needed", amount_text(n.needed, n.resource)},
                              {"held", amount_text(n.held, n.resource)},
                              {"freed", amount_text(n.freed, n.resource)}});
    for (const auto& g : f.spared) {
      Json held = Json::object();
      for (const auto& [resource, amount] : g.held) held[text(resource)] = amount_text(amount, resource);
      one["spared"].push_back({{"by", spared_name(g.by)},
                               {"workloads", g.workloads},
                               {"held", std::move(held)},
                               {"lowestPriority", g.lowest},
                               {"highestPriority", g.highest},
                               {"where", g.where}});
    }
    for (const auto& c : f.shares)
      one["shares"].push_back({{"strategy", c.strategy},
                               {"clusterQueue", c.queue.text()},
                               {"workload", c.candidate},
                               {"workloads", c.workloads},
                               {"preemptor", c.preemptor},
                               {"preemptorShare", share_json(c.preemptor_before, c.preemptor_after)},
                               {"other", c.other},
                               {"otherShare", share_json(c.other_before, c.other_after)},
                               {"allowed", c.allowed}});
    out["flavors"].push_back(std::move(one));
  }
  for (const auto& v : report.victims) {
    Json one{{"workload", v.name}, {"clusterQueue", v.queue.text()}, {"priority", v.priority}, {"needed", v.needed}};
    if (v.needed) one["reason"] = v.reason;
    one["amounts"] = Json::array();
    for (const auto& [pair, amount] : v.amounts)
      one["amounts"].push_back(
          {{"flavor", pair.first.text()}, {"resource", pair.second.text()}, {"amount", amount_text(amount, pair.second)}});
    if (!v.next.empty()) one["before"] = {{"workload", v.next}, {"because", v.ahead}};
    out["victims"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hindsight::projections
