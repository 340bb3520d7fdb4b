#include "runtime/decider.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>

#include "events/kafka/membership.hpp"
#include "operations/health.hpp"
#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "runtime/clock_report.hpp"
#include "runtime/complain.hpp"
#include "runtime/log_location.hpp"
#include "runtime/node_metrics.hpp"
#include "runtime/partition_owner.hpp"
#include "runtime/release.hpp"

namespace hindsight::runtime {
namespace {

using operations::LogLevel;

constexpr std::chrono::milliseconds members_timeout{1'000};
constexpr std::chrono::seconds hand_over_max{10};

/// What went wrong with the group, once.
class Failure {
 public:
  void set(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    changed_.notify_all();
  }
  std::optional<Error> wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return error_.has_value(); });
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Error> error_;
};

operations::HealthSources health_of(const PartitionOwner& owner, const actors::DayClock& clock) {
  operations::HealthSources out;
  const auto clocks = [&owner, &clock] {
    Duration ahead;
    for (const auto& d : owner.domains()) ahead = std::max(ahead, d.status.ahead);
    return ClockReport{clock.standing(), ahead};
  };
  out.alive = [] { return std::vector<operations::HealthCondition>{{"process", true, "runs"}}; };
  out.ready = [&owner, clocks] {
    const auto standing = owner.standing();
    const auto domains = owner.domains();
    const auto followed = owner.standby();
    const auto ready = std::ranges::count_if(domains, [](const auto& d) { return d.status.caught_up; });
    return std::vector<operations::HealthCondition>{
        {"partitions", standing.open.size() == standing.wanted.size(),
         std::to_string(standing.open.size()) + " of " + std::to_string(standing.wanted.size()) + " open"},
        {"domains", static_cast<std::size_t>(ready) == domains.size(),
         std::to_string(ready) + " of " + std::to_string(domains.size()) + " decided here"},
        // Whoever waits for it is served by another node: no reason to be called unready.
        {"standby", true, std::to_string(followed.ready) + " of " + std::to_string(followed.domains) + " followed to their end"},
        clocks().condition()};
  };
  out.metrics = [&owner, clocks] {
    MetricsText told;
    std::vector<NodeFigures> nodes;
    for (const auto& d : owner.domains()) nodes.push_back({labels_of_domain(d.partition, d.name), d.status, d.snapshots});
    add_node_metrics(told, nodes, {.replica_role = "leader"});
    const auto standing = owner.standing();
    const auto followed = owner.standby();
    add_fleet_metrics(told, {standing.wanted.size(), standing.open.size(), followed.domains, followed.ready});
    clocks().add_metrics(told);
    return told.text();
  };
  return out;
}

}  // namespace

int run_decider(const DeciderRunOptions& o, operations::Signals& signals, std::ostream& err) {
  if (!is_kafka(o.log))
    return complain(err, {ErrorKind::invalid, "--role node: --log is " + (o.log.empty() ? std::string("not given") : o.log) +
                                                  "; allowed: kafka:HOST:PORT[,...][/PREFIX], a log that several processes can write to"});
  auto location = events::kafka::parse_location(o.log);
  if (!location) return complain(err, location.error());
  auto settings = kafka_settings({.kafka_config = o.log_config});
  if (!settings) return complain(err, settings.error());
  auto address = operations::parse_listen_address(o.http);
  if (!address) return complain(err, {ErrorKind::invalid, "--http: " + address.error().message});
  auto probe_address = probe_address_of(o.listeners);
  if (!probe_address) return complain(err, probe_address.error());
  if (o.listeners.metrics)
    return complain(
        err, {ErrorKind::invalid,
              "--metrics: --role is node; allowed: all, connector: a node knows no API server that could be asked who may see them"});
  const auto notice = [](const std::string& text) { operations::log(LogLevel::warning, text); };
  const auto look = [&] { return open_log(location->text(), {.read_only = true, .kafka_config = o.log_config}); };
  if (const auto probe = when_reachable(look, signals.stop_token(), notice); !probe) return complain(err, probe.error());
  std::vector<std::int32_t> followed;
  if (o.standby) {
    auto all = *location;
    all.partition = 0;
    const auto count = [&] { return partitions_of(all.text(), {.read_only = true, .kafka_config = o.log_config}); };
    const auto partitions = when_reachable(count, signals.stop_token(), notice);
    if (!partitions) return complain(err, partitions.error());
    followed.resize(partitions->size());
    std::iota(followed.begin(), followed.end(), 0);
  }

  const auto clock = std::make_shared<actors::DayClock>();
  (void)clock->on_step([](const actors::ClockStep& step) { operations::log(LogLevel::warning, text_of(step)); });
  PartitionOwner owner({.open =
                            [&](std::int32_t partition) {
                              auto one = *location;
                              one.partition = partition;
                              return open_log(one.text(), {.kafka_config = o.log_config, .snapshot_folder = o.snapshot_folder});
                            },
                        .writer = o.identity,
                        .release = release,
                        .clock = clock,
                        .standby = std::move(followed),
                        .on_notice = [](const std::string& text) { operations::log(LogLevel::info, text); },
                        .quarantine_command = quarantine_command(o.log_config),
                        .keep_history = o.keep_history,
                        .checkpoint_key = o.checkpoint_key});
  operations::raise_descriptor_limit();
  auto probes = serve_probes(*probe_address, health_of(owner, *clock));
  if (!probes) return complain(err, probes.error());
  auto server = serve_operations(*address, health_of(owner, *clock));
  if (!server) return complain(err, server.error());

  Failure failure;
  auto membership = events::kafka::Membership::join(
      {*location, *settings}, {.group = o.group.empty() ? location->prefix : o.group,
                               .member = o.member,
                               .session_timeout = std::chrono::seconds(o.session_timeout_seconds),
                               .on_assigned =
                                   [&](const std::vector<std::int32_t>& partitions) {
                                     std::string text;
                                     for (const auto p : partitions) text += (text.empty() ? "" : ", ") + std::to_string(p);
                                     operations::log(LogLevel::info, "partitions of this node", {{"partitions", text}});
                                     owner.own(partitions);
                                   },
                               .on_failure = [&](const Error& e) { failure.set(e); }});
  if (!membership) return complain(err, membership.error());
  const auto failed = failure.wait(signals.stop_token());
  operations::log(LogLevel::info, "stopping");
  // Whoever takes over folds the log first; until then this one decides on. A static member's partitions wait for its return.
  const bool others = !failed && o.member.empty() && (*membership)->members(members_timeout) > 1;
  membership->reset();
  if (others && !owner.hand_over(hand_over_max))
    operations::log(LogLevel::warning, "no other node has begun with what was decided here",
                    {{"waited", std::to_string(hand_over_max.count()) + " s"}});
  (*server)->stop();
  if (*probes) (*probes)->stop();
  return failed ? complain(err, *failed) : 0;
}

}  // namespace hindsight::runtime
