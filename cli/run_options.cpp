#include "cli/run_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/log_options.hpp"
#include "cli/option_checks.hpp"

namespace hindsight::cli {
namespace {

/// What the quick start reads; whoever adds an option to it adds its name here.
constexpr std::array<std::string_view, 8> of_quickstart{"quickstart", "keep",          "ui",       "log", "log-config",
                                                        "config",     "feature-gates", "log-level"};

/// What a process reads that only decides; it is on no cluster. --metrics has a message of its own.
constexpr std::array<std::string_view, 17> of_node{
    "role",          "log",           "log-config",      "log-level",       "http",
    "probe-address", "metrics",       "metrics-address", "metrics-service", "metrics-cert-dir",
    "snapshot-dir",  "keep-history",  "group",           "member",          "session-timeout",
    "standby",       "checkpoint-key"};

/// What only such a process reads.
constexpr std::array<std::string_view, 4> only_of_node{"group", "member", "session-timeout", "standby"};

/// What writes to a cluster, or decides who may.
constexpr std::array<std::string_view, 15> not_of_observer{"webhooks",
                                                           "webhook-address",
                                                           "webhook-url",
                                                           "webhook-cert-dir",
                                                           "webhook-cert-lifetime",
                                                           "webhook-client-ca",
                                                           "webhook-client-name",
                                                           "visibility",
                                                           "visibility-address",
                                                           "visibility-service",
                                                           "visibility-cert-dir",
                                                           "lease-namespace",
                                                           "no-lease",
                                                           "domains",
                                                           "snapshot-dir"};

using runtime::ListenerRunOptions;
using runtime::PageRunOptions;
using runtime::RunOptions;
using runtime::VisibilityRunOptions;

void add_listener_options(CLI::App& command, ListenerRunOptions& options) {
  command
      .add_option("--probe-address", options.probe_address,
                  "Where /healthz and /readyz listen apart from all others, for a kubelet; without it they are at --http alone")
      ->type_name("ADDRESS");
  auto* metrics = command.add_flag("--metrics", options.metrics,
                                   "Serve /metrics over TLS to callers whose token the API server knows (TokenReview) and who may get the "
                                   "nonResourceURL /metrics (SubjectAccessReview); the cluster needs deploy/metrics.yaml");
  command.add_option("--metrics-address", options.metrics_address, "Where they listen; else metrics.bindAddress of the configuration")
      ->type_name("ADDRESS")
      ->needs(metrics);
  command
      .add_option("--metrics-service", options.metrics_service,
                  "The Service, in our own namespace, to whose name their certificate is made out")
      ->type_name("NAME")
      ->capture_default_str()
      ->needs(metrics);
  command
      .add_option(
          "--metrics-cert-dir", options.metrics_folder,
          "Read their certificate from this folder (tls.crt, tls.key), again and again; else one is made that lasts as long as the process")
      ->type_name("DIR")
      ->needs(metrics);
}

void add_visibility_options(CLI::App& command, VisibilityRunOptions& options) {
  auto* serve = command.add_flag(
      "--visibility", options.serve,
      "Serve the visibility API (visibility.kueue.x-k8s.io) over TLS to the API server; the cluster needs deploy/visibility.yaml");
  command
      .add_option("--visibility-address", options.address,
                  "Where it listens; else visibilityServer.bindAddress and bindPort of the configuration")
      ->type_name("ADDRESS")
      ->needs(serve);
  command.add_option("--visibility-service", options.service, "The Service by which the API server reaches it, in our own namespace")
      ->type_name("NAME")
      ->capture_default_str()
      ->needs(serve);
  command
      .add_option("--visibility-cert-dir", options.folder,
                  "Keep its certificates in this folder, else in the Secret that is called as the Service with -cert at the end; where "
                  "internalCertManagement is not enabled, tls.crt, tls.key and ca.crt are read from it")
      ->type_name("DIR")
      ->needs(serve);
}

void add_page_options(CLI::App& command, PageRunOptions& options) {
  auto* address =
      command
          .add_option("--ui", options.address,
                      "Serve the page of the log here, as 'hindsight ui' does: on a loopback address to whoever gets there, on others "
                      "over TLS to callers whose token the API server knows")
          ->type_name("ADDRESS");
  command.add_option("--ui-host-name", options.host_names, "A name by which browsers call it, beside localhost; several may be given")
      ->type_name("NAME")
      ->needs(address);
  command
      .add_option(
          "--ui-cert-dir", options.cert_folder,
          "Read its certificate from this folder (tls.crt, tls.key), again and again; else one is made that lasts as long as the process")
      ->type_name("DIR")
      ->needs(address);
  command.add_option("--ui-states", options.states, "How many past states it holds at the same time, each as large as that which decides")
      ->check(whole_number(1, 64))
      ->capture_default_str()
      ->needs(address);
  command
      .add_option("--ui-memory", options.memory,
                  "About how much memory it uses for past states, snapshots and answers together, beside one state: fewer states than "
                  "--ui-states are held where they would take more")
      ->type_name("SIZE")
      ->capture_default_str()
      ->needs(address);
  command
      .add_option(
          "--ui-cache-dir", options.cache_folder,
          "Keep the index of the history here, so that the next start need not read the log again; else beside a log in a file, and "
          "of other logs in the cache of this user")
      ->type_name("DIR")
      ->needs(address);
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& o) {
  auto* quickstart =
      command.add_option("--quickstart", o.quickstart, "Run on the simulated cluster, fed with these manifests (files or folders)");
  command.add_flag("--keep", o.keep, "With --quickstart: stay until interrupted, and show the page of the log (--ui)")->needs(quickstart);
  command.add_option("--kubeconfig", o.kubeconfig, "Which cluster; else KUBECONFIG, the service account, ~/.kube/config");
  command.add_option("--context", o.context, "Context of the kubeconfig");
  command.add_option("--log", o.log,
                     "The log: sqlite:FILE or kafka:HOST:PORT[,...][/PREFIX][?partition=N]; default hindsight.db, with --quickstart a new "
                     "build/quickstart.db");
  add_log_config(command, o.log_config);
  command.add_option("--config", o.config, "Configuration of config.kueue.x-k8s.io/v1beta2 or v1beta1, YAML or JSON; else the defaults")
      ->type_name("FILE");
  command.add_option("--feature-gates", o.feature_gates, "A=true,B=false; not together with featureGates in the file")->type_name("GATES");
  command
      .add_option("--role", o.role,
                  "all: everything; connector: mirror a cluster into the log and carry decisions out; node: decide, and share the log's "
                  "partitions with other nodes")
      ->check(CLI::IsMember({"all", "connector", "node"}))
      ->capture_default_str();
  command.add_option("--domain", o.domain, "Name of this cluster's domain in the log; clusters that share a log have one each")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--domains", o.domains,
                  "With --role connector: one: all of the cluster is one domain; trees: each tree of cohorts is a domain, named "
                  "NAME/cohort/ROOT or "
                  "NAME/queue/NAME, in the partition that follows from its name")
      ->check(CLI::IsMember({"one", "trees"}))
      ->capture_default_str();
  command
      .add_option("--group", o.group,
                  "With --role node: the consumer group of the nodes that share the partitions; the log's prefix if it is not given")
      ->type_name("NAME");
  command
      .add_option("--member", o.member,
                  "With --role node: the name of this one, by which it gets its partitions again when it is back within the session "
                  "timeout; without it they go to others at once")
      ->type_name("NAME");
  command.add_option("--session-timeout", o.session_timeout, "With --role node: seconds of silence after which others take its partitions")
      ->check(CLI::Range(1, 300))
      ->capture_default_str();
  command.add_flag("--standby", o.standby,
                   "With --role node: follow the partitions of the other nodes too, to decide at once when they become this one's; takes "
                   "the memory of their whole state");
  command
      .add_option("--snapshot-dir", o.snapshot_folder,
                  "With a log on Kafka: keep copies of its newest snapshots in this folder, so that a start need not fetch them from the "
                  "brokers")
      ->type_name("DIR");
  command
      .add_option("--keep-history", o.keep_history,
                  "Forget records that are older than this, counted back from the last one; each domain gets a snapshot first, so "
                  "that every later moment can be reached as before. Without it all is kept")
      ->type_name("DURATION");
  command
      .add_option(
          "--checkpoint-key", o.checkpoint_key,
          "Sign the checkpoints of the log, by which 'hindsight audit' finds what was changed, with this Ed25519 key in PEM ('hindsight "
          "log key' makes one). Without it they are stored unsigned")
      ->type_name("FILE");
  command
      .add_option("--log-limit", o.log_limit,
                  "How large the log's file may become, as 8Gi: beyond it nothing is decided until there is room, as on a full disk. "
                  "Without it the disk is the limit")
      ->type_name("SIZE");
  command.add_option("--durability", o.durability, "fsync: a decision is acted upon after it is on disk; normal, off: faster and weaker")
      ->check(CLI::IsMember({"fsync", "normal", "off"}))
      ->capture_default_str();
  command
      .add_option(
          "--http", o.http,
          "Where /healthz, /readyz, /metrics, /log-level listen, in plain text and for everybody who gets there; port 0: any free one")
      ->capture_default_str();
  add_listener_options(command, o.listeners);
  command
      .add_option("--max-in-flight", o.max_in_flight,
                  "Most requests to the API server at the same time; of writes fewer, where more would only wait for each other")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command.add_option("--connect-timeout", o.connect_timeout, "Seconds to wait for the API server at the start; 0: for ever")
      ->check(whole_number(0, 86'400))
      ->capture_default_str();
  auto* lease = command.add_option(
      "--lease-namespace", o.lease_namespace,
      "Namespace of the lease that lets one of several copies act; else that of the configuration, by default kueue-system");
  command.add_flag("--no-lease", o.no_lease, "Act without a lease; for a single copy only")->excludes(lease);
  command.add_flag(
      "--observe", o.observe,
      "Only look on beside another controller, as Kueue: write nothing to the cluster, take no lease, and note in the log what "
      "would be decided ('hindsight compare-kueue' tells where the two differ)");
  command.add_flag(
      "--switch-mode", o.switch_mode,
      "Go on in a log of the other mode: with --observe in one of a run that decided, without it in one of a run with --observe");
  auto* webhooks =
      command.add_flag("--webhooks", o.webhooks,
                       "Serve the admission and conversion webhooks over TLS, and register them; the cluster needs deploy/webhooks.yaml");
  command.add_option("--webhook-address", o.webhook_address, "Where they listen; else webhook.host and webhook.port of the configuration")
      ->type_name("ADDRESS")
      ->needs(webhooks);
  command
      .add_option("--webhook-url", o.webhook_url,
                  "https://HOST:PORT by which the API server reaches them; else through the Service of internalCertManagement")
      ->type_name("URL")
      ->needs(webhooks);
  command
      .add_option("--webhook-cert-dir", o.webhook_cert_dir,
                  "Keep the certificates in this folder, else in the Secret of internalCertManagement; where that is not enabled, tls.crt, "
                  "tls.key and ca.crt are read from it, else from webhook.certDir")
      ->type_name("DIR")
      ->needs(webhooks);
  command.add_option("--webhook-cert-lifetime", o.webhook_cert_lifetime, "Life of certificates made here; renewed with a third left")
      ->type_name("DURATION")
      ->capture_default_str()
      ->needs(webhooks);
  auto* authorities =
      command
          .add_option(
              "--webhook-client-ca", o.webhook_client_ca,
              "Answer reviews only for callers whose certificate the authorities in this file (PEM) have signed: the API server's, which "
              "its --admission-control-config-file gives it. Conversions, for which it has none, are answered to all")
          ->type_name("FILE")
          ->needs(webhooks);
  command
      .add_option("--webhook-client-name", o.webhook_client_names,
                  "With --webhook-client-ca: the common name of that certificate; several may be given, without one any will do")
      ->type_name("NAME")
      ->needs(authorities);
  add_visibility_options(command, o.visibility);
  add_page_options(command, o.page);
  command.add_option("--log-level", o.log_level, "trace, debug, info, warning, error, critical or off")->capture_default_str();
}

namespace {

/// The first option that was given and is (or is not) among these.
template <class Names>
std::optional<std::string> given(const CLI::App& command, const Names& names, bool among) {
  for (const auto* option : command.get_options()) {
    const auto& all = option->get_lnames();
    if (option->count() == 0 || all.empty()) continue;
    if ((std::find(names.begin(), names.end(), all.front()) != names.end()) == among) return all.front();
  }
  return std::nullopt;
}

template <class Names>
std::string listed_but(const Names& names, std::string_view one) {
  std::string out;
  for (const auto name : names)
    if (name != one) out += (out.empty() ? "--" : ", --") + std::string(name);
  return out;
}

}  // namespace

std::optional<std::string> refused_with_quickstart(const CLI::App& command) {
  const auto other = given(command, of_quickstart, false);
  if (!other) return std::nullopt;
  return "--" + *other + ": not with --quickstart, which runs on a simulated cluster in this process; allowed with it: " +
         listed_but(of_quickstart, "quickstart");
}

std::optional<std::string> refused_with_observe(const CLI::App& command, const std::string& role) {
  if (role != "all") return "--role " + role + ": not with --observe; allowed: all, because one process looks on and has a log of its own";
  const auto other = given(command, not_of_observer, true);
  if (!other) return std::nullopt;
  return "--" + *other +
         ": not with --observe, which writes nothing to the cluster, takes no lease and has one domain in a file; allowed: "
         "--http, --metrics, --ui and what says where the cluster and the log are";
}

std::optional<std::string> refused_with_role(const CLI::App& command, const std::string& role) {
  if (role == "node") {
    const auto other = given(command, of_node, false);
    if (!other) return std::nullopt;
    return "--" + *other + ": not with --role node, which decides and is on no cluster; allowed with it: " + listed_but(of_node, "role");
  }
  const auto of_nodes = given(command, only_of_node, true);
  if (!of_nodes) return std::nullopt;
  return "--" + *of_nodes + ": --role is " + role + "; allowed: node, which shares partitions with others";
}

}  // namespace hindsight::cli
