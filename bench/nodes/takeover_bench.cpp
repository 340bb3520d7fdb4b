// How long nobody decides: when the node that decides is killed (the session time-out included), and when it is told to end and another one
// takes its partition over. Two nodes on a real broker, one domain with many waiting Workloads, an arrival every 20 ms.
//
//   HINDSIGHT_BENCH_KAFKA=HOST:PORT bench_takeover [--waiting N] [--times N] [--session SECONDS] [--standby yes|no] [--hindsight FILE]

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/nodes/node_process.hpp"
#include "bench/nodes/on_a_broker.hpp"
#include "bench/nodes/steady_arrivals.hpp"
#include "events/kafka/topics.hpp"
#include "events/kafka_log.hpp"

namespace hindsight::bench {
namespace {

struct Settings {
  std::size_t waiting = 100'000;
  std::size_t times = 20;
  std::size_t session = 6;
  bool standby = true;
  std::string program = HINDSIGHT_PROGRAM;
};

Error failure(const std::string& message) { return {ErrorKind::unavailable, message}; }

class Bench {
 public:
  Bench(const Settings& settings, const std::string& broker, const std::string& folder)
      : settings_(settings),
        location_{broker, "takeover-" + std::to_string(::getpid()), 0},
        nodes_{{settings.program, location_.text(), static_cast<unsigned>(settings.session), settings.standby, folder + "/first.out"},
               {settings.program, location_.text(), static_cast<unsigned>(settings.session), settings.standby, folder + "/second.out"}} {}

  Result<void> run() {
    if (auto made = events::kafka::make_topics({location_, {}}); !made) return tl::unexpected(made.error());
    auto log = events::KafkaLog::open(location_, {.read_only = false, .settings = {}});
    if (!log) return tl::unexpected(log.error());
    auto arrivals = SteadyArrivals::start(**log, settings_.waiting, std::chrono::milliseconds(20));
    if (!arrivals) return tl::unexpected(arrivals.error());
    arrivals_ = arrivals->get();
    for (auto& node : nodes_) node.start();
    if (auto calm = wait_for_calm(); !calm) return calm;
    std::printf("%zu Workloads wait, %zu times each, session time-out %zu s, nodes %s\n", settings_.waiting, settings_.times,
                settings_.session, settings_.standby ? "follow what is not theirs (--standby)" : "read what they take over");
    if (auto done = repeat("killed", [](NodeProcess& node) { node.kill(); }); !done) return done;
    return repeat("told to end", [](NodeProcess& node) { node.ask_to_end(); });
  }

 private:
  Result<void> wait_for_calm() const {
    if (arrivals_->wait_for_calm(std::chrono::seconds(1), std::chrono::seconds(6), std::chrono::seconds(300))) return {};
    return tl::unexpected(failure("nobody decides, or somebody else every few seconds"));
  }

  template <class End>
  Result<void> repeat(const char* what, const End& end) {
    std::vector<double> pauses;
    for (std::size_t i = 0; i < settings_.times; ++i) {
      const auto before = arrivals_->epoch();
      const auto owner = std::find_if(std::begin(nodes_), std::end(nodes_), [&](const NodeProcess& n) {
        return before.writer.find("_" + std::to_string(n.pid()) + "_") != std::string::npos;
      });
      if (owner == std::end(nodes_)) return tl::unexpected(failure("epoch of " + before.writer + ", who is none of the nodes"));
      end(*owner);
      if (!arrivals_->wait_for_epoch_after(before.number, std::chrono::seconds(120)))
        return tl::unexpected(failure("nobody took over within 120 s"));
      pauses.push_back(arrivals_->pause_before(before.number + 1));
      (void)owner->wait();
      owner->start();
      if (auto calm = wait_for_calm(); !calm) return calm;
    }
    std::sort(pauses.begin(), pauses.end());
    std::printf("%-12s pause p50 %.3f s, longest %.3f s\n", what, pauses[pauses.size() / 2], pauses.back());
    std::fflush(stdout);
    return {};
  }

  const Settings settings_;
  const events::kafka::Location location_;
  NodeProcess nodes_[2];
  SteadyArrivals* arrivals_ = nullptr;
};

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  using namespace hindsight::bench;
  Settings settings;
  std::string standby = "yes";
  CLI::App app("How long nobody decides when the node that does is killed, or told to end");
  app.add_option("--waiting", settings.waiting, "Workloads that wait")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--times", settings.times, "Kills, and ends")->check(CLI::Range(1, 1'000))->capture_default_str();
  app.add_option("--session", settings.session, "Session time-out of the nodes in seconds")
      ->check(CLI::Range(1, 300))
      ->capture_default_str();
  app.add_option("--standby", standby, "Whether nodes follow what is not theirs")
      ->check(CLI::IsMember({"yes", "no"}))
      ->capture_default_str();
  app.add_option("--hindsight", settings.program, "The program")->capture_default_str();
  return on_a_broker(app, argc, argv, [&](const auto& broker, const auto& folder) {
    settings.standby = standby == "yes";
    return Bench(settings, broker, folder).run();
  });
}
