#include "runtime/quickstart.hpp"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <ostream>

#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/memory_mirror.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"
#include "projections/tables.hpp"
#include "runtime/call_name.hpp"
#include "runtime/node_snapshots.hpp"
#include "runtime/story.hpp"
#include "simulation/run_scenario.hpp"
#include "simulation/topology_requests.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::runtime {
namespace {

/// A stream that several threads write to, whole lines at a time.
class Voice {
 public:
  explicit Voice(std::ostream& to) : to_(to) {}
  void say(const std::string& lines) {
    const std::lock_guard lock(mutex_);
    to_ << lines << std::flush;
  }

 private:
  std::mutex mutex_;
  std::ostream& to_;
};

/// Seconds since the start, as they stand before each line.
std::string moment(Time now, Time start) {
  char text[32];
  std::snprintf(text, sizeof text, "%7.1f s  ", static_cast<double>((now - start).micros) / 1e6);
  return text;
}

/// Whom the closing commands are about: a Workload that was preempted, one that waits.
struct Cast {
  std::string preempted, waiting;

  void meet(const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (d == nullptr) return;
    for (const auto& e : d->events) {
      if (const auto* p = std::get_if<WorkloadPreempted>(&e); p != nullptr && preempted.empty())
        preempted = std::string(p->workload.namespace_) + "/" + std::string(p->workload.name);
      if (const auto* q = std::get_if<EntryRequeued>(&e); q != nullptr && q->reason == "ExceedsMaxQuota")
        waiting = std::string(q->workload.namespace_) + "/" + std::string(q->workload.name);
    }
  }
};

/// What the cluster shows, kept until the node is at rest and then given to it at once. Handed over one by one, observations would be
/// decided upon wherever the node's threads happen to be, and no two runs would have the same log.
class GatheredNews {
 public:
  void take(const Observation& o) {
    RecordView r;
    r.envelope.domain = "quickstart";  // which domain it is for the node says
    r.body = o;
    const auto bytes = encoder_.encode(r);
    kept_.emplace_back(bytes.begin(), bytes.end());
  }

  /// Gives what was gathered, and waits until the node has decided all that follows from it.
  Result<void> give(actors::Node& node) {
    while (!kept_.empty()) {
      std::vector<Observation> share;
      std::size_t bytes = 0;
      for (const auto& one : kept_) {
        if (share.size() == share_records || (!share.empty() && bytes + one.size() > share_bytes)) break;
        if (readers_.size() == share.size()) readers_.emplace_back();
        const auto read = readers_[share.size()].read(one);
        if (!read) return tl::unexpected(read.error());
        share.push_back(std::get<Observation>((*read)->body));
        bytes += one.size();
      }
      if (node.observe(share) == actors::Credit::stopped) break;  // why, waiting tells
      for (std::size_t i = 0; i < share.size(); ++i) kept_.pop_front();
      if (auto ok = node.wait_until_rest(); !ok) return ok;
    }
    return node.wait_until_rest();
  }

 private:
  // So much comes back from a log in one piece (actors/tail.hpp), so that no decision falls in the middle of it.
  static constexpr std::size_t share_records = 512, share_bytes = std::size_t{1} << 20;

  events::Encoder encoder_;
  std::deque<std::vector<std::byte>> kept_;
  std::deque<events::RecordReader> readers_;  ///< One for each observation of a share: what it read lasts until it reads again.
};

/// The one that is played; manifests are one, too.
Result<connectors::manifests::Scenario> scenario_in(connectors::manifests::Input input) {
  const std::size_t scenarios = input.scenarios.size();
  if (scenarios == 0) return connectors::simulated::scenario_of(std::move(input.manifests), "quickstart");
  if (scenarios == 1 && input.manifests.empty()) return std::move(input.scenarios.front());
  return fail(ErrorKind::invalid, "--quickstart: found " + std::to_string(scenarios) + (scenarios == 1 ? " scenario" : " scenarios") +
                                      (input.manifests.empty() ? "" : " and manifests") + "; allowed: one scenario, or manifests");
}

}  // namespace

Result<Play> play_of(connectors::manifests::Input input, const std::string& configuration) {
  auto scenario = scenario_in(std::move(input));
  if (!scenario) return tl::unexpected(scenario.error());
  auto under = simulation::configuration_of(*scenario, configuration);
  if (!under) return tl::unexpected(under.error());
  return Play{std::move(*scenario), std::move(*under)};
}

