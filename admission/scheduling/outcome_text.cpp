#include "admission/scheduling/outcome_text.hpp"

#include <algorithm>
#include <vector>

#include "admission/model/catalog.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::admission {
namespace {

std::string_view effect_name(TaintEffect e) {
  switch (e) {
    case TaintEffect::no_schedule:
      return "NoSchedule";
    case TaintEffect::prefer_no_schedule:
      return "PreferNoSchedule";
    case TaintEffect::no_execute:
      return "NoExecute";
    case TaintEffect::unspecified:
      return "";
  }
  return "";
}

std::string_view why(VictimReason r) {
  switch (r) {
    case VictimReason::in_cluster_queue:
      return "prioritization in the ClusterQueue";
    case VictimReason::in_cohort_reclamation:
      return "reclamation within the cohort";
    case VictimReason::in_cohort_fair_sharing:
      return "Fair Sharing within the cohort";
    case VictimReason::in_cohort_reclaim_while_borrowing:
      return "reclamation within the cohort while borrowing";
  }
  return "UNKNOWN";
}

std::string_view known(std::string_view text) { return text.empty() ? "UNKNOWN" : text; }

template <class... Parts>
std::string joined(const Parts&... parts) {
  std::string out;
  out.reserve((std::string_view(parts).size() + ...));
  (out.append(std::string_view(parts)), ...);
  return out;
}

}  // namespace

Symbol reason_symbol(NoFitReason r) {
  switch (r) {
    case NoFitReason::topology_placement_failed:
      return reason::topology_placement_failed;
    case NoFitReason::waiting_for_quota:
      return reason::waiting_for_quota;
    case NoFitReason::exceeds_max_quota:
      return reason::exceeds_max_quota;
    case NoFitReason::no_matching_flavor:
    case NoFitReason::none:
      return reason::no_matching_flavor;
  }
  return reason::no_matching_flavor;
}

Symbol reason_symbol(VictimReason r) {
  static const Symbol in_cluster_queue("InClusterQueue");
  static const Symbol in_cohort_reclamation("InCohortReclamation");
  static const Symbol in_cohort_fair_sharing("InCohortFairSharing");
  static const Symbol in_cohort_reclaim_while_borrowing("InCohortReclaimWhileBorrowing");
  switch (r) {
    case VictimReason::in_cluster_queue:
      return in_cluster_queue;
    case VictimReason::in_cohort_reclamation:
      return in_cohort_reclamation;
    case VictimReason::in_cohort_fair_sharing:
      return in_cohort_fair_sharing;
    case VictimReason::in_cohort_reclaim_while_borrowing:
      return in_cohort_reclaim_while_borrowing;
  }
  return in_cluster_queue;
}

std::string text_of(const Finding& f) {
  const std::string_view resource = f.resource.text();
  const std::string_view flavor = f.flavor.text();
  const auto amount = [&](Amount a) { return format_amount(a, resource); };
  switch (f.kind) {
    case Finding::Kind::resource_unavailable:
      return joined("resource ", resource, " unavailable in ClusterQueue");
    case Finding::Kind::not_nominated:
      return joined("skipping flavor ", flavor, " as it is not found in the nomination mapping for resource ", resource);
    case Finding::Kind::flavor_not_found:
      return joined("flavor ", flavor, " not found");
    case Finding::Kind::untolerated_taint:
      // The form in which Kueue prints a taint: key, value, effect, time added (never set on a flavor).
      return joined("untolerated taint {", f.taint->key, " ", f.taint->value, " ", effect_name(f.taint->effect), " <nil>} in flavor ",
                    flavor);
    case Finding::Kind::affinity_mismatch:
      return joined("flavor ", flavor, " doesn't match node affinity");
    case Finding::Kind::exceeds_potential:
      return joined("insufficient quota for ", resource, " in flavor ", flavor, ", previously considered podsets requests (", amount(f.a),
                    ") + current podset request (", amount(f.b), ") > maximum capacity (", amount(f.c), ")");
    case Finding::Kind::insufficient_unused:
      if (f.b > 0)  // EJ-37
        return joined("insufficient unused quota for ", resource, " in flavor ", flavor, ", ", amount(f.a), " more needed (total ",
                      amount(f.b), " > maximum capacity ", amount(f.c), ")");
      return joined("insufficient unused quota for ", resource, " in flavor ", flavor, ", ", amount(f.a), " more needed");
    case Finding::Kind::other_flavor:
      return joined("could not assign ", flavor, " flavor since the original workload is assigned: ", f.original.text());
    case Finding::Kind::no_topology:
      return joined("Flavor \"", flavor, "\" does not support TopologyAwareScheduling");
    case Finding::Kind::only_topology:
      return joined("Flavor \"", flavor, "\" supports only TopologyAwareScheduling");
    case Finding::Kind::level_missing:
      return joined("Flavor \"", flavor, "\" does not contain the requested level");
    case Finding::Kind::topology_missing:
      return joined("Flavor \"", flavor, "\" information missing in TAS cache");
    case Finding::Kind::no_placement:
      return *f.text;
    case Finding::Kind::not_allowed:
      return joined("skipping flavor ", flavor, " due to WorkloadAllowedResourceFlavorAnnotation annotation");
    case Finding::Kind::upgrade_borrows:
      return joined("flavor ", flavor, " has room only by borrowing ", resource,
                    ", which upgradeFungibility NoBorrowing rules out while another Option is admitted");
    case Finding::Kind::upgrade_preempts:
      return joined("flavor ", flavor, " has room only by preemption",
                    ", which upgradeFungibility NoPreemption rules out while another Option is admitted");
  }
  return {};
}

std::string assignment_message(const WorkloadInfo& workload, const Assignment& assignment) {
  std::string out;
  std::vector<std::string> texts;
  for (const PodSetAssignment& p : assignment.pod_sets) {
    if (p.mode == AssignmentMode::fit) continue;
    if (!out.empty()) out += "; ";
    out += "couldn't assign flavors to pod set ";
    out += workload.pod_sets[p.pod_set].name.text();
    out += ": ";
    texts.clear();
    for (const Finding& f : p.findings) texts.push_back(text_of(f));
    std::sort(texts.begin(), texts.end());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) out += ", ";
      out += texts[i];
    }
  }
  return out;
}

std::string left_alone_message(std::size_t victims) {
  if (victims == 0) return {};
  return ". Not preempting " + std::to_string(victims) + " workload(s) again, which came back each time, before something else changes";
}

std::string replaced_message(std::string_view uid, std::string_view job_uid) {
  return joined("Replaced to accommodate a workload (UID: ", known(uid), ", JobUID: ", known(job_uid),
                ") due to workload slice aggregation");
}

std::string migrated_message(std::string_view uid) {
  return joined("Evicted to accommodate a workload (UID: ", known(uid), ") due to migration to more favorable resource flavor");
}

std::string preempted_message(const WorkloadInfo& preemptor, VictimReason reason, std::string_view preemptor_path,
                              std::string_view victim_path) {
  return joined("Preempted to accommodate a workload (UID: ", known(preemptor.uid), ", JobUID: ", known(preemptor.job_uid), ") due to ",
                why(reason), "; preemptor path: ", known(preemptor_path), "; preemptee path: ", known(victim_path));
}

}  // namespace hindsight::admission
