// How fast a burst of gated pods is released on a real API server (77 §3.8, 2724 §3.12): from the moment when the queue of their Job opens,
// over its admission and start, to the last gate that is seen gone; beside a bare loop of the same patches on the same server, half of it
// before and half after.
//
//   bench_ungate [--gate elastic|topology] [--pods N] [--in-flight N] [--hindsight FILE] [--keep FOLDER]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "bench/elastic/gated_pods.hpp"
#include "bench/live/controller_process.hpp"
#include "bench/live/third_client.hpp"
#include "tests/support/cluster_fixture.hpp"

namespace hindsight::bench {
namespace {

namespace kubernetes = connectors::kubernetes;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::size_t pods = 10'000;
  std::size_t in_flight = 64;  ///< Of the bare loop; Hindsight has as many by default.
  Gate gate = Gate::elastic;
  std::string program = HINDSIGHT_PROGRAM;
  std::string keep;  ///< A folder for what Hindsight says and for its log.
};

Error failure(const std::string& message) { return {ErrorKind::unavailable, message}; }

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Bench {
 public:
  Bench(const Settings& settings, std::string folder) : settings_(settings), folder_(std::move(folder)) {}

  Result<void> run() {
    if (!cluster_.failure().empty()) return tl::unexpected(failure(cluster_.failure()));
    if (auto made = prepare(); !made) return made;
    if (auto done = release_by_loop("before"); !done) return done;
    if (auto done = release_by_hindsight(); !done) return done;
    if (auto done = release_by_loop("after"); !done) return done;
    client_->stop();
    const double bare = static_cast<double>(2 * half()) / bare_seconds_;
    const double ours = static_cast<double>(settings_.pods) / our_seconds_;
    std::printf("%zu gated pods of one Job, a bare loop of %zu before and of as many after, %zu in flight\n", settings_.pods, half(),
                settings_.in_flight);
    std::printf("bare loop of patches   %8.0f pods/s\n", bare);
    std::printf(
        "hindsight run          %8.0f pods/s, %.1f s from the opening of the queue to the last gate, %.1f s to the first; %.1f s of "
        "processor time\n",
        ours, our_seconds_, first_seconds_, cpu_seconds_);
    std::printf("ratio %.3f, target %.1f\n", ours / bare, settings_.gate == Gate::elastic ? 0.8 : 0.9);
    std::printf(
        "a third client's write %8.1f ms p50, %.1f p99 beside Hindsight; %.1f and %.1f beside the loop, %.1f and %.1f beside nobody\n",
        beside_us_.p50_ms, beside_us_.p99_ms, beside_loop_.p50_ms, beside_loop_.p99_ms, idle_.p50_ms, idle_.p99_ms);
    return {};
  }

 private:
  [[nodiscard]] std::size_t half() const { return (settings_.pods + 1) / 2; }

  Result<void> kubectl(const std::vector<std::string>& words, std::string& said) {
    if (cluster_.kubectl(words, &said)) return {};
    return tl::unexpected(failure("kubectl " + words.front() + ": " + said));
  }

  Result<void> send(const std::vector<kubernetes::bench::BareWrite>& writes) {
    const auto good = loop_->send(writes);
    if (good == writes.size()) return {};
    return tl::unexpected(failure("found " + std::to_string(good) + " writes that succeeded; wanted " + std::to_string(writes.size()) +
                                  ", as " + writes.front().path));
  }

  Result<void> prepare() {
    std::string said;
    if (auto ok = kubectl({"apply", "-f", "deploy/crds"}, said); !ok) return ok;
    if (auto ok = kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"}, said); !ok) return ok;
    const std::string file = folder_ + "/burst.json";
    std::ofstream(file) << burst_objects(settings_.pods, settings_.gate).dump();
    if (auto ok = kubectl({"apply", "-f", file}, said); !ok) return ok;
    if (settings_.gate == Gate::topology)  // the API server gives it to new nodes
      if (auto ok = kubectl({"taint", "nodes", "--all", "node.kubernetes.io/not-ready-"}, said); !ok) return ok;
    if (auto ok = kubectl({"get", "job", ungate_job, "-o", "jsonpath={.metadata.uid}"}, said); !ok) return ok;

    const auto connection = kubernetes::find_connection({cluster_.admin_kubeconfig(), ""});
    if (!connection) return tl::unexpected(connection.error());
    auto client = kubernetes::KubernetesCluster::connect(*connection);
    if (!client) return tl::unexpected(client.error());
    client_ = std::move(*client);
    const auto user = kubernetes::find_connection({cluster_.kubeconfig(), ""});  // Whom the server treats as it treats Hindsight.
    if (!user) return tl::unexpected(user.error());
    loop_ = std::make_unique<kubernetes::bench::BareLoop>(*connection, settings_.in_flight);
    for (const char* prefix : {"before", "after"})
      if (auto ok = send(pod_creations(prefix, half(), settings_.gate)); !ok) return ok;
    owner_.job_uid = said;
    if (settings_.gate == Gate::elastic)
      if (auto ok = create_pods_of_job(); !ok) return ok;
    loop_ = std::make_unique<kubernetes::bench::BareLoop>(*user, settings_.in_flight);
    auto third = ThirdClient::start(*connection);
    if (!third) return tl::unexpected(third.error());
    third_ = *std::move(third);
    // From here on, so that what the measurement itself costs the server counts on both sides.
    watch_ = std::make_unique<GateWatch>(*client_);
    return {};
  }

  Result<void> create_pods_of_job() { return send(pod_creations(ungate_job, settings_.pods, settings_.gate, &owner_)); }

  /// Waits until so many pods of a prefix have been seen released.
  Result<void> see(const char* prefix, std::size_t count) {
    if (watch_->wait_for(prefix, count, std::chrono::seconds(60))) return {};
    return tl::unexpected(
        failure("found " + std::to_string(watch_->released(prefix)) + " of " + std::to_string(count) + " pods released; see " + folder_));
  }

  Result<void> release_by_loop(const char* prefix) {
    const auto releases = pod_releases(prefix, half(), settings_.gate);
    (void)third_->take();
    const auto begin = Clock::now();
    if (auto ok = send(releases); !ok) return ok;
    if (auto ok = see(prefix, half()); !ok) return ok;
    bare_seconds_ += seconds_since(begin);
    beside_loop_ = third_->take();
    return {};
  }

  Result<void> release_by_hindsight() {
    auto controller = ControllerProcess::start(settings_.program, cluster_.kubeconfig(), folder_);
    if (!controller) return tl::unexpected(controller.error());
    std::string said;
    const auto asked = Clock::now();
    while (!cluster_.kubectl({"get", "workloads", "-o", "name", "--no-headers"}, &said) || said.empty()) {
      if (seconds_since(asked) > 60) return tl::unexpected(failure("the Job got no Workload within 60 s"));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    if (settings_.gate == Gate::topology) {  // its pods say which Workload has their places
      owner_.workload = said.substr(said.find('/') + 1);
      owner_.workload.erase(owner_.workload.find_last_not_of(" \n") + 1);
      if (auto ok = create_pods_of_job(); !ok) return ok;
    }
    (void)third_->take();
    std::this_thread::sleep_for(std::chrono::seconds(3));  // Both have seen all pods, and nothing is going on.
    if (watch_->released(ungate_job) != 0) return tl::unexpected(failure("pods were released before the queue was opened"));
    idle_ = third_->take();
    const double cpu_before = (*controller)->cpu_seconds();
    const auto begin = Clock::now();
    if (auto ok = kubectl({"patch", "clusterqueue", ungate_queue, "--type=merge", "-p", R"({"spec":{"stopPolicy":"None"}})"}, said); !ok)
      return ok;
    if (auto ok = see(ungate_job, 1); !ok) return ok;
    first_seconds_ = seconds_since(begin);
    if (auto ok = see(ungate_job, settings_.pods); !ok) return ok;
    our_seconds_ = seconds_since(begin);
    beside_us_ = third_->take();
    cpu_seconds_ = (*controller)->cpu_seconds() - cpu_before;
    if (!(*controller)->stop()) return tl::unexpected(failure("Hindsight did not end with status 0; see " + folder_));
    return {};
  }

  const Settings& settings_;
  const std::string folder_;
  hindsight::testing::LocalCluster cluster_;
  std::unique_ptr<kubernetes::KubernetesCluster> client_;
  std::unique_ptr<kubernetes::bench::BareLoop> loop_;
  std::unique_ptr<GateWatch> watch_;  ///< Called by the client's threads until it is stopped.
  std::unique_ptr<ThirdClient> third_;
  ThirdClient::Seen idle_, beside_loop_, beside_us_;
  PodOwner owner_;
  double bare_seconds_ = 0, our_seconds_ = 0, first_seconds_ = 0, cpu_seconds_ = 0;
};

int complain(const Error& error, int status) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return status;
}

int run(const Settings& settings) {
  std::string folder = settings.keep;
  if (folder.empty()) {
    folder = (std::filesystem::temp_directory_path() / "hindsight-ungate-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return complain({ErrorKind::io, folder + " cannot be made"}, 1);
  } else {
    std::filesystem::create_directories(folder);
  }
  const auto done = Bench(settings, folder).run();
  if (!done) return complain(done.error(), 1);
  if (settings.keep.empty()) std::filesystem::remove_all(folder);
  return 0;
}

/// Errors: invalid.
Result<Settings> read_options(int argc, char** argv) {
  Settings out;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.starts_with("--benchmark_")) continue;  // ./dev bench may pass these to every benchmark.
    const std::string value = i + 1 < argc ? argv[++i] : "";
    std::size_t* number = option == "--pods" ? &out.pods : option == "--in-flight" ? &out.in_flight : nullptr;
    std::string* text = option == "--hindsight" ? &out.program : option == "--keep" ? &out.keep : nullptr;
    if (option == "--gate" && (value == "elastic" || value == "topology")) {
      out.gate = value == "elastic" ? Gate::elastic : Gate::topology;
      continue;
    }
    if (const long given = std::strtol(value.c_str(), nullptr, 10); number != nullptr && given > 0 && given <= 99'999)
      *number = static_cast<std::size_t>(given);
    else if (text != nullptr && !value.empty())
      *text = value;
    else
      return tl::unexpected(
          Error{ErrorKind::invalid,
                "found " + option + " " + value +
                    "; allowed: --gate elastic or topology, --pods N and --in-flight N (1 to 99999), --hindsight FILE, --keep FOLDER"});
  }
  return out;
}

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  const auto settings = hindsight::bench::read_options(argc, argv);
  if (!settings) return hindsight::bench::complain(settings.error(), 2);
  return hindsight::bench::run(*settings);
}
