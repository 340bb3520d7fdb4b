#include "operations/configuration_checks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "connectors/jobs/integrations.hpp"
#include "connectors/manifests/syntax.hpp"
#include "events/settings.hpp"
#include "operations/configuration_schema.hpp"
#include "operations/label_selector.hpp"
#include "operations/listen_address.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::operations {
namespace {

using connectors::manifests::Json;
using connectors::manifests::Problem;
using connectors::manifests::ProblemKind;
using connectors::manifests::shortened;

constexpr std::string_view incremental_dispatcher = "kueue.x-k8s.io/multikueue-dispatcher-incremental";
constexpr std::size_t custom_labels_per_kind_max = 6;
constexpr std::size_t custom_labels_of_workloads_max = 2;

template <class List>
std::string joined(const List& list) {
  std::string out;
  for (const auto& word : list) out.append(out.empty() ? "" : ", ").append(word);
  return out;
}

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// "Kind.version.group" in its parts; the group may hold dots.
struct KindName {
  std::string kind, version, group;
};

std::optional<KindName> parse_kind(const std::string& text) {
  const auto first = text.find('.');
  const auto second = first == std::string::npos ? first : text.find('.', first + 1);
  if (second == std::string::npos) return std::nullopt;
  KindName name{text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
  const auto letters = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (name.kind.empty() || !std::all_of(name.kind.begin(), name.kind.end(), letters)) return std::nullopt;
  if (!connectors::manifests::is_dns_label(name.version) || !connectors::manifests::is_dns_subdomain(name.group)) return std::nullopt;
  return name;
}

const Framework* find_framework(std::string_view name) {
  const auto all = frameworks();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Framework& f) { return f.name == name; });
  return it == all.end() ? nullptr : &*it;
}

class Judge {
 public:
  Judge(const Json& root, std::string_view own_namespace, std::vector<Problem>& problems)
      : root_(root), own_namespace_(own_namespace), problems_(problems) {}

  void run() {
    addresses();
    custom_labels();
    selector("metrics.localQueueMetrics.localQueueSelector");
    leader_election();
    cache_sync_timeout();
    tls();
    managed_namespaces();
    certificates();
    pods_ready();
    integrations();
    multi_kueue();
    fair_sharing();
    admission_fair_sharing();
    resources();
    duration("objectRetentionPolicies.workloads.afterFinished", Least::zero);
    duration("objectRetentionPolicies.workloads.afterDeactivatedByKueue", Least::zero);
    message_interval();
    duration("hindsight.claimDuration", Least::zero);
    duration("hindsight.preemptionRightTimeout", Least::zero);
    duration("hindsight.reactivationBatch", Least::zero);
  }

 private:
  enum class Least { zero, above_zero };

  /// The value at a dotted path; nullptr: not there.
  [[nodiscard]] const Json* at(std::string_view path) const {
    const Json* value = &root_;
    while (!path.empty()) {
      const auto dot = path.find('.');
      const auto name = path.substr(0, dot);
      path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
      const auto it = value->find(std::string(name));
      if (it == value->end()) return nullptr;
      value = &*it;
    }
    return value;
  }

  void add(ProblemKind kind, const std::string& path, const Json& found, std::string message) {
    problems_.push_back({kind, path, shortened(found), std::move(message)});
  }

  std::optional<Duration> duration(const std::string& path, Least least) {
    const Json* value = at(path);
    if (value == nullptr) return std::nullopt;
    const auto read = parse_duration(value->get_ref<const std::string&>());
    if (read && (least == Least::zero || read->micros > 0)) return *read;
    add(ProblemKind::invalid, path, *value,
        least == Least::zero ? "must be a duration of at least 0 such as \"30s\" or \"5m\""
                             : "must be a duration above 0 such as \"30s\" or \"5m\"");
    return std::nullopt;
  }

  void message_interval() {
    static constexpr const char* path = "hindsight.messageInterval";
    if (const auto read = duration(path, Least::zero); read && *read > events::message_interval_max)
      add(ProblemKind::invalid, path, *at(path), "must be at most \"10m\"");
  }

  void address(const std::string& path) {
    const Json* value = at(path);
    if (value == nullptr) return;
    const auto& text = value->get_ref<const std::string&>();
    if (text.empty() || text == "0") return;  // Switched off.
    if (!parse_listen_address(text)) add(ProblemKind::invalid, path, *value, "must be HOST:PORT, [IPV6]:PORT or :PORT, or \"0\" for none");
  }

  void addresses() {
    for (const char* path : {"metrics.bindAddress", "health.healthProbeBindAddress", "pprofBindAddress"}) address(path);
    if (const Json* ip = at("visibilityServer.bindAddress")) {
      const auto& text = ip->get_ref<const std::string&>();
      std::array<unsigned char, sizeof(in6_addr)> bytes{};
      if (::inet_pton(AF_INET, text.c_str(), bytes.data()) != 1 && ::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1)
        add(ProblemKind::invalid, "visibilityServer.bindAddress", *ip, "must be an IP address");
    }
  }

