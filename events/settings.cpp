#include "events/settings.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "vocabulary/amount.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::events {
namespace {

using admission::Settings;
using nlohmann::json;

/// Walks the document and remembers the first complaint.
class Reader {
 public:
  explicit Reader(Settings& s) : settings_(s) {}

  void read(const json& root) {
    if (!expect_object(root, "")) return;
    if (const auto own_namespace = root.find("namespace"); own_namespace != root.end() && own_namespace->is_string())
      settings_.managed_jobs_namespaces.front().values = {"kube-system", own_namespace->get<std::string>()};
    for (const auto& [key, value] : root.items()) {
      if (key == "fairSharing")
        fair_sharing(value);
      else if (key == "waitForPodsReady")
        pods_ready(value);
      else if (key == "resources")
        resources(value);
      else if (key == "featureGates")
        gates(value);
      else if (key == "manageJobsWithoutQueueName")
        boolean(value, key, settings_.manage_jobs_without_queue_name);
      else if (key == "managedJobsNamespaceSelector")
        managed_namespaces(value);
      else if (key == "admissionFairSharing")
        admission_fair_sharing(value);
      else if (key == "objectRetentionPolicies")
        retention(value);
      else if (key == "hindsight")
        own(value);
      else if (!is_foreign(key))
        complain(key, "unknown field", "a field of config.kueue.x-k8s.io/v1beta2 Configuration");
    }
    if (!admission_fair_sharing_) settings_.admission_fair_sharing.reset();
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  static bool is_foreign(std::string_view key) {
    static constexpr std::array<std::string_view, 15> names = {"apiVersion",
                                                               "kind",
                                                               "metadata",
                                                               "namespace",
                                                               "webhook",
                                                               "metrics",
                                                               "health",
                                                               "leaderElection",
                                                               "controller",
                                                               "tls",
                                                               "internalCertManagement",
                                                               "clientConnection",
                                                               "integrations",
                                                               "multiKueue",
                                                               "visibilityServer"};
    return std::find(names.begin(), names.end(), key) != names.end();
  }

  void complain(const std::string& path, const std::string& found, const std::string& allowed) {
    if (complaint_.empty())
      complaint_ = "configuration: " + (path.empty() ? std::string("document") : path) + ": " + found + "; allowed: " + allowed;
  }
  bool expect_object(const json& v, const std::string& path) {
    if (v.is_object()) return true;
    complain(path, std::string("found ") + v.type_name(), "an object");
    return false;
  }
  void boolean(const json& v, const std::string& path, bool& out) {
    if (v.is_boolean())
      out = v.get<bool>();
    else
      complain(path, "found " + v.dump(), "true or false");
  }
  void integer(const json& v, const std::string& path, std::int32_t& out) {
    if (v.is_number_integer() && v.get<std::int64_t>() >= 0 && v.get<std::int64_t>() <= 2147483647)
      out = v.get<std::int32_t>();
    else
      complain(path, "found " + v.dump(), "a whole number from 0 to 2147483647");
  }
  void duration(const json& v, const std::string& path, Duration& out, bool positive) {
    if (v.is_string())
      if (const auto d = parse_duration(v.get<std::string>()); d && (!positive || d->micros > 0)) {
        out = *d;
        return;
      }
    complain(path, "found " + v.dump(), positive ? "a duration above 0 such as \"5m\"" : "a duration such as \"5m\"");
  }

  void fair_sharing(const json& v) {
    if (v.is_null() || !expect_object(v, "fairSharing")) return;
    settings_.fair_sharing = true;
    for (const auto& [key, x] : v.items()) {
      if (key == "enable") {
        boolean(x, "fairSharing.enable", settings_.fair_sharing);
      } else if (key == "preemptionStrategies") {
        std::vector<Settings::FairStrategy> list;
        using S = Settings::FairStrategy;
        if (!x.is_array()) return complain("fairSharing.preemptionStrategies", "found " + x.dump(), "a list");
        for (const auto& s : x) {
          if (s == "LessThanOrEqualToFinalShare")
            list.push_back(S::less_than_or_equal_to_final_share);
          else if (s == "LessThanInitialShare")
            list.push_back(S::less_than_initial_share);
          else
            return complain("fairSharing.preemptionStrategies", "found " + s.dump(), "LessThanOrEqualToFinalShare, LessThanInitialShare");
        }
        if (list.size() > 2 || (list.size() == 2 && list[0] != S::less_than_or_equal_to_final_share) ||
            (list.size() == 2 && list[0] == list[1]))
          return complain("fairSharing.preemptionStrategies", "found " + x.dump(),
                          "[LessThanOrEqualToFinalShare], [LessThanInitialShare] or [LessThanOrEqualToFinalShare, LessThanInitialShare]");
        if (!list.empty()) settings_.fair_strategies = list;
      } else {
        complain("fairSharing." + key, "unknown field", "preemptionStrategies");
      }
    }
  }

  void admission_fair_sharing(const json& v) {
    const std::string path = "admissionFairSharing";
    if (v.is_null() || !expect_object(v, path)) return;
    Settings::AdmissionFairSharing out;
    for (const auto& [key, x] : v.items()) {
      if (key == "usageHalfLifeTime") {
        duration(x, path + "." + key, out.half_life, false);
      } else if (key == "usageSamplingInterval") {
        duration(x, path + "." + key, out.sampling_interval, true);
      } else if (key == "resourceWeights") {
        if (x.is_null()) continue;
        if (!expect_object(x, path + "." + key)) return;
        for (const auto& [resource, weight] : x.items()) {
          if (!weight.is_number() || !(weight.get<double>() >= 0))
            return complain(path + "." + key + "." + resource, "found " + weight.dump(), "a number from 0");
          out.resource_weights.emplace_back(Symbol(resource), weight.get<double>());
        }
      } else {
        return complain(path + "." + key, "unknown field", "usageHalfLifeTime, usageSamplingInterval, resourceWeights");
      }
    }
    settings_.admission_fair_sharing = std::move(out);
  }

  void pods_ready(const json& v) {
    if (v.is_null() || !expect_object(v, "waitForPodsReady")) return;
    bool recovery_given = false;
    for (const auto& [key, x] : v.items()) {
      const std::string path = "waitForPodsReady." + key;
      if (key == "enable") {
        boolean(x, path, settings_.pods_ready_enabled);
      } else if (key == "timeout") {
        duration(x, path, settings_.pods_ready_timeout, true);
      } else if (key == "blockAdmission") {
        boolean(x, path, settings_.block_admission);
      } else if (key == "recoveryTimeout") {
        recovery_given = true;
        duration(x, path, settings_.recovery_timeout, false);
      } else if (key == "requeuingStrategy") {
        if (!expect_object(x, path)) return;
        for (const auto& [k, y] : x.items()) {
          const std::string p = path + "." + k;
          if (k == "timestamp") {
            if (y == "Eviction")
              settings_.requeue_by_eviction_time = true;
            else if (y == "Creation")
              settings_.requeue_by_eviction_time = false;
            else
              complain(p, "found " + y.dump(), "Eviction, Creation");
          } else if (k == "backoffLimitCount") {
            if (y.is_null()) continue;
            std::int32_t n = 0;
            integer(y, p, n);
            settings_.backoff_limit_count = n;
          } else if (k == "backoffBaseSeconds") {
            integer(y, p, settings_.backoff_base_seconds);
          } else if (k == "backoffMaxSeconds") {
            integer(y, p, settings_.backoff_max_seconds);
          } else {
            complain(p, "unknown field", "timestamp, backoffLimitCount, backoffBaseSeconds, backoffMaxSeconds");
          }
        }
      } else {
        complain(path, "unknown field", "timeout, blockAdmission, recoveryTimeout, requeuingStrategy");
      }
    }
    if (!recovery_given) settings_.recovery_timeout = settings_.pods_ready_timeout;
  }

  void resources(const json& v) {
    if (v.is_null() || !expect_object(v, "resources")) return;
    for (const auto& [key, x] : v.items()) {
      const std::string path = "resources." + key;
      if (key == "quotaCheckStrategy") {
        if (x != "BlockUndeclared" && x != "IgnoreUndeclared")
          return complain(path, "found " + x.dump(), "BlockUndeclared, IgnoreUndeclared");
        settings_.ignore_undeclared_resources = x == "IgnoreUndeclared";
      } else if (key == "excludeResourcePrefixes") {
        if (!x.is_array()) return complain(path, "found " + x.dump(), "a list of names");
        for (const auto& p : x) settings_.exclude_resource_prefixes.push_back(p.is_string() ? p.get<std::string>() : p.dump());
      } else if (key == "transformations") {
        transformations(x, path);
      } else if (key != "deviceClassMappings") {
        complain(path, "unknown field", "quotaCheckStrategy, excludeResourcePrefixes, transformations, deviceClassMappings");
      }
    }
    if (settings_.ignore_undeclared_resources && !settings_.exclude_resource_prefixes.empty())
      complain("resources.excludeResourcePrefixes", "found with quotaCheckStrategy IgnoreUndeclared", "one of the two");
  }

  void transformations(const json& list, const std::string& path) {
    if (!list.is_array()) return complain(path, "found " + list.dump(), "a list");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string p = path + "[" + std::to_string(i) + "]";
      const json& x = list[i];
      if (!expect_object(x, p)) return;
      Settings::Transformation t;
      for (const auto& [k, y] : x.items()) {
        if (k == "input" && y.is_string()) {
          t.input = y.get<std::string>();
        } else if (k == "strategy") {
          if (y != "Retain" && y != "Replace") return complain(p + ".strategy", "found " + y.dump(), "Retain, Replace");
          t.replace = y == "Replace";
        } else if (k == "multiplyBy" && y.is_string()) {
          t.multiply_by = y.get<std::string>();
        } else if (k == "outputs" && y.is_object()) {
          for (const auto& [name, quantity] : y.items()) {
            const auto nano = parse_nano(quantity.is_string() ? quantity.get<std::string>() : quantity.dump());
            if (!nano) return complain(p + ".outputs." + name, "found " + quantity.dump(), "a quantity");
            t.outputs_nano.emplace_back(name, *nano);
          }
        } else {
          return complain(p + "." + k, "found " + y.dump(), "input, strategy, multiplyBy, outputs");
        }
      }
      for (const auto& other : settings_.transformations)
        if (other.input == t.input) return complain(p + ".input", "found " + t.input + " twice", "unique inputs");
      settings_.transformations.push_back(std::move(t));
    }
  }

