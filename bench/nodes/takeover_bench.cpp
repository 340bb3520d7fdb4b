// How long nobody decides: when the node that decides is killed (the session time-out included), and when it is told to end and another one
// takes its partition over. Two nodes on a real broker, one domain with many waiting Workloads, an arrival every 20 ms.
//
//   HINDSIGHT_BENCH_KAFKA=HOST:PORT bench_takeover [--waiting N] [--times N] [--session SECONDS] [--standby yes|no] [--hindsight FILE]

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/nodes/node_process.hpp"
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

int complain(const std::string& message, int status) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return status;
}

int run(const Settings& settings) {
  const char* broker = std::getenv("HINDSIGHT_BENCH_KAFKA");
  if (broker == nullptr) {
    std::printf("HINDSIGHT_BENCH_KAFKA is not set: nothing is measured\n");
    return 0;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "hindsight-takeover-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return complain(folder + " cannot be made", 1);
  const auto done = Bench(settings, broker, folder).run();
  if (!done) return complain(done.error().message + "; what the nodes said is in " + folder, 1);
  std::filesystem::remove_all(folder);
  return 0;
}

/// Errors: invalid.
Result<Settings> read_options(int argc, char** argv) {
  Settings out;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.starts_with("--benchmark_")) continue;  // ./dev bench may pass these to every benchmark.
    const std::string value = i + 1 < argc ? argv[++i] : "";
    std::size_t* number = option == "--waiting"   ? &out.waiting
                          : option == "--times"   ? &out.times
                          : option == "--session" ? &out.session
                                                  : nullptr;
    if (const long given = std::strtol(value.c_str(), nullptr, 10); number != nullptr && given > 0 && given <= 1'000'000)
      *number = static_cast<std::size_t>(given);
    else if (option == "--standby" && (value == "yes" || value == "no"))
      out.standby = value == "yes";
    else if (option == "--hindsight" && !value.empty())
      out.program = value;
    else
      return tl::unexpected(
          Error{ErrorKind::invalid,
                "found " + option + " " + value +
                    "; allowed: --waiting N, --times N, --session SECONDS (each 1 to 1000000), --standby yes or no, --hindsight FILE"});
  }
  return out;
}

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  const auto settings = hindsight::bench::read_options(argc, argv);
  if (!settings) return hindsight::bench::complain(settings.error().message, 2);
  return hindsight::bench::run(*settings);
}