  void custom_labels() {
    const Json* labels = at("metrics.customLabels");
    if (labels == nullptr) return;
    std::map<std::string, std::size_t> of_kind;
    for (std::size_t i = 0; i < labels->size(); ++i) {
      const Json& label = (*labels)[i];
      const std::string path = "metrics.customLabels[" + std::to_string(i) + "]";
      const auto& name = label.at("name").get_ref<const std::string&>();
      const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
      const auto word = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
      if (name.empty() || !letter(name[0]) || !std::all_of(name.begin(), name.end(), word))
        add(ProblemKind::invalid, path + ".name", label.at("name"), "must start with a letter and hold letters, digits and '_' only");
      if (label.contains("sourceLabelKey") && label.contains("sourceAnnotationKey"))
        add(ProblemKind::invalid, path + ".sourceAnnotationKey", label.at("sourceAnnotationKey"), "cannot stand beside sourceLabelKey");
      const auto& kind = label.at("sourceKind").get_ref<const std::string&>();
      const std::size_t most = kind == "Workload" ? custom_labels_of_workloads_max : custom_labels_per_kind_max;
      if (++of_kind[kind] == most + 1)
        add(ProblemKind::too_many, path + ".sourceKind", label.at("sourceKind"),
            "at most " + std::to_string(most) + " labels may come from a " + kind);
    }
  }

  void selector(const std::string& path) {
    if (const Json* value = at(path)) judge_label_selector(*value, path, problems_);
  }

  void leader_election() {
    const auto lease = duration("leaderElection.leaseDuration", Least::above_zero);
    const auto renew = duration("leaderElection.renewDeadline", Least::above_zero);
    const auto retry = duration("leaderElection.retryPeriod", Least::above_zero);
    if (lease && renew && *renew >= *lease)
      add(ProblemKind::invalid, "leaderElection.renewDeadline", *at("leaderElection.renewDeadline"), "must be shorter than leaseDuration");
    // The share by which client-go may lengthen a pause; without it a renewal could come too late.
    if (renew && retry && retry->micros + retry->micros / 5 >= renew->micros)
      add(ProblemKind::invalid, "leaderElection.retryPeriod", *at("leaderElection.retryPeriod"),
          "must be shorter than renewDeadline / 1.2");
    // Leases count whole seconds.
    if (lease && lease->micros % 1'000'000 != 0)
      add(ProblemKind::invalid, "leaderElection.leaseDuration", *at("leaderElection.leaseDuration"), "must be whole seconds");
  }

  void cache_sync_timeout() {
    const Json* value = at("controller.cacheSyncTimeout");
    if (value == nullptr) return;
    if (value->is_string())
      duration("controller.cacheSyncTimeout", Least::zero);
    else if (value->get<std::int64_t>() < 0)
      add(ProblemKind::invalid, "controller.cacheSyncTimeout", *value, "must be at least 0: nanoseconds, or a duration such as \"2m\"");
  }

  void tls() {
    if (const Json* suites = at("tls.cipherSuites")) {
      for (std::size_t i = 0; i < suites->size(); ++i)
        if (!contains(cipher_suites(), (*suites)[i].get_ref<const std::string&>()))
          add(ProblemKind::not_supported, "tls.cipherSuites[" + std::to_string(i) + "]", (*suites)[i],
              "supported values: " + joined(cipher_suites()));
      const Json* version = at("tls.minVersion");
      if (version != nullptr && *version == "VersionTLS13" && !suites->empty())
        add(ProblemKind::invalid, "tls.cipherSuites", *suites,
            "may not be given with minVersion VersionTLS13, whose suites cannot be chosen");
    }
    if (const Json* list = at("tls.curvePreferences"))
      for (std::size_t i = 0; i < list->size(); ++i) {
        const Json& curve = (*list)[i];
        // By name, or by the number that the TLS registry gives it.
        const bool known = curve.is_string() ? contains(curves(), curve.get_ref<const std::string&>())
                                             : curve.get<std::int64_t>() > 0 && curve.get<std::int64_t>() <= 65535;
        if (!known)
          add(ProblemKind::not_supported, "tls.curvePreferences[" + std::to_string(i) + "]", curve,
              "supported values: " + joined(curves()) + ", numbers from 1 to 65535");
      }
  }

