#include "operations/config_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "connectors/manifests/yaml_reader.hpp"
#include "events/settings.hpp"
#include "operations/configuration_checks.hpp"
#include "operations/configuration_schema.hpp"
#include "operations/configuration_v1beta1.hpp"
#include "operations/label_selector.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::operations {
namespace {

using connectors::manifests::Json;
using connectors::manifests::Problem;
using connectors::manifests::ProblemKind;
using connectors::manifests::shortened;

constexpr std::string_view api_group = "config.kueue.x-k8s.io";
constexpr std::size_t file_bytes_max = std::size_t{4} << 20U;
constexpr std::size_t values_max = 100'000;
constexpr std::size_t problems_told_max = 10;

std::string namespace_of_service_account() {
  std::ifstream file("/var/run/secrets/kubernetes.io/serviceaccount/namespace");
  std::string name;
  std::getline(file, name);
  return name.empty() ? "kueue-system" : name;
}

/// One text from its bytes to a Configuration.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file, const ConfigurationOptions& options)
      : text_(text), file_(file), options_(options) {}

  Result<Configuration> read() {
    auto documents = connectors::manifests::read_yaml(text_, {.bytes = file_bytes_max, .values = values_max});
    if (!documents) return fail(documents.error().kind, file_ + ": " + documents.error().message);
    if (documents->size() != 1)
      return fail(ErrorKind::invalid, file_ + ": found " + std::to_string(documents->size()) + " documents; allowed: one Configuration");
    line_ = documents->front().line;
    return read(std::move(documents->front().value));
  }

  Result<Configuration> read(Json root) {
    identify(root);
    if (!problems_.empty()) return told();
    bool pods_ready_on = true;
    if (version_ == "v1beta1") pods_ready_on = convert_configuration_v1beta1(root, problems_, warnings_);
    check(configuration_schema(), root, "", connectors::manifests::UnknownFields::reported, problems_);

    if (auto gates = read_gates(root); !gates) return tl::unexpected(gates.error());
    judge_gates(given_gates_, problems_);
    if (!problems_.empty()) return told();

    normalise(configuration_schema(), root, connectors::manifests::Form::custom);
    Configuration out;
    out.namespace_ = root.contains("namespace")        ? root["namespace"].get<std::string>()
                     : !options_.own_namespace.empty() ? options_.own_namespace
                                                       : namespace_of_service_account();
    root["namespace"] = out.namespace_;
    if (!root.contains("managedJobsNamespaceSelector")) root["managedJobsNamespaceSelector"] = default_selector(out.namespace_);
    judge_configuration(root, out.namespace_, problems_);
    if (!problems_.empty()) return told();

    out.gates = resolve_gates(given_gates_);
    for (auto& warning : configuration_warnings(root, out.gates)) warnings_.push_back(std::move(warning));
    out.warnings = std::move(warnings_);
    make_canonical(root, out, pods_ready_on);
    out.json = root.dump();
    fill(root, out);
    // Decisions read the same text; that they can is checked here, before anything starts.
    if (auto settings = events::read_settings(out.json); !settings)
      return fail(settings.error().kind, file_ + ": " + settings.error().message);
    return out;
  }

 private:
  void identify(const Json& root) {
    if (!root.is_object()) return problems_.push_back({ProblemKind::type, "", shortened(root), "must be an object of kind Configuration"});
    const Json kind = root.value("kind", Json());
    if (kind != "Configuration") problems_.push_back({ProblemKind::invalid, "kind", shortened(kind), "must be Configuration"});
    const Json version = root.value("apiVersion", Json());
    for (const std::string known : {"v1beta1", "v1beta2"})
      if (version == std::string(api_group) + "/" + known) version_ = known;
    if (version_.empty())
      problems_.push_back({ProblemKind::invalid, "apiVersion", shortened(version),
                           "must be config.kueue.x-k8s.io/v1beta2 or config.kueue.x-k8s.io/v1beta1"});
  }