  void retention(const json& v) {
    if (v.is_null() || !expect_object(v, "objectRetentionPolicies")) return;
    for (const auto& [key, x] : v.items()) {
      if (key != "workloads") return complain("objectRetentionPolicies." + key, "unknown field", "workloads");
      if (!expect_object(x, "objectRetentionPolicies.workloads")) return;
      for (const auto& [k, y] : x.items()) {
        Duration d;
        if (k != "afterFinished" && k != "afterDeactivatedByKueue")
          return complain("objectRetentionPolicies.workloads." + k, "unknown field", "afterFinished, afterDeactivatedByKueue");
        if (y.is_null()) continue;
        duration(y, "objectRetentionPolicies.workloads." + k, d, false);
        (k == "afterFinished" ? settings_.retain_finished : settings_.retain_deactivated) = d;
      }
    }
  }

  void managed_namespaces(const json& v) {
    const std::string path = "managedJobsNamespaceSelector";
    if (v.is_null() || !expect_object(v, path)) return;
    std::vector<admission::OwnedRequirement> out;
    for (const auto& [key, x] : v.items()) {
      if (key == "matchLabels" && x.is_object()) {
        for (const auto& [label, value] : x.items()) {
          if (!value.is_string()) return complain(path + ".matchLabels." + label, "found " + value.dump(), "text");
          out.push_back({Symbol(label), SelectorOperator::in, {value.get<std::string>()}});
        }
      } else if (key == "matchExpressions" && x.is_array()) {
        for (std::size_t i = 0; i < x.size(); ++i)
          if (!requirement(x[i], path + ".matchExpressions[" + std::to_string(i) + "]", out)) return;
      } else {
        return complain(path + "." + key, "found " + x.dump(), "matchLabels (an object), matchExpressions (a list)");
      }
    }
    settings_.managed_jobs_namespaces = std::move(out);
  }

