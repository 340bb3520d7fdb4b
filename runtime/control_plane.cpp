#include "runtime/control_plane.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>

#include "actors/node.hpp"
#include "connectors/event_recorder/event_sender.hpp"
#include "connectors/kubernetes/auth/kubeconfig.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "events/settings.hpp"
#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "runtime/build_facts.hpp"
#include "runtime/chain_keeper.hpp"
#include "runtime/cluster_surroundings.hpp"
#include "runtime/complain.hpp"
#include "runtime/configuration.hpp"
#include "runtime/first_contact.hpp"
#include "runtime/history_keeper.hpp"
#include "runtime/log_location.hpp"
#include "runtime/one_domain.hpp"
#include "runtime/page_service.hpp"
#include "runtime/release.hpp"
#include "runtime/run_report.hpp"
#include "runtime/trees.hpp"

namespace hindsight::runtime {
namespace {

using operations::LogLevel;

/// What --webhooks and its companions ask for, in addition to the configuration.
Result<WebhookOptions> webhook_options(const RunOptions& o, const operations::Configuration& configuration) {
  WebhookOptions out;
  out.address = configuration.webhook_address;
  if (!o.webhook_address.empty()) {
    auto address = operations::parse_listen_address(o.webhook_address);
    if (!address) return fail(ErrorKind::invalid, "--webhook-address: " + address.error().message);
    out.address = *address;
  }
  auto lifetime = parse_duration(o.webhook_cert_lifetime);
  if (!lifetime || *lifetime < Duration::seconds(10))
    return fail(ErrorKind::invalid,
                "--webhook-cert-lifetime: found \"" + o.webhook_cert_lifetime + "\"; allowed: a duration of at least 10s");
  out.lifetime = *lifetime;
  if (!o.webhook_url.empty())
    if (auto host = host_of_webhook_url(o.webhook_url); !host) return tl::unexpected(host.error());
  out.url = o.webhook_url;
  out.client_authorities = o.webhook_client_ca;
  out.client_names = o.webhook_client_names;
  out.tls = configuration.tls;
  out.service = configuration.webhook_service;
  out.secret = configuration.webhook_secret;
  out.namespace_ = configuration.namespace_;
  out.makes_certificates = configuration.makes_webhook_certificates;
  out.folder = !o.webhook_cert_dir.empty() || out.makes_certificates ? o.webhook_cert_dir : configuration.webhook_certificates;
  return out;
}

void warn(const std::string& text) { operations::log(LogLevel::warning, text); }

/// The parts of it in the order in which they are made; what is made later uses what was made before, and is gone before it.
class ControlPlane {
 public:
  ControlPlane(const RunOptions& o, std::optional<Duration> keep_history, std::shared_ptr<const evidence::SigningKey> checkpoint_key,
               const operations::Configuration& configuration, const std::stop_token& stop)
      : o_(o),
        keep_history_(keep_history),
        checkpoint_key_(std::move(checkpoint_key)),
        configuration_(configuration),
        stop_(stop),
        elects_(configuration.leader_elect && !o.no_lease && !o.observe),
        trees_(o.domains == "trees") {}

  int run(std::ostream& err) {
    for (const auto step : {&ControlPlane::read_options, &ControlPlane::connect, &ControlPlane::listen})
      if (auto ok = (this->*step)(); !ok) return complain(err, ok.error());
    int status = 0;
    if (auto ok = meet_the_cluster(); !ok) {
      status = complain(err, ok.error());
    } else if (leadership_.wait(stop_)) {
      status = lead(err);
    }
    return stop_all() ? status : 1;
  }

 private:
  /// What is wrong with them is found before anything begins.
  Result<void> read_options();
  Result<void> connect();
  void elect();
  /// On --http and the like, so that others see how far the start has come.
  Result<void> listen();
  /// It answers, and gets answers: copies that stand by serve too, for it asks any of them.
  Result<void> meet_the_cluster();
  /// Decides until the lease is lost, something fails, or we are told to stop. The exit code.
  int lead(std::ostream& err);
  Result<void> start_deciding();
  Result<void> open_log_and_decide(actors::NodeOptions node, projections::MetricsOptions metrics);
  /// After the log is there, which it reads for itself.
  Result<void> serve_page();
  [[nodiscard]] actors::NodeOptions node_options();
  [[nodiscard]] projections::MetricsOptions metrics_of_domains() const;
  /// False: something had failed.
  bool stop_all();
  bool stop_domains();

  const RunOptions& o_;
  const std::optional<Duration> keep_history_;
  const std::shared_ptr<const evidence::SigningKey> checkpoint_key_;
  const operations::Configuration& configuration_;
  const std::stop_token stop_;
  const bool elects_, trees_;