  void managed_namespaces() {
    const Json* value = at("managedJobsNamespaceSelector");
    const std::size_t before = problems_.size();
    selector("managedJobsNamespaceSelector");
    if (problems_.size() != before) return;
    const auto requirements = read_label_selector(*value);
    std::set<std::string> never{"kube-system", std::string(own_namespace_)};
    for (const auto& name : never)
      if (selects_namespace(requirements, name))
        add(ProblemKind::invalid, "managedJobsNamespaceSelector", *value, "should not match the \"" + name + "\" namespace");
  }

  void certificates() {
    if (!at("internalCertManagement.enable")->get<bool>()) return;
    const Json& service = *at("internalCertManagement.webhookServiceName");
    const auto& name = service.get_ref<const std::string&>();
    if (!connectors::manifests::is_dns_label(name) || (name[0] >= '0' && name[0] <= '9'))
      add(ProblemKind::invalid, "internalCertManagement.webhookServiceName", service,
          "must be a DNS-1035 label: at most 63 lower case letters, digits or '-', starting with a letter");
    const Json& secret = *at("internalCertManagement.webhookSecretName");
    if (!connectors::manifests::is_dns_subdomain(secret.get_ref<const std::string&>()))
      add(ProblemKind::invalid, "internalCertManagement.webhookSecretName", secret, "must be a lowercase RFC 1123 subdomain");
  }

  void pods_ready() {
    duration("waitForPodsReady.timeout", Least::above_zero);
    duration("waitForPodsReady.recoveryTimeout", Least::zero);
  }

  void integrations() {
    std::vector<std::string_view> known;
    for (const auto& f : frameworks()) known.push_back(f.name);
    std::set<std::string> managed;
    const Json& names = *at("integrations.frameworks");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto* framework = find_framework(names[i].get_ref<const std::string&>());
      if (framework == nullptr) {
        add(ProblemKind::not_supported, "integrations.frameworks[" + std::to_string(i) + "]", names[i],
            "supported values: " + joined(known));
        continue;
      }
      managed.insert(std::string(framework->kind) + "." + std::string(framework->group));
    }
    const Json* external = at("integrations.externalFrameworks");
    for (std::size_t i = 0; external != nullptr && i < external->size(); ++i) {
      const std::string path = "integrations.externalFrameworks[" + std::to_string(i) + "]";
      const auto kind = parse_kind((*external)[i].get_ref<const std::string&>());
      if (!kind)
        add(ProblemKind::invalid, path, (*external)[i], "must be format, 'Kind.version.group.com'");
      else if (!managed.insert(kind->kind + "." + kind->group).second)
        add(ProblemKind::duplicate, path, (*external)[i], "is managed already");
    }
  }

  void multi_kueue() {
    duration("multiKueue.gcInterval", Least::zero);
    duration("multiKueue.workerLostTimeout", Least::zero);
    const Json& origin = *at("multiKueue.origin");
    if (!connectors::manifests::is_label_value(origin.get_ref<const std::string&>()))
      add(ProblemKind::invalid, "multiKueue.origin", origin,
          "must be a label value: at most 63 letters, digits, '-', '_' or '.', alphanumeric at both ends");
    const Json* step = at("multiKueue.incrementalDispatcherConfig");
    if (step != nullptr && *at("multiKueue.dispatcherName") != incremental_dispatcher)
      add(ProblemKind::invalid, "multiKueue.incrementalDispatcherConfig", *step,
          "can only be given with dispatcherName " + std::string(incremental_dispatcher));
    const Json* external = at("multiKueue.externalFrameworks");
    for (std::size_t i = 0; external != nullptr && i < external->size(); ++i) {
      const std::string path = "multiKueue.externalFrameworks[" + std::to_string(i) + "].name";
      const Json& name = (*external)[i].at("name");
      const auto kind = parse_kind(name.get_ref<const std::string&>());
      const auto all = frameworks();
      if (!kind)
        add(ProblemKind::invalid, path, name, "must be format, 'Kind.version.group.com'");
      else if (std::any_of(all.begin(), all.end(), [&](const Framework& f) { return f.kind == kind->kind && f.group == kind->group; }))
        add(ProblemKind::invalid, path, name, "has a built-in adapter");
    }
  }

  void fair_sharing() {
    const Json* list = at("fairSharing.preemptionStrategies");
    if (list == nullptr) return;
    const std::array<Json, 3> allowed{Json{"LessThanOrEqualToFinalShare"}, Json{"LessThanInitialShare"},
                                      Json{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}};
    if (std::find(allowed.begin(), allowed.end(), *list) == allowed.end())
      add(ProblemKind::not_supported, "fairSharing.preemptionStrategies", *list,
          "supported values: [LessThanOrEqualToFinalShare], [LessThanInitialShare], [LessThanOrEqualToFinalShare, LessThanInitialShare]");
  }

  void admission_fair_sharing() {
    duration("admissionFairSharing.usageHalfLifeTime", Least::zero);
    duration("admissionFairSharing.usageSamplingInterval", Least::above_zero);
    const Json* weights = at("admissionFairSharing.resourceWeights");
    if (weights == nullptr) return;
    for (const auto& [resource, weight] : weights->items())
      if (!(weight.get<double>() >= 0))
        add(ProblemKind::invalid, "admissionFairSharing.resourceWeights." + resource, weight, "must be greater than or equal to 0");
  }

  void resources() {
    const Json* prefixes = at("resources.excludeResourcePrefixes");
    if (prefixes != nullptr && !prefixes->empty() && *at("resources.quotaCheckStrategy") == "IgnoreUndeclared")
      add(ProblemKind::invalid, "resources.excludeResourcePrefixes", *prefixes,
          "may not be given with quotaCheckStrategy IgnoreUndeclared");
    if (const Json* transformations = at("resources.transformations"))
      for (std::size_t i = 0; i < transformations->size(); ++i) {
        const auto outputs = (*transformations)[i].find("outputs");
        if (outputs == (*transformations)[i].end()) continue;
        for (const auto& [resource, quantity] : outputs->items())
          if (!connectors::manifests::is_qualified_name(resource))
            add(ProblemKind::invalid, "resources.transformations[" + std::to_string(i) + "].outputs." + resource, quantity,
                "must be a resource name");
      }
    std::map<std::string, std::string> mapping_of;
    const Json* mappings = at("resources.deviceClassMappings");
    for (std::size_t i = 0; mappings != nullptr && i < mappings->size(); ++i) {
      const Json& classes = (*mappings)[i].at("deviceClassNames");
      for (std::size_t k = 0; k < classes.size(); ++k) {
        const std::string path = "resources.deviceClassMappings[" + std::to_string(i) + "].deviceClassNames[" + std::to_string(k) + "]";
        const auto [it, added] = mapping_of.emplace(classes[k].get<std::string>(), path);
        if (!added) add(ProblemKind::duplicate, path, classes[k], "stands in " + it->second + " already");
      }
    }
  }

  const Json& root_;
  std::string_view own_namespace_;
  std::vector<Problem>& problems_;
};

}  // namespace