  bool requirement(const json& v, const std::string& path, std::vector<admission::OwnedRequirement>& out) {
    static const std::map<std::string_view, SelectorOperator> operators = {{"In", SelectorOperator::in},
                                                                           {"NotIn", SelectorOperator::not_in},
                                                                           {"Exists", SelectorOperator::exists},
                                                                           {"DoesNotExist", SelectorOperator::does_not_exist}};
    if (!expect_object(v, path)) return false;
    const auto op =
        operators.find(v.value("operator", json()).is_string() ? std::string_view(v["operator"].get_ref<const std::string&>()) : "");
    if (op == operators.end()) {
      complain(path + ".operator", "found " + v.value("operator", json()).dump(), "In, NotIn, Exists, DoesNotExist");
      return false;
    }
    if (!v.value("key", json()).is_string() || !v.value("values", json::array()).is_array()) {
      complain(path, "found " + v.dump(), "key (text), operator, values (a list)");
      return false;
    }
    admission::OwnedRequirement r{Symbol(v["key"].get_ref<const std::string&>()), op->second, {}};
    for (const auto& x : v.value("values", json::array())) r.values.push_back(x.is_string() ? x.get<std::string>() : x.dump());
    out.push_back(std::move(r));
    return true;
  }

  void own(const json& v) {
    if (!expect_object(v, "hindsight")) return;
    for (const auto& [key, x] : v.items()) {
      if (key == "reactivationBatch")
        duration(x, "hindsight.reactivationBatch", settings_.reactivation_batch, false);
      else if (key == "admissionsAhead")
        integer(x, "hindsight.admissionsAhead", settings_.admissions_ahead);
      else if (key == "claimDuration")
        duration(x, "hindsight.claimDuration", settings_.claim_duration, false);
      else if (key == "preemptedWorkloadSliceHistory")
        slice_history(x);
      else if (key == "preemptionRightTimeout")
        duration(x, "hindsight.preemptionRightTimeout", settings_.preemption_right_timeout, false);
      else if (key == "maxOptions")
        max_options(x);
      else if (key == "messageInterval")
        message_interval(x);
      else if (key == "repeatedPreemptions")
        integer(x, "hindsight.repeatedPreemptions", settings_.repeated_preemptions);
      else if (key == "topologyCapacity")
        topology_capacity(x);
      else if (key == "topologyProfile")
        topology_profile(x);
      else if (key == "upgradesBlockStrictFIFO")
        boolean(x, "hindsight.upgradesBlockStrictFIFO", settings_.upgrades_block);
      else if (key != "controllers" && key != "topologyMetrics")  // the webhooks' and the gauges', and no part of any decision
        complain("hindsight." + key, "unknown field",
                 "admissionsAhead, claimDuration, controllers, maxOptions, messageInterval, preemptedWorkloadSliceHistory, "
                 "preemptionRightTimeout, reactivationBatch, repeatedPreemptions, topologyCapacity, topologyMetrics, topologyProfile, "
                 "upgradesBlockStrictFIFO");
    }
  }

