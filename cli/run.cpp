#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "actors/node.hpp"
#include "cli/build_facts.hpp"
#include "cli/call_name.hpp"
#include "cli/commands.hpp"
#include "cli/complain.hpp"
#include "cli/first_contact.hpp"
#include "cli/live/clock_report.hpp"
#include "cli/live/cluster_link.hpp"
#include "cli/live/cluster_surroundings.hpp"
#include "cli/live/history_keeper.hpp"
#include "cli/live/one_domain.hpp"
#include "cli/live/quickstart.hpp"
#include "cli/live/space_report.hpp"
#include "cli/live/webhook_service.hpp"
#include "cli/log_location.hpp"
#include "cli/release.hpp"
#include "cli/run_configuration.hpp"
#include "cli/run_decider.hpp"
#include "cli/run_listeners.hpp"
#include "cli/run_trees.hpp"
#include "cli/run_visibility.hpp"
#include "connectors/kubernetes/auth/kubeconfig.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "events/settings.hpp"
#include "operations/health.hpp"
#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "operations/signals.hpp"

namespace hindsight::cli {
namespace {

using operations::LogLevel;

struct RunOptions {
  std::vector<std::string> quickstart;
  bool keep = false, in_cluster = false, no_lease = false;
  std::string kubeconfig, context, log, log_config, log_limit, snapshot_folder, keep_history,
      durability = "fsync", http = "127.0.0.1:0", log_level = "info", lease_namespace, config, feature_gates;
  std::size_t max_in_flight = 64;
  unsigned connect_timeout = 60;
  std::string role = "all", domain = "default", domains = "one", group, member;
  unsigned session_timeout = 6;
  bool standby = false;
  bool webhooks = false;
  std::string webhook_address, webhook_url, webhook_cert_dir, webhook_cert_lifetime = "8760h", webhook_client_ca;
  std::vector<std::string> webhook_client_names;
  ListenerRunOptions listeners;
  VisibilityRunOptions visibility;
};

std::string identity() {
  char host[256] = "host";
  (void)gethostname(host, sizeof host - 1);
  std::random_device random;
  return std::string(host) + "_" + std::to_string(getpid()) + "_" + std::to_string(random());
}

int quickstart(const Session& session, const RunOptions& o, connectors::manifests::Input input,
               const operations::Configuration& configuration, events::Log& log, const std::stop_token& stop) {
  QuickstartOptions q;
  q.log_file = o.log.starts_with("sqlite:") ? o.log.substr(7) : o.log;
  q.program = call_name();
  q.keep = o.keep;
  if (!o.config.empty() || !o.feature_gates.empty()) q.configuration = configuration.json;
  q.colour = session.colour;
  if (auto ok = run_quickstart(log, std::move(input), q, session.out, session.err, stop); !ok) return complain(session.err, ok.error());
  return 0;
}

/// Waits until we lead, or are told to stop.
class Leadership {
 public:
  void change(bool leads) {
    const std::lock_guard lock(mutex_);
    leads_ = leads;
    if (!leads && led_) lost_ = true;
    led_ |= leads;
    changed_.notify_all();
  }
  bool wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return leads_; });
  }
  /// Until the lease is lost (true), something has failed, or we are told to stop.
  bool wait_for_loss(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return lost_ || failed_; });
    return lost_;
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool leads() const {
    const std::lock_guard lock(mutex_);
    return leads_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool leads_ = false, led_ = false, lost_ = false, failed_ = false;
};

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