Result<void> run_quickstart(events::Log& log, Play play, const QuickstartOptions& options, std::ostream& out, std::ostream& err,
                            const std::stop_token& stop) {
  Voice voice(out), complaints(err);
  auto world_options = simulation::cluster_options_of(play.configuration, play.scenario.defaults_jobs);
  std::vector<std::string> warnings;
  if (play.scenario.defaults_jobs) warnings = simulation::topology_notices(play.scenario, world_options.gates);
  simulation::SimulatedWorld world(std::move(world_options), {.every_job = play.scenario.runs_every_job});
  auto& cluster = world.simulated();
  const Time start = cluster.now();
  const auto clock = std::make_shared<actors::VirtualClock>(start);

  std::mutex mutex;
  std::vector<admission::Intent> intents;
  Cast cast;
  std::uint64_t records = 0;
  std::map<std::string, std::string> told;  ///< The last line about each Workload.
  actors::NodeOptions node_options;
  node_options.clock = clock;
  node_options.writer = "quickstart";
  node_options.settings_reader = [](Text json) { return events::read_settings(json); };
  node_options.on_intents = [&](std::vector<admission::Intent> list) {
    const std::lock_guard lock(mutex);
    for (auto& i : list) intents.push_back(std::move(i));
  };
  node_options.on_record = [&](const RecordView& r, events::Position) {
    ++records;
    cast.meet(r);
    for (const auto& line : story_of(r)) {
      std::string& last = told[line.substr(0, line.find("  "))];
      if (last == line) continue;  // tried again, with the same outcome
      last = line;
      voice.say(moment(r.envelope.time, start) + printable(line) + "\n");
    }
  };
  const auto notice = [&](const std::string& text) { complaints.say("hindsight: " + printable(text) + "\n"); };
  for (const auto& warning : warnings) notice(warning);
  node_options.on_notice = notice;
  node_options.on_failure = [](const Error&) {};  // shows when it is waited for
  NodeSnapshots snapshots(log, notice);
  snapshots.attach(node_options);
  auto started = actors::Node::start(log, std::move(node_options));
  if (!started) return tl::unexpected(started.error());
  actors::Node& node = **started;

  connectors::MemoryMirror mirror;
  connectors::BridgeOptions bridge_options;
  bridge_options.notice = notice;
  GatheredNews news;
  connectors::Bridge bridge(
      cluster, mirror, [&](const Observation& o) { news.take(o); }, std::move(bridge_options));
  if (!play.configuration.empty()) news.take(ConfigurationObserved{play.configuration});
  news.take(MirrorSynced{});
  cluster.watch(connectors::watched_resource_types, [&](const connectors::WatchEvent& event) {
    if (event.type == connectors::WatchEvent::Type::synced) return;
    mirror.on_watch(event);
    bridge.on_watch(event);
  });

  const auto settle = [&]() -> Result<void> {  // all that this moment entails
    for (;;) {
      if (auto ok = news.give(node); !ok) return ok;
      std::vector<admission::Intent> now;
      {
        const std::lock_guard lock(mutex);
        now.swap(intents);
      }
      if (now.empty()) return {};
      bridge.want(std::move(now));
    }
  };
  connectors::simulated::ScenarioPlayer player(cluster, std::move(play.scenario));
  while (!stop.stop_requested()) {
    if (auto ok = settle(); !ok) return ok;
    Time next = node.status().next_due;
    const auto earlier = [&](Time x) {
      if (x.is_set() && (!next.is_set() || x < next)) next = x;
    };
    earlier(world.next_event());
    const auto step = player.next_step();
    if (step) earlier(*step);
    if (!next.is_set()) break;
    clock->advance_to(next);
    if (auto ok = node.wait_until_rest(); !ok) return ok;  // the domain's own timers first, so that equal input gives an equal log
    const Time now = clock->now();
    world.advance_to(now);
    if (step && *step <= now) {
      auto refused = player.run_step();
      if (!refused) return tl::unexpected(refused.error());
      for (const auto& r : *refused) notice(r.verb + " " + r.kind + " " + r.name + " was refused: " + r.message);
    }
  }

  std::string queues, workloads;
  auto shown = node.inspect([&](const admission::StateView& e) {
    projections::TableStyle style;
    style.colour = options.colour;
    queues = projections::render(projections::cluster_queues_table(e, {}), style);
    workloads = projections::render(projections::workloads_table(e, {}), style);
  });
  if (!shown) return shown;
  const auto status = node.status();
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.0f", static_cast<double>((clock->now() - start).micros) / 1e6);
  voice.say("\n" + queues + "\n" + workloads + "\n");
  voice.say(std::to_string(records) + " records, " + std::to_string(status.decisions) + " decisions, " + seconds +
            " s of virtual time. The log is " + printable(options.log_file) + ". Its page, in a browser:\n\n");
  const auto print = [&](const std::string& command) {
    voice.say("  " + printable(options.program + " " + command + " --log " + shell_word(options.log_file)) + "\n");
  };
  print("ui --open");
  voice.say("\nTry:\n\n");
  print("get workloads -A");
  print("get workloads -A --at " + format_rfc3339(start + Duration::seconds(15)));
  print("get clusterqueues --at " + std::to_string(status.position / 2));
  if (!cast.preempted.empty()) {
    print("history " + cast.preempted);
    print("why " + cast.preempted);
  }
  if (!cast.waiting.empty()) print("why " + cast.waiting);
  print("diff " + std::to_string(status.position / 2) + " " + std::to_string(status.position));
  print("verify");
  print("log stats");
  if (options.keep && !stop.stop_requested()) {
    if (options.serve_page) {
      const auto url = options.serve_page();
      voice.say("\n" + (url ? "The page: " + *url : "There is no page: " + printable(url.error().message)) + "\n");
    }
    voice.say("\nStaying until interrupted (--keep).\n");
    std::mutex m;
    std::condition_variable_any cv;
    std::unique_lock lock(m);
    cv.wait(lock, stop, [] { return false; });
  }
  return node.stop();
}

}  // namespace hindsight::runtime