  void topology_capacity(const json& v) {
    if (v != "Sum" && v != "Nodes") return complain("hindsight.topologyCapacity", "found " + v.dump(), "Sum, Nodes");
    settings_.count_hosts = v == "Nodes";
  }

  void topology_profile(const json& v) {
    if (v != "Kueue" && v != "Compact") return complain("hindsight.topologyProfile", "found " + v.dump(), "Kueue, Compact");
    settings_.compact_topologies = v == "Compact";
  }

  /// The webhooks': it is judged here for scenarios, whose configuration nobody else reads.
  void max_options(const json& v) {
    if (!v.is_number_integer() || v.get<std::int64_t>() < 1 || v.get<std::int64_t>() > 64)
      complain("hindsight.maxOptions", "found " + v.dump(), "a whole number from 1 to 64");
  }

  /// The bridge's.
  void message_interval(const json& v) {
    if (v.is_string())
      if (const auto d = parse_duration(v.get<std::string>()); d && *d <= message_interval_max) return;
    complain("hindsight.messageInterval", "found " + v.dump(), "a duration from \"0s\" to \"10m\"");
  }

  void slice_history(const json& v) {
    if (v.is_null()) return;
    std::int32_t limit = 0;
    integer(v, "hindsight.preemptedWorkloadSliceHistory", limit);
    settings_.slice_history = limit;
  }