void judge_configuration(const Json& configuration, std::string_view own_namespace, std::vector<Problem>& problems) {
  Judge(configuration, own_namespace, problems).run();
}

std::vector<std::string> configuration_warnings(const Json& configuration, const GateValues& gates) {
  std::vector<std::string> warnings;
  struct Gated {
    const char* path;
    const char* gate;
  };
  static constexpr std::array<Gated, 10> sections{{{"/metrics/customLabels", "CustomMetricLabels"},
                                                   {"/admissionFairSharing", "AdmissionFairSharing"},
                                                   {"/multiKueue/incrementalDispatcherConfig", "MultiKueueIncrementalDispatcherConfig"},
                                                   {"/multiKueue/externalFrameworks", "MultiKueueAdaptersForCustomJobs"},
                                                   {"/multiKueue/clusterProfile", "MultiKueueClusterProfile"},
                                                   {"/resources/deviceClassMappings", "KueueDRAIntegration"},
                                                   {"/metrics/localQueueMetrics/localQueueSelector", "LocalQueueMetrics"},
                                                   {"/hindsight/maxOptions", "ConcurrentAdmission"},
                                                   {"/hindsight/preemptionRightTimeout", "ConcurrentAdmission"},
                                                   {"/hindsight/upgradesBlockStrictFIFO", "ConcurrentAdmissionStrictFIFO"}}};
  for (const auto& [path, gate] : sections) {
    if (!configuration.contains(Json::json_pointer(path)) || gates.find(gate)->second) continue;
    std::string field(path + 1);
    std::replace(field.begin(), field.end(), '/', '.');
    warnings.push_back(field + " has no effect: the feature gate " + gate + " is off");
  }
  if (configuration.at("metrics").contains("customLabels") && gates.find("CustomMetricLabels")->second)
    warnings.emplace_back("metrics.customLabels has no effect: no metric of this release carries labels of your own");
  if (configuration.at("resources").at("quotaCheckStrategy") == "IgnoreUndeclared" && !gates.find("QuotaCheckStrategy")->second)
    warnings.emplace_back("resources.quotaCheckStrategy has no effect: the feature gate QuotaCheckStrategy is off");

  const auto integrations = connectors::all_integrations();
  for (const auto& name : configuration.at("integrations").at("frameworks")) {
    const auto& text = name.get_ref<const std::string&>();
    const bool managed = std::any_of(integrations.begin(), integrations.end(), [&](const auto* i) { return i->framework() == text; });
    if (!managed) warnings.push_back("integrations.frameworks: " + text + " is not managed by this release");
  }
  return warnings;
}

}  // namespace hindsight::operations