  Result<void> read_gates(const Json& root) {
    const auto it = root.find("featureGates");
    const bool in_file = it != root.end() && it->is_object() && !it->empty();
    if (in_file)
      for (const auto& [name, value] : it->items())
        if (value.is_boolean()) given_gates_.emplace(name, value.get<bool>());
    if (!options_.feature_gates || options_.feature_gates->empty()) return {};
    if (in_file) {
      problems_.push_back(
          {ProblemKind::forbidden, "featureGates", "", "given in the file and by --feature-gates; allowed: one of the two"});
      return {};
    }
    auto gates = parse_feature_gates(*options_.feature_gates);
    if (!gates) return tl::unexpected(gates.error());
    given_gates_ = std::move(*gates);
    std::vector<Problem> problems;
    judge_gates(given_gates_, problems);
    if (problems.empty()) return {};
    // Told here, for the file has no line for them.
    std::string message;
    for (const auto& p : problems)
      message += (message.empty() ? "" : "\n") + printable("--feature-gates: " + p.field.substr(p.field.find('.') + 1) + ": " + p.message);
    return fail(ErrorKind::invalid, message);
  }

  static Json default_selector(const std::string& own_namespace) {
    Json names = {"kube-system"};
    if (own_namespace != "kube-system") names.push_back(own_namespace);
    return {{"matchExpressions", Json::array({{{"key", "kubernetes.io/metadata.name"}, {"operator", "NotIn"}, {"values", names}}})}};
  }

  /// Writes out what follows from other fields, and leaves out what means nothing.
  static void make_canonical(Json& root, const Configuration& out, bool pods_ready_on) {
    root.erase("pprofBindAddress");
    if (out.gate("DisableWaitForPodsReady")) pods_ready_on = false;
    Json& pods_ready = root["waitForPodsReady"];
    if (!pods_ready_on)
      pods_ready = {{"enable", false}};
    else if (!pods_ready.contains("recoveryTimeout"))
      pods_ready["recoveryTimeout"] = pods_ready["timeout"];
    if (!out.gate("QuotaCheckStrategy")) root["resources"]["quotaCheckStrategy"] = "BlockUndeclared";
    root["featureGates"] = out.gates;
    Json& lease = root["leaderElection"];
    if (!lease.contains("resourceNamespace")) lease["resourceNamespace"] = out.namespace_;
  }

  static std::optional<ListenAddress> address_of(const Json& value) {
    const auto address = parse_listen_address(value.get_ref<const std::string&>());
    return address ? std::optional(*address) : std::nullopt;
  }

  /// Where the projects' own manifests install their controllers; KubeRay's chart goes where it is told, usually into one of these.
  static std::vector<std::string> usual_controllers() {
    return {"system:kube-controller-manager",
            "system:serviceaccount:kube-system:job-controller",
            "system:serviceaccount:jobset-system:jobset-controller-manager",
            "system:serviceaccount:kuberay-operator:kuberay-operator",
            "system:serviceaccount:kuberay-system:kuberay-operator",
            "system:serviceaccount:ray-system:kuberay-operator"};
  }

  static std::vector<std::string> texts_of(const Json& parent, const char* name) {
    const auto it = parent.find(name);
    return it == parent.end() ? std::vector<std::string>() : it->get<std::vector<std::string>>();
  }