  void gates(const json& v) {
    if (v.is_null() || !expect_object(v, "featureGates")) return;
    const std::map<std::string_view, bool*> read = {
        {"PartialAdmission", &settings_.partial_admission},
        {"FlavorFungibility", &settings_.flavor_fungibility},
        {"PrioritySortingWithinCohort", &settings_.priority_sorting_within_cohort},
        {"FairSharingPreemptWithinNominal", &settings_.fair_sharing_preempt_within_nominal},
        {"FairSharingPrioritizeNonBorrowing", &settings_.fair_sharing_prioritize_non_borrowing},
        {"SchedulingEquivalenceHashing", &settings_.scheduling_equivalence_hashing},
        {"ReclaimablePods", &settings_.reclaimable_pods},
        {"PriorityBoost", &settings_.priority_boost},
        {"PrioritizePreemptorWorkloads", &settings_.prioritize_preemptors},
        {"UnadmittedWorkloadsExplicitStatus", &settings_.unadmitted_explicit_status},
        {"FlavorFungibilityPreserveScanProgress", &settings_.preserve_scan_progress},
        {"RecomputeAssignmentUponPreemptionTargetsOverlap", &settings_.recompute_overlapping},
        {"FinishOrphanedWorkloads", &settings_.finish_orphaned},
        {"ElasticJobsViaWorkloadSlices", &settings_.elastic_jobs},
        {"SchedulingGatedBy", &settings_.scheduling_gated_by},
        {"AdmissionGatedBy", &settings_.admission_gated_by},
        {"AdjustResourcesOnAdmission", &settings_.adjust_resources},
        {"TopologyAwareScheduling", &settings_.topologies},
        {"TASProfileMixed", &settings_.mixed_profile},
        {"TASBalancedPlacement", &settings_.balanced_placement},
        {"TASRespectNodeAffinityPreferred", &settings_.preferred_affinity},
        {"ElasticJobsViaWorkloadSlicesWithTAS", &settings_.elastic_topologies},
        {"TASFailedNodeReplacement", &settings_.replace_nodes},
        {"TASFailedNodeReplacementFailFast", &settings_.replace_or_evict},
        {"TASReplaceNodeOnPodTermination", &settings_.replace_when_idle},
        {"TASReplaceNodeOnNodeTaints", &settings_.replace_tainted},
        {"TASRecomputeAssignmentWithinSchedulingCycle", &settings_.place_again},
        {"ConcurrentAdmission", &settings_.concurrent_admission},
        {"ConcurrentAdmissionStrictFIFO", &settings_.strict_families},
        {"ShortWorkloadNames", &settings_.short_workload_names},
    };
    for (const auto& [key, x] : v.items()) {
      if (!x.is_boolean()) return complain("featureGates." + key, "found " + x.dump(), "true or false");
      if (const auto it = read.find(key); it != read.end()) *it->second = x.get<bool>();
      if (key == "AdmissionFairSharing") admission_fair_sharing_ = x.get<bool>();
    }
  }

  Settings& settings_;
  std::string complaint_;
  bool admission_fair_sharing_ = true;  ///< The feature gate, which the section needs to have an effect.
};

}  // namespace

Result<Settings> read_settings(std::string_view text) {
  Settings settings;
  if (text.empty()) return settings;
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return fail(ErrorKind::invalid, "configuration: not a JSON document");
  Reader reader(settings);
  reader.read(document);
  if (!reader.complaint().empty()) return fail(ErrorKind::invalid, reader.complaint());
  return settings;
}

}  // namespace hindsight::events