  // what was asked for
  std::uint64_t log_limit_ = 0;
  operations::ListenAddress address_;
  std::optional<operations::ListenAddress> probe_address_;
  WebhookOptions webhook_options_;
  VisibilityOptions visibility_options_;
  MetricsOptions metrics_options_;
  PageServiceOptions page_options_;
  connectors::kubernetes::Connection connection_;

  const std::shared_ptr<actors::DayClock> clock_ = std::make_shared<actors::DayClock>();
  Leadership leadership_;
  std::unique_ptr<connectors::kubernetes::KubernetesCluster> cluster_;  ///< Tells of the lease until it is gone.
  std::unique_ptr<ClusterLink> link_;
  std::unique_ptr<events::Log> log_;  ///< Of all that happens, unless every tree has a domain.
  std::unique_ptr<SpaceWatch> space_;
  std::unique_ptr<HistoryKeeper> history_;
  std::unique_ptr<ChainKeeper> chain_;
  std::unique_ptr<ClusterDomains> domains_;
  Running running_;
  std::unique_ptr<connectors::EventSender> events_;
  std::unique_ptr<ClusterSurroundings> around_;
  std::unique_ptr<WebhookService> webhooks_;
  std::unique_ptr<VisibilityService> visibility_;
  std::unique_ptr<PageService> page_;
  const RunReport report_{running_, leadership_, *clock_, elects_, trees_};
  HttpServerPtr probes_;
  std::unique_ptr<MetricsService> scraping_;
  HttpServerPtr server_;
};

/// Takes the value of a result into `to`.
template <class T, class U>
Result<void> take(Result<T> from, U& to) {
  if (!from) return tl::unexpected(from.error());
  to = std::move(*from);
  return {};
}

Result<void> ControlPlane::read_options() {
  if (auto ok = take(parse_log_limit(o_.log_limit), log_limit_); !ok) return ok;
  const auto address = operations::parse_listen_address(o_.http);
  if (!address) return fail(ErrorKind::invalid, "--http: " + address.error().message);
  address_ = *address;
  if (auto ok = take(webhook_options(o_, configuration_), webhook_options_); !ok) return ok;
  if (auto ok = take(visibility_options(o_.visibility, configuration_), visibility_options_); !ok) return ok;
  if (auto ok = take(probe_address_of(o_.listeners), probe_address_); !ok) return ok;
  if (auto ok = take(metrics_options(o_.listeners, configuration_), metrics_options_); !ok) return ok;
  page_options_ = {.asked = o_.page,
                   .address_option = "--ui",
                   .memory_option = "--ui-memory",
                   .tls = configuration_.tls,
                   .log = o_.log,
                   .log_config = o_.log_config,
                   .beside_decisions = true};
  if (!o_.page.address.empty() && trees_)
    return fail(ErrorKind::invalid,
                "--ui: found with --domains trees, whose domains lie in many partitions; allowed: 'hindsight ui --log ...?partition=N'");
  if (!o_.page.address.empty())
    if (auto at = page_address(page_options_, true); !at) return tl::unexpected(at.error());
  return take(connectors::kubernetes::find_connection({o_.kubeconfig, o_.context}), connection_);
}

Result<void> ControlPlane::connect() {
  namespace k = connectors::kubernetes;
  webhook_options_.now = visibility_options_.now = metrics_options_.now = page_options_.now = [clock = clock_] { return clock->now(); };
  (void)clock_->on_step([](const actors::ClockStep& step) { warn(text_of(step)); });
  k::KubernetesClusterOptions options;
  options.http.on_date = [clock = clock_](Time date) { clock->hear(date); };
  options.max_in_flight = o_.max_in_flight;
  options.on_notice = [](const k::Notice& n) { warn(n.message); };
  if (auto ok = take(k::KubernetesCluster::connect(connection_, std::move(options)), cluster_); !ok) return ok;
  running_.cluster = cluster_.get();
  operations::log(LogLevel::info, "starting", {{"server", connection_.server}, {"release", release}});
  elect();
  around_ = std::make_unique<ClusterSurroundings>(*cluster_, configuration_, [this] {
    const auto* link = running_.link.load();
    return link != nullptr && link->synced();
  });
  return {};
}

void ControlPlane::elect() {
  if (!elects_) return leadership_.change(true);
  auto lease = configuration_.lease;
  if (!o_.lease_namespace.empty()) lease.namespace_ = o_.lease_namespace;
  lease.identity = identity();
  cluster_->elect(lease, [this](bool leads) {
    operations::log(LogLevel::info, leads ? "the lease is ours" : "the lease is not ours");
    leadership_.change(leads);
  });
}

Result<void> ControlPlane::listen() {
  operations::raise_descriptor_limit();
  const auto sources = report_.sources();
  if (auto ok = take(serve_probes(probe_address_, sources), probes_); !ok) return ok;
  if (auto ok = take(serve_metrics(o_.listeners, *cluster_, sources.metrics, metrics_options_), scraping_); !ok) return ok;
  return take(serve_operations(address_, sources), server_);
}

Result<void> ControlPlane::meet_the_cluster() {
  if (auto ok = first_contact(*cluster_, std::chrono::seconds(o_.connect_timeout), stop_); !ok) return ok;
  if (o_.webhooks) {
    if (auto ok = take(WebhookService::start(*cluster_, *around_, std::move(webhook_options_)), webhooks_); !ok) return ok;
    running_.webhooks = webhooks_.get();
    operations::log(LogLevel::info, "webhooks listen", {{"address", operations::to_string(webhooks_->address())}});
  }
  if (o_.visibility.serve) {
    const StateReader look = [this](const std::function<void(const admission::StateView&)>& reader) {
      const auto* d = running_.domains.load();
      return d != nullptr && d->look(reader);
    };
    if (auto ok = take(VisibilityService::start(*cluster_, look, visibility_options_), visibility_); !ok) return ok;
    running_.visibility = visibility_.get();
    operations::log(LogLevel::info, "visibility listens", {{"address", operations::to_string(visibility_->address())}});
  }
  return {};
}

// ---- deciding -----------------------------------------------------------------------------------------------------------------------

int ControlPlane::lead(std::ostream& err) {
  if (auto started = start_deciding(); !started) return complain(err, started.error());
  const bool lost = leadership_.wait_for_loss(stop_);
  if (lost) operations::log(LogLevel::error, "the lease was lost; another copy may act now");
  operations::log(LogLevel::info, "stopping");
  return lost ? 1 : 0;
}

Result<void> ControlPlane::start_deciding() {
  connectors::PlanSettings plans;
  plans.partial_admission = configuration_.gate("PartialAdmission");
  plans.topologies = configuration_.gate("TopologyAwareScheduling");
  plans.label_keys_to_copy = configuration_.label_keys_to_copy;
  link_ = std::make_unique<ClusterLink>(*cluster_, &warn, std::move(plans), configuration_.gate("TopologyAwareScheduling"),
                                        configuration_.message_interval, o_.observe);
  events_ = std::make_unique<connectors::EventSender>([this](connectors::Write write, std::function<void(connectors::WriteAnswer)> done) {
    cluster_->submit_best_effort(std::move(write), std::move(done));
  });
  if (trees_) {
    auto started = start_trees({o_.log, o_.log_config, o_.snapshot_folder, o_.domain, metrics_of_domains(), stop_, &warn}, node_options(),
                               *link_, *events_);
    if (auto ok = take(std::move(started), domains_); !ok) return ok;
  } else if (auto ok = open_log_and_decide(node_options(), metrics_of_domains()); !ok) {
    return ok;
  }
  events_->start_ticking();
  running_.domains = domains_.get();
  running_.link = link_.get();
  link_->start(*domains_, configuration_.json);
  return serve_page();
}

Result<void> ControlPlane::serve_page() {
  if (o_.page.address.empty()) return {};
  if (auto ok = take(PageService::start(page_options_, cluster_.get()), page_); !ok) return ok;
  operations::log(LogLevel::info, "the page is served", {{"address", page_->url()}});
  return {};
}

Result<void> ControlPlane::open_log_and_decide(actors::NodeOptions node, projections::MetricsOptions metrics) {
  LogAccess access{.kafka_config = o_.log_config, .limit = log_limit_, .snapshot_folder = o_.snapshot_folder};
  access.durability = o_.durability == "off"      ? events::Durability::off
                      : o_.durability == "normal" ? events::Durability::normal
                                                  : events::Durability::fsync;
  auto opened = when_reachable([&] { return open_log(o_.log, access); }, stop_, &warn);
  if (auto ok = take(std::move(opened), log_); !ok) return ok;
  space_ = std::make_unique<SpaceWatch>([this] { return log_->space(); });
  running_.space = space_.get();
  LiveProjectionsOptions look_on;
  look_on.metrics = std::move(metrics);
  look_on.events = o_.observe ? nullptr : events_.get();
  look_on.on_notice = &warn;
  auto started =
      OneDomain::start(*log_, std::move(node), std::move(look_on), [this](std::function<void()> work) { link_->post(std::move(work)); });
  if (auto ok = take(std::move(started), domains_); !ok) return ok;
  if (keep_history_)
    history_ = std::make_unique<HistoryKeeper>(
        *log_, HistoryKeeper::Options{.keep = *keep_history_,
                                      .release = release,
                                      .on_notice = [](const std::string& text) { operations::log(LogLevel::info, text); },
                                      .now = [clock = clock_] { return clock->now(); }});
  if (o_.role != "connector")
    chain_ = std::make_unique<ChainKeeper>(
        *log_, ChainKeeper::Options{
                   .release = release, .key = checkpoint_key_, .now = [clock = clock_] { return clock->now(); }, .on_notice = &warn});
  return {};
}

actors::NodeOptions ControlPlane::node_options() {
  actors::NodeOptions out;
  out.domain = o_.domain;
  if (o_.role == "connector") out.role = actors::Role::connector;
  out.release = release;
  out.writer = identity();
  out.clock = clock_;
  out.settings_reader = [](Text json) { return events::read_settings(json); };
  out.decide_from_start = false;
  out.observes = o_.observe;
  out.switches_mode = o_.switch_mode;
  if (!o_.observe) out.on_intents = [this](std::vector<admission::Intent> intents) { link_->want(std::move(intents)); };
  out.on_notice = &warn;
  out.on_failure = [this](const Error&) { leadership_.fail(); };
  out.quarantine_command = quarantine_command(o_.log_config);
  out.on_lead = [observes = o_.observe](std::uint64_t epoch, events::Position position) {
    operations::log(LogLevel::info, observes ? "the domain is observed, nothing is written to the cluster" : "the domain runs",
                    {{"position", std::to_string(position)}, {"epoch", std::to_string(epoch)}});
  };
  return out;
}

projections::MetricsOptions ControlPlane::metrics_of_domains() const {
  return {.replica_role = o_.observe ? "observer"
                          : elects_  ? "leader"
                                     : "standalone",
          .build = build_facts(),
          .cluster_queue_resources = configuration_.cluster_queue_resource_metrics,
          .topology_levels = configuration_.topology_metrics,
          .local_queues = configuration_.local_queue_metrics,
          .local_queue_selector = configuration_.local_queue_metrics_selector};
}

// ---- stopping -----------------------------------------------------------------------------------------------------------------------

/// Who asks others stops before they do.
bool ControlPlane::stop_all() {
  history_.reset();
  server_->stop();
  if (probes_) probes_->stop();
  if (scraping_) scraping_->stop();      // asks the domains and the cluster
  if (webhooks_) webhooks_->stop();      // asks the mirror and the cluster
  if (visibility_) visibility_->stop();  // asks the domains and the cluster
  if (page_) page_->stop();              // asks the cluster
  running_.cluster = nullptr;
  running_.domains = nullptr;
  running_.link = nullptr;
  running_.space = nullptr;
  space_.reset();
  if (domains_) domains_->stop_telling();  // who looks on tells events through the cluster
  events_.reset();
  cluster_->resign();
  cluster_->stop();
  const bool well = !domains_ || stop_domains();
  chain_.reset();  // covers what was decided last
  if (link_) link_->stop();
  domains_.reset();
  link_.reset();
  return well;
}

bool ControlPlane::stop_domains() {
  const auto stopped = domains_->stop();
  const auto all = domains_->status();
  const auto failed = std::ranges::find_if(all, [](const auto& d) { return !d.node.error.empty(); });
  if (failed != all.end())
    operations::log(LogLevel::critical, failed->node.error);
  else if (!stopped)
    warn(stopped.error().message);
  operations::log(LogLevel::info, "stopped", {{"position", all.empty() ? std::string("0") : std::to_string(all.front().node.position)}});
  return failed == all.end();
}

}  // namespace

std::string identity() {
  char host[256] = "host";
  (void)gethostname(host, sizeof host - 1);
  std::random_device random;
  return std::string(host) + "_" + std::to_string(getpid()) + "_" + std::to_string(random());
}

/// What --keep-history asks for; nothing: everything is kept.
Result<std::optional<Duration>> history_to_keep(const RunOptions& o) {
  if (o.keep_history.empty()) return std::optional<Duration>();
  const auto keep = parse_duration(o.keep_history);
  if (!keep || *keep < Duration::seconds(1))
    return fail(ErrorKind::invalid, "--keep-history: found \"" + o.keep_history + "\"; allowed: a duration of at least 1s, as 720h");
  if (o.role == "connector")
    return fail(ErrorKind::invalid, "--keep-history: --role is connector; allowed: all, node: who decides also forgets");
  if (!o.quickstart.empty()) return fail(ErrorKind::invalid, "--keep-history: not with --quickstart, whose history is short");
  return std::optional(*keep);
}

int run_control_plane(const RunOptions& options, const std::optional<Duration>& keep_history,
                      std::shared_ptr<const evidence::SigningKey> checkpoint_key, const operations::Configuration& configuration,
                      operations::Signals& signals, std::ostream& err) {
  return ControlPlane(options, keep_history, std::move(checkpoint_key), configuration, signals.stop_token()).run(err);
}

}  // namespace hindsight::runtime