  static void fill(const Json& root, Configuration& out) {
    const Json& election = root.at("leaderElection");
    const auto span = [&](const char* name) { return parse_duration(election.at(name).get_ref<const std::string&>()).value(); };
    out.leader_elect = election.at("leaderElect").get<bool>();
    out.lease.namespace_ = election.at("resourceNamespace").get<std::string>();
    out.lease.name = election.at("resourceName").get<std::string>();
    out.lease.lease_duration = span("leaseDuration");
    out.lease.renew_deadline = span("renewDeadline");
    out.lease.retry_period = span("retryPeriod");

    out.manage_jobs_without_queue_name = root.at("manageJobsWithoutQueueName").get<bool>();
    out.managed_jobs_namespaces = read_label_selector(root.at("managedJobsNamespaceSelector"));
    const Json& integrations = root.at("integrations");
    out.frameworks = texts_of(integrations, "frameworks");
    out.external_frameworks = texts_of(integrations, "externalFrameworks");
    out.label_keys_to_copy = texts_of(integrations, "labelKeysToCopy");
    const auto own = root.find("hindsight");
    const bool names_controllers = own != root.end() && own->contains("controllers");
    out.controllers = names_controllers ? texts_of(*own, "controllers") : usual_controllers();

    const Json& metrics = root.at("metrics");
    out.metrics_address = address_of(metrics.at("bindAddress"));
    out.health_address = address_of(root.at("health").at("healthProbeBindAddress"));
    if (own != root.end()) out.topology_metrics = own->value("topologyMetrics", 0);
    if (own != root.end()) out.max_options = own->value("maxOptions", out.max_options);
    if (own != root.end() && own->contains("messageInterval"))
      out.message_interval = parse_duration(own->at("messageInterval").get_ref<const std::string&>()).value();
    out.cluster_queue_resource_metrics = metrics.at("enableClusterQueueResources").get<bool>();
    const Json& local_queues = metrics.at("localQueueMetrics");
    out.local_queue_metrics = local_queues.at("enable").get<bool>() && out.gate("LocalQueueMetrics");
    if (const auto it = local_queues.find("localQueueSelector"); it != local_queues.end())
      out.local_queue_metrics_selector = read_label_selector(*it);

    const Json& webhook = root.at("webhook");
    out.webhook_address = {webhook.value("host", ""), webhook.at("port").get<std::uint16_t>()};
    out.webhook_certificates = webhook.at("certDir").get<std::string>();
    const Json& certificates = root.at("internalCertManagement");
    out.makes_webhook_certificates = certificates.at("enable").get<bool>();
    out.webhook_service = certificates.at("webhookServiceName").get<std::string>();
    out.webhook_secret = certificates.at("webhookSecretName").get<std::string>();
    if (const auto tls = root.find("tls"); tls != root.end()) {
      out.tls.min_version = tls->value("minVersion", out.tls.min_version);
      out.tls.cipher_suites = texts_of(*tls, "cipherSuites");
      if (const auto curves = tls->find("curvePreferences"); curves != tls->end())
        for (const auto& curve : *curves) out.tls.curves.push_back(curve.is_string() ? curve.get<std::string>() : curve.dump());
    }
    const Json& visibility = root.at("visibilityServer");
    out.visibility_address = {visibility.value("bindAddress", ""), visibility.at("bindPort").get<std::uint16_t>()};
    out.client_qps = root.at("clientConnection").at("qps").get<double>();
    out.client_burst = root.at("clientConnection").at("burst").get<std::int32_t>();
  }

  [[nodiscard]] tl::unexpected<Error> told() const {
    std::string message;
    for (std::size_t i = 0; i < std::min(problems_.size(), problems_told_max); ++i) {
      const int line = text_.empty() ? 0 : connectors::manifests::line_of(text_, 0, problems_[i].field);
      message += (i == 0 ? "" : "\n") +
                 printable(file_ + ":" + std::to_string(line == 0 ? line_ : line) + ": Configuration: " + describe(problems_[i]));
    }
    if (problems_.size() > problems_told_max) message += "\nand " + std::to_string(problems_.size() - problems_told_max) + " more";
    return fail(ErrorKind::invalid, message);
  }

  std::string_view text_;
  const std::string& file_;
  const ConfigurationOptions& options_;
  int line_ = 1;
  std::string version_;
  GateValues given_gates_;
  std::vector<Problem> problems_;
  std::vector<std::string> warnings_;
};

}  // namespace

Result<Configuration> read_configuration_file(const std::string& path, const ConfigurationOptions& options) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::error_code why(errno, std::generic_category());
    return fail(why == std::errc::no_such_file_or_directory ? ErrorKind::not_found : ErrorKind::io, path + ": " + why.message());
  }
  // One byte beyond the limit shows that it is exceeded, also where the file has no end (a device).
  std::string text(file_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return fail(ErrorKind::io, path + ": cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() && std::error_code(errno, std::generic_category()) == std::errc::is_a_directory)
    return fail(ErrorKind::io, path + ": is a directory; allowed: a file");
  return read_configuration(text, path, options);
}

Result<Configuration> read_configuration(std::string_view text, const std::string& file, const ConfigurationOptions& options) {
  return Reader(text, file, options).read();
}

Result<Configuration> default_configuration(const ConfigurationOptions& options) {
  const std::string nowhere = "default configuration";
  return Reader("", nowhere, options).read({{"apiVersion", "config.kueue.x-k8s.io/v1beta2"}, {"kind", "Configuration"}});
}

}  // namespace hindsight::operations