/// The figures of each of many domains.
std::string domain_metrics(const std::vector<ClusterDomains::Status>& domains) {
  std::string body;
  const auto family = [&](const char* name, const char* kind, auto value) {
    body += std::string("# TYPE ") + name + " " + kind + "\n";
    for (const auto& d : domains)
      body += std::string(name) + "{partition=\"" + std::to_string(d.partition) + "\",domain=\"" + d.domain + "\"} " +
              std::to_string(value(d.node)) + "\n";
  };
  family("hindsight_log_position", "gauge", [](const auto& s) { return s.position; });
  family("hindsight_epoch", "gauge", [](const auto& s) { return s.epoch; });
  family("hindsight_inbox", "gauge", [](const auto& s) { return s.in_flight_records; });
  family("hindsight_domain_restarts_total", "counter", [](const auto& s) { return s.restarts; });
  family("hindsight_repeated_steps_total", "counter", [](const auto& s) { return s.repeated_steps; });
  return body;
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

int run_on_cluster(std::ostream& err, const RunOptions& o, const std::optional<Duration>& keep_history,
                   const operations::Configuration& configuration, operations::Signals& signals) {
  const auto log_limit = parse_log_limit(o.log_limit);
  if (!log_limit) return complain(err, log_limit.error());
  namespace k = connectors::kubernetes;
  auto address = operations::parse_listen_address(o.http);
  if (!address) return complain(err, {ErrorKind::invalid, "--http: " + address.error().message});
  auto hooks = webhook_options(o, configuration);
  if (!hooks) return complain(err, hooks.error());
  auto visible = visibility_options(o.visibility, configuration);
  if (!visible) return complain(err, visible.error());
  auto probe_address = probe_address_of(o.listeners);
  if (!probe_address) return complain(err, probe_address.error());
  auto scraped = metrics_options(o.listeners, configuration);
  if (!scraped) return complain(err, scraped.error());
  auto connection = k::find_connection({o.kubeconfig, o.context});
  if (!connection) return complain(err, connection.error());
  const auto clock = std::make_shared<actors::DayClock>();
  const auto now = [clock] { return clock->now(); };
  hooks->now = visible->now = scraped->now = now;
  (void)clock->on_step([](const actors::ClockStep& step) { operations::log(LogLevel::warning, text_of(step)); });
  k::KubernetesClusterOptions cluster_options;
  cluster_options.http.on_date = [clock](Time date) { clock->hear(date); };
  cluster_options.max_in_flight = o.max_in_flight;
  cluster_options.on_notice = [](const k::Notice& n) { operations::log(LogLevel::warning, n.message); };
  auto cluster = k::KubernetesCluster::connect(*connection, std::move(cluster_options));
  if (!cluster) return complain(err, cluster.error());
  operations::log(LogLevel::info, "starting", {{"server", connection->server}, {"release", release}});

  Leadership leadership;
  const auto stop = signals.stop_token();
  const bool elects = configuration.leader_elect && !o.no_lease;
  if (!elects) {
    leadership.change(true);
  } else {
    k::LeaseSettings lease = configuration.lease;
    if (!o.lease_namespace.empty()) lease.namespace_ = o.lease_namespace;
    lease.identity = identity();
    (*cluster)->elect(lease, [&](bool leads) {
      operations::log(LogLevel::info, leads ? "the lease is ours" : "the lease is not ours");
      leadership.change(leads);
    });
  }

  const bool trees = o.domains == "trees";
  std::unique_ptr<ClusterLink> link;
  std::unique_ptr<events::Log> log;  // of all that happens, unless every tree has a domain
  std::unique_ptr<SpaceWatch> space;
  std::unique_ptr<HistoryKeeper> history;
  std::unique_ptr<ClusterDomains> domains;
  std::atomic<ClusterLink*> link_now = nullptr;
  std::atomic<ClusterDomains*> domains_now = nullptr;
  std::atomic<SpaceWatch*> space_now = nullptr;
  std::unique_ptr<connectors::EventSender> events;
  const ClusterSurroundings around(**cluster, configuration, [&] {
    auto* l = link_now.load();
    return l != nullptr && l->synced();
  });
  std::unique_ptr<WebhookService> webhooks;
  std::atomic<WebhookService*> webhooks_now = nullptr;
  std::unique_ptr<VisibilityService> visibility;
  std::atomic<VisibilityService*> visibility_now = nullptr;
  operations::HealthSources sources;
  const auto status_of_domains = [&] {
    auto* d = domains_now.load();
    return d == nullptr ? std::vector<ClusterDomains::Status>{} : d->status();
  };
  const auto clocks = [&] {
    Duration ahead;
    for (const auto& d : status_of_domains()) ahead = std::max(ahead, d.node.ahead);
    return ClockReport{clock->standing(), ahead};
  };
  sources.alive = [&] {
    std::string error;
    for (const auto& d : status_of_domains())
      if (error.empty()) error = d.node.error;
    return std::vector<operations::HealthCondition>{{"domain", error.empty(), error.empty() ? "runs" : error}};
  };
  sources.ready = [&] {
    auto* l = link_now.load();
    const auto all = status_of_domains();
    const bool caught_up = !all.empty() && std::ranges::all_of(all, [](const auto& d) { return d.node.caught_up; });
    std::string waits;
    for (const auto& d : all)
      if (waits.empty()) waits = d.node.waits_for_log;
    const bool synced = l != nullptr && l->synced();
    std::vector<operations::HealthCondition> conditions{{"lease", true,
                                                         !elects              ? "not asked for"
                                                         : leadership.leads() ? "held"
                                                                              : "standby"},
                                                        {"log", caught_up,
                                                         caught_up       ? "caught up"
                                                         : waits.empty() ? "behind"
                                                                         : waits},
                                                        {"mirror", synced, synced ? "synced" : "not synced"},
                                                        clocks().condition()};
    if (const auto* watch = space_now.load())
      if (auto disk = watch->condition()) conditions.push_back(std::move(*disk));
    if (auto* h = webhooks_now.load()) conditions.push_back(h->condition());
    if (auto* v = visibility_now.load()) conditions.push_back(v->condition());
    return conditions;
  };
  sources.metrics = [&] {
    auto* l = link_now.load();
    auto* d = domains_now.load();
    std::string body = d == nullptr ? std::string() : d->metrics_text();
    const bool folded = !body.empty();
    const auto add = [&](const char* name, const char* kind, std::uint64_t v) {
      body += std::string("# TYPE ") + name + " " + kind + "\n" + name + " " + std::to_string(v) + "\n";
    };
    if (const auto all = status_of_domains(); trees) {
      body += domain_metrics(all);
    } else if (!all.empty()) {
      const auto& s = all.front().node;
      add("hindsight_log_position", "gauge", s.position);
      if (!folded) add("hindsight_epoch", "gauge", s.epoch);  // else it is there: a family may stand in an answer once
      add("hindsight_decisions_total", "counter", s.decisions);
      add("hindsight_inbox", "gauge", s.in_flight_records);
      add("hindsight_domain_restarts_total", "counter", s.restarts);
      add("hindsight_repeated_steps_total", "counter", s.repeated_steps);
    }
    body += clocks().metrics();
    if (const auto* watch = space_now.load())
      if (const auto seen = watch->latest()) body += space_metrics(*seen);
    if (l != nullptr) {
      const auto f = l->figures();
      add("hindsight_writes_total", "counter", f.writes);
      add("hindsight_write_conflicts_total", "counter", f.conflicts);
      add("hindsight_intents_outstanding", "gauge", f.outstanding);
      add("hindsight_watch_events_waiting", "gauge", f.queued);
    }
    return body;
  };
  operations::raise_descriptor_limit();
  auto probes = serve_probes(*probe_address, sources);
  if (!probes) return complain(err, probes.error());
  auto scraping = serve_metrics(o.listeners, **cluster, sources.metrics, *scraped);
  if (!scraping) return complain(err, scraping.error());
  auto server = serve_operations(*address, std::move(sources));
  if (!server) return complain(err, server.error());

  // Copies that stand by answer too: the API server asks any of them.
  const auto serve_webhooks = [&]() -> Result<void> {
    if (!o.webhooks) return {};
    auto started = WebhookService::start(**cluster, around, std::move(*hooks));
    if (!started) return tl::unexpected(started.error());
    webhooks = std::move(*started);
    webhooks_now = webhooks.get();
    operations::log(LogLevel::info, "webhooks listen", {{"address", operations::to_string(webhooks->address())}});
    return {};
  };

  const auto serve_visibility = [&]() -> Result<void> {
    if (!o.visibility.serve) return {};
    const StateReader look = [&](const std::function<void(const admission::StateView&)>& reader) {
      auto* d = domains_now.load();
      return d != nullptr && d->look(reader);
    };
    auto started = VisibilityService::start(**cluster, look, *visible);
    if (!started) return tl::unexpected(started.error());
    visibility = std::move(*started);
    visibility_now = visibility.get();
    operations::log(LogLevel::info, "visibility listens", {{"address", operations::to_string(visibility->address())}});
    return {};
  };

  int status = 0;
  const auto contact = first_contact(**cluster, std::chrono::seconds(o.connect_timeout), stop);
  if (!contact) {
    status = complain(err, contact.error());
  } else if (auto served = serve_webhooks(); !served) {
    status = complain(err, served.error());
  } else if (auto shown = serve_visibility(); !shown) {
    status = complain(err, shown.error());
  } else if (leadership.wait(stop)) {
    const auto notice = [](const std::string& text) { operations::log(LogLevel::warning, text); };
    connectors::PlanSettings plans;
    plans.partial_admission = configuration.gate("PartialAdmission");
    plans.label_keys_to_copy = configuration.label_keys_to_copy;
    link = std::make_unique<ClusterLink>(**cluster, notice, std::move(plans));
    events = std::make_unique<connectors::EventSender>(
        [&to = **cluster](connectors::Write write, std::function<void(connectors::WriteAnswer)> done) {
          to.submit_best_effort(std::move(write), std::move(done));
        });
    const auto start_domains = [&]() -> Result<void> {
      actors::NodeOptions node_options;
      node_options.domain = o.domain;
      if (o.role == "connector") node_options.role = actors::Role::connector;
      node_options.release = release;
      node_options.writer = identity();
      node_options.clock = clock;
      node_options.settings_reader = [](Text json) { return events::read_settings(json); };
      node_options.decide_from_start = false;
      node_options.on_intents = [&](std::vector<admission::Intent> intents) { link->want(std::move(intents)); };
      node_options.on_notice = notice;
      node_options.on_failure = [&](const Error&) { leadership.fail(); };
      node_options.quarantine_command = quarantine_command(o.log_config);
      node_options.on_lead = [](std::uint64_t epoch, events::Position position) {
        operations::log(LogLevel::info, "the domain runs", {{"position", std::to_string(position)}, {"epoch", std::to_string(epoch)}});
      };
      projections::MetricsOptions metrics{.replica_role = elects ? "leader" : "standalone",
                                          .build = build_facts(),
                                          .cluster_queue_resources = configuration.cluster_queue_resource_metrics,
                                          .local_queues = configuration.local_queue_metrics,
                                          .local_queue_selector = configuration.local_queue_metrics_selector};
      if (trees) {
        auto started =
            start_trees({o.log, o.log_config, o.snapshot_folder, o.domain, std::move(metrics)}, std::move(node_options), *link, *events);
        if (!started) return tl::unexpected(started.error());
        domains = std::move(*started);
        return {};
      }
      LogAccess access{.kafka_config = o.log_config, .limit = *log_limit, .snapshot_folder = o.snapshot_folder};
      access.durability = o.durability == "off"      ? events::Durability::off
                          : o.durability == "normal" ? events::Durability::normal
                                                     : events::Durability::fsync;
      auto opened = open_log(o.log, access);
      if (!opened) return tl::unexpected(opened.error());
      log = std::move(*opened);
      space = std::make_unique<SpaceWatch>([&from = *log] { return from.space(); });
      space_now = space.get();
      LiveProjectionsOptions look_on;
      look_on.metrics = std::move(metrics);
      look_on.events = events.get();
      look_on.on_notice = notice;
      auto started = OneDomain::start(*log, std::move(node_options), std::move(look_on),
                                      [&](std::function<void()> work) { link->post(std::move(work)); });
      if (!started) return tl::unexpected(started.error());
      domains = std::move(*started);
      if (keep_history)
        history = std::make_unique<HistoryKeeper>(
            *log, HistoryKeeper::Options{.keep = *keep_history,
                                         .release = release,
                                         .on_notice = [](const std::string& text) { operations::log(LogLevel::info, text); },
                                         .now = now});
      return {};
    };
    if (auto started = start_domains(); !started) {
      status = complain(err, started.error());
    } else {
      events->start_ticking();
      domains_now = domains.get();
      link_now = link.get();
      link->start(*domains, configuration.json);
      if (leadership.wait_for_loss(stop)) {
        operations::log(LogLevel::error, "the lease was lost; another copy may act now");
        status = 1;
      }
      operations::log(LogLevel::info, "stopping");
    }
    history.reset();
    (*server)->stop();
    if (*probes) (*probes)->stop();
    if (*scraping) (*scraping)->stop();  // asks the domains and the cluster
    if (webhooks) webhooks->stop();      // asks the mirror and the cluster
    if (visibility) visibility->stop();  // asks the domains and the cluster
    domains_now = nullptr;
    link_now = nullptr;
    space_now = nullptr;
    space.reset();
    if (domains) domains->stop_telling();  // who looks on tells events through the cluster
    events.reset();
    (*cluster)->resign();
    (*cluster)->stop();
    if (domains) {
      const auto stopped = domains->stop();
      const auto all = domains->status();
      const auto failed = std::ranges::find_if(all, [](const auto& d) { return !d.node.error.empty(); });
      if (failed != all.end()) {
        operations::log(LogLevel::critical, failed->node.error);
        status = 1;
      } else if (!stopped) {
        operations::log(LogLevel::warning, stopped.error().message);
      }
      operations::log(LogLevel::info, "stopped",
                      {{"position", all.empty() ? std::string("0") : std::to_string(all.front().node.position)}});
    }
    link->stop();
    domains.reset();
    link.reset();
    return status;
  }
  (*server)->stop();
  if (*probes) (*probes)->stop();
  if (*scraping) (*scraping)->stop();
  if (webhooks) webhooks->stop();
  if (visibility) visibility->stop();
  (*cluster)->resign();
  (*cluster)->stop();
  return status;
}

int run(const Session& session, const RunOptions& o) {
  std::ostream& err = session.err;
  if (is_kafka(o.log) && o.durability != "fsync")
    return complain(err, {ErrorKind::invalid, "--durability: is for files; on Kafka the topic's min.insync.replicas decides"});
  if ((is_kafka(o.log) || !o.quickstart.empty()) && !o.log_limit.empty())
    return complain(
        err, {ErrorKind::invalid, "--log-limit: is for the file of a control plane; the settings of a topic say how large it may become"});
  if (!is_kafka(o.log) && !o.snapshot_folder.empty())
    return complain(err, {ErrorKind::invalid, "--snapshot-dir: is for a log on Kafka; a file holds its own snapshots"});
  auto level = operations::parse_log_level(o.log_level);
  if (!level) return complain(err, level.error());
  operations::set_up_logging({.level = *level});
  operations::flush_log_on_exit();
  auto configuration = run_configuration(o.config, o.feature_gates);
  if (!configuration) return complain_of_file(err, configuration.error());
  if (o.role != "all" && !is_kafka(o.log))
    return complain(err, {ErrorKind::invalid, "--role " + o.role + ": --log is " + (o.log.empty() ? std::string("not given") : o.log) +
                                                  "; allowed: kafka:HOST:PORT[,...][/PREFIX], a log that several processes can write to"});
  if (o.role != "all" && !o.quickstart.empty())
    return complain(err, {ErrorKind::invalid, "--role " + o.role + ": not with --quickstart, which does everything in one process"});
  if (o.domains == "trees" && o.role == "all")
    return complain(
        err, {ErrorKind::invalid,
              "--domains trees: --role is all; allowed: connector, with a --role node beside it: in one process one domain decides for all "
              "trees, and a log that is written by several is needed to share them"});
  if (o.domains == "trees" && o.domain.find('/') != std::string::npos)
    return complain(
        err, {ErrorKind::invalid, "--domain: found \"" + o.domain +
                                      "\"; allowed with --domains trees: a name without \"/\", which begins the names of its domains"});
  const auto keep_history = history_to_keep(o);
  if (!keep_history) return complain(err, keep_history.error());
  if (o.role == "node") {
    operations::Signals signals([](const char* name) { operations::log(LogLevel::info, "told to stop", {{"signal", name}}); });
    return run_decider({.log = o.log,
                        .log_config = o.log_config,
                        .snapshot_folder = o.snapshot_folder,
                        .http = o.http,
                        .listeners = o.listeners,
                        .group = o.group,
                        .member = o.member,
                        .session_timeout_seconds = o.session_timeout,
                        .standby = o.standby,
                        .keep_history = *keep_history,
                        .identity = identity()},
                       signals, err);
  }
  if (o.quickstart.empty()) {
    RunOptions on_cluster = o;
    if (on_cluster.log.empty()) on_cluster.log = "sqlite:hindsight.db";
    operations::Signals signals([](const char* name) { operations::log(LogLevel::info, "told to stop", {{"signal", name}}); });
    return run_on_cluster(err, on_cluster, *keep_history, *configuration, signals);
  }
  operations::Signals signals;
  auto input = connectors::manifests::read_input(o.quickstart);  // before there is a log: what cannot be read leaves none behind
  if (!input) return complain_of_file(err, input.error());
  RunOptions with_log = o;
  if (o.log.empty()) {  // each quick start begins a log of its own, in place of the last one's
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::is_directory("build", ignored) ? "build" : ".";
    const std::string file = (folder / "quickstart.db").lexically_normal().string();
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file + suffix, ignored);
    with_log.log = "sqlite:" + file;
  }
  auto log = open_log(with_log.log, {.kafka_config = o.log_config});
  if (!log) return complain(err, log.error());
  if (const auto last = (*log)->last(); !last || *last != 0)
    return complain(err, {ErrorKind::conflict,
                          "--log: " + with_log.log + " has records already; allowed with --quickstart: a new file, or empty topics"});
  return quickstart(session, with_log, std::move(*input), *configuration, **log, signals.stop_token());
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto o = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "The control plane: on a cluster until it is stopped, or on the simulated one");
  command->add_option("--quickstart", o->quickstart, "Run on the simulated cluster, fed with these manifests (files or folders)");
  command->add_flag("--keep", o->keep, "With --quickstart: stay until interrupted");
  command->add_option("--kubeconfig", o->kubeconfig, "Which cluster; else KUBECONFIG, the service account, ~/.kube/config");
  command->add_option("--context", o->context, "Context of the kubeconfig");
  command->add_option("--log", o->log,
                      "The log: sqlite:FILE or kafka:HOST:PORT[,...][/PREFIX][?partition=N]; default hindsight.db, with --quickstart a new "
                      "build/quickstart.db");
  add_log_config(*command, o->log_config);
  command->add_option("--config", o->config, "Configuration of config.kueue.x-k8s.io/v1beta2 or v1beta1, YAML or JSON; else the defaults")
      ->type_name("FILE");
  command->add_option("--feature-gates", o->feature_gates, "A=true,B=false; not together with featureGates in the file")
      ->type_name("GATES");
  command
      ->add_option("--role", o->role,
                   "all: everything; connector: mirror a cluster into the log and carry decisions out; node: decide, and share the log's "
                   "partitions with other nodes")
      ->check(CLI::IsMember({"all", "connector", "node"}))
      ->capture_default_str();
  command->add_option("--domain", o->domain, "Name of this cluster's domain in the log; clusters that share a log have one each")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--domains", o->domains,
                   "With --role connector: one: all of the cluster is one domain; trees: each tree of cohorts is a domain, named "
                   "NAME/cohort/ROOT or "
                   "NAME/queue/NAME, in the partition that follows from its name")
      ->check(CLI::IsMember({"one", "trees"}))
      ->capture_default_str();
  command
      ->add_option("--group", o->group,
                   "With --role node: the consumer group of the nodes that share the partitions; the log's prefix if it is not given")
      ->type_name("NAME");
  command
      ->add_option("--member", o->member,
                   "With --role node: the name of this one, by which it gets its partitions again when it is back within the session "
                   "timeout; without it they go to others at once")
      ->type_name("NAME");
  command
      ->add_option("--session-timeout", o->session_timeout, "With --role node: seconds of silence after which others take its partitions")
      ->check(CLI::Range(1, 300))
      ->capture_default_str();
  command->add_flag("--standby", o->standby,
                    "With --role node: follow the partitions of the other nodes too, to decide at once when they become this one's; takes "
                    "the memory of their whole state");
  command
      ->add_option("--snapshot-dir", o->snapshot_folder,
                   "With a log on Kafka: keep copies of its newest snapshots in this folder, so that a start need not fetch them from the "
                   "brokers")
      ->type_name("DIR");
  command
      ->add_option("--keep-history", o->keep_history,
                   "Forget records that are older than this, counted back from the last one; each domain gets a snapshot first, so "
                   "that every later moment can be reached as before. Without it all is kept")
      ->type_name("DURATION");
  command
      ->add_option("--log-limit", o->log_limit,
                   "How large the log's file may become, as 8Gi: beyond it nothing is decided until there is room, as on a full disk. "
                   "Without it the disk is the limit")
      ->type_name("SIZE");
  command->add_option("--durability", o->durability, "fsync: a decision is acted upon after it is on disk; normal, off: faster and weaker")
      ->check(CLI::IsMember({"fsync", "normal", "off"}))
      ->capture_default_str();
  command
      ->add_option(
          "--http", o->http,
          "Where /healthz, /readyz, /metrics, /log-level listen, in plain text and for everybody who gets there; port 0: any free one")
      ->capture_default_str();
  add_listener_options(*command, o->listeners);
  command->add_option("--max-in-flight", o->max_in_flight, "Requests to the API server at the same time")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--connect-timeout", o->connect_timeout, "Seconds to wait for the API server at the start; 0: for ever")
      ->capture_default_str();
  command->add_option(
      "--lease-namespace", o->lease_namespace,
      "Namespace of the lease that lets one of several copies act; else that of the configuration, by default kueue-system");
  command->add_flag("--no-lease", o->no_lease, "Act without a lease; for a single copy only");
  auto* webhooks =
      command->add_flag("--webhooks", o->webhooks,
                        "Serve the admission and conversion webhooks over TLS, and register them; the cluster needs deploy/webhooks.yaml");
  command->add_option("--webhook-address", o->webhook_address, "Where they listen; else webhook.host and webhook.port of the configuration")
      ->type_name("ADDRESS")
      ->needs(webhooks);
  command
      ->add_option("--webhook-url", o->webhook_url,
                   "https://HOST:PORT by which the API server reaches them; else through the Service of internalCertManagement")
      ->type_name("URL")
      ->needs(webhooks);
  command
      ->add_option(
          "--webhook-cert-dir", o->webhook_cert_dir,
          "Keep the certificates in this folder, else in the Secret of internalCertManagement; where that is not enabled, tls.crt, "
          "tls.key and ca.crt are read from it, else from webhook.certDir")
      ->type_name("DIR")
      ->needs(webhooks);
  command->add_option("--webhook-cert-lifetime", o->webhook_cert_lifetime, "Life of certificates made here; renewed with a third left")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      ->add_option(
          "--webhook-client-ca", o->webhook_client_ca,
          "Answer reviews only for callers whose certificate the authorities in this file (PEM) have signed: the API server's, which "
          "its --admission-control-config-file gives it. Conversions, for which it has none, are answered to all")
      ->type_name("FILE")
      ->needs(webhooks);
  command
      ->add_option("--webhook-client-name", o->webhook_client_names,
                   "With --webhook-client-ca: the common name of that certificate; several may be given, without one any will do")
      ->type_name("NAME")
      ->needs(webhooks);
  add_visibility_options(*command, o->visibility);
  command->add_option("--log-level", o->log_level, "trace, debug, info, warning, error, critical or off")->capture_default_str();
  command->footer("Example: hindsight run --kubeconfig build/cluster/kubeconfig --log sqlite:hindsight.db");
  command->callback([o, &session] { session.action = [o, &session]() -> Result<int> { return run(session, *o); }; });
}

}  // namespace hindsight::cli
