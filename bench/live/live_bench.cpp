// One input of Kueue's performance test against a real API server, and a bare loop of the same writes before and after it.

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/live/bare_writes.hpp"
#include "bench/live/controller_process.hpp"
#include "bench/live/load_driver.hpp"
#include "bench/live/objects.hpp"
#include "bench/live/third_client.hpp"
#include "tests/support/cluster_fixture.hpp"

namespace hindsight::bench {
namespace {

namespace kubernetes = connectors::kubernetes;

struct Settings {
  std::string input = "baseline";
  double scale = 1;
  std::size_t in_flight = 32;
  bool with_bare = true;
  bool with_load = true;
  bool check = false;
  bool serial_owner = false;
  std::string definitions = "deploy/crds";
  std::vector<std::string> more;  ///< For `hindsight run`.
  std::string program = HINDSIGHT_PROGRAM;
  std::string keep;  ///< A folder for what Hindsight says and for its log.
};

struct Live {
  LiveOutcome load;
  std::uint64_t writes = 0;     ///< Of all kinds, Kubernetes events left out.
  std::uint64_t conflicts = 0;  ///< Of Hindsight.
  std::uint64_t answers = 0;    ///< To all its requests: writes, Kubernetes events, lists, the lease.
  double cpu_seconds = 0;
  double megabytes = 0;
  double server_cpu_seconds = 0;
  ThirdClient::Seen idle, busy;  ///< What the writes of somebody else take before the load, and beside it.
};

void say(const std::string& text) { std::fprintf(stderr, "live: %s\n", text.c_str()); }

Error failure(const std::string& message) { return {ErrorKind::unavailable, message}; }

/// Runs `work` on an API server of its own that knows the kinds of Kueue: what one phase leaves behind must not slow the next.
template <class T>
Result<T> on_a_cluster(const Settings& settings, const std::function<Result<T>(hindsight::testing::LocalCluster&)>& work) {
  hindsight::testing::LocalCluster cluster;
  if (!cluster.failure().empty()) return tl::unexpected(failure(cluster.failure()));
  std::string said;
  if (!cluster.kubectl({"apply", "--server-side", "-f", settings.definitions}, &said) ||
      !cluster.kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"}, &said))
    return tl::unexpected(failure("the definitions were not taken: " + said));
  return work(cluster);
}

/// Seconds for all writes of the input.
Result<double> run_bare_loop(const Generator& generator, const Settings& settings) {
  return on_a_cluster<double>(settings, [&](hindsight::testing::LocalCluster& cluster) -> Result<double> {
    const auto connection = kubernetes::find_connection({cluster.kubeconfig(), ""});
    if (!connection) return tl::unexpected(connection.error());
    const auto lists = bare_writes(generator);
    kubernetes::bench::BareLoop loop(*connection, settings.in_flight);
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& writes : lists)
      if (const auto good = loop.send(writes); good != writes.size())
        return tl::unexpected(failure("the bare loop: found " + std::to_string(good) + " writes that succeeded; wanted " +
                                      std::to_string(writes.size()) + ", as " + writes.front().path));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    say("a bare loop of " + std::to_string(3 * lists.front().size()) + " writes took " + std::to_string(took.count()) + " s");
    return took.count();
  });
}

Result<void> apply_queues(hindsight::testing::LocalCluster& cluster, const Generator& generator, const std::string& folder) {
  const std::string file = folder + "/queues.json";
  std::ofstream(file) << queue_objects(generator).dump();
  std::string said;
  if (!cluster.kubectl({"apply", "-f", file}, &said)) return tl::unexpected(failure("the queues were not taken: " + said));
  return {};
}

/// Of all processes of that name that this user runs: there is one.
double cpu_seconds_of(const std::string& name) {
  double ticks = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string comm;
    if (!std::getline(std::ifstream(entry.path() / "comm"), comm) || comm != name) continue;
    std::string stat;
    std::getline(std::ifstream(entry.path() / "stat"), stat);
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));  // of proc(5), from the third on; the 14th and 15th are meant
    std::string passed_over;
    for (int i = 3; i < 14; ++i) fields >> passed_over;
    double user = 0, system = 0;
    fields >> user >> system;
    ticks += user + system;
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// Everybody in one process but Hindsight and the API server.
Result<Live> run_live(const Generator& generator, const Settings& settings, const std::string& folder) {
  return on_a_cluster<Live>(settings, [&](hindsight::testing::LocalCluster& cluster) -> Result<Live> {
    if (auto applied = apply_queues(cluster, generator, folder); !applied) return tl::unexpected(applied.error());
    auto controller = ControllerProcess::start(settings.program, cluster.kubeconfig(), folder, settings.more);
    if (!controller) return tl::unexpected(controller.error());
    const auto connection = kubernetes::find_connection({cluster.admin_kubeconfig(), ""});
    if (!connection) return tl::unexpected(connection.error());
    kubernetes::KubernetesClusterOptions of_owner;
    of_owner.http.fixed_in_flight = true;
    auto client = kubernetes::KubernetesCluster::connect(*connection, std::move(of_owner));
    if (!client) return tl::unexpected(client.error());
    auto third = ThirdClient::start(*connection);
    if (!third) return tl::unexpected(third.error());
    std::this_thread::sleep_for(std::chrono::seconds(5));
    (void)(*third)->take();  // the first ones, beside the start of everybody
    std::this_thread::sleep_for(std::chrono::seconds(5));
    const auto idle = (*third)->take();
    const double server_before = cpu_seconds_of("kube-apiserver");
    say("Hindsight runs (pid " + std::to_string((*controller)->pid()) + ")");

    LoadDriver driver(
        **client, generator,
        {.creations_in_flight = settings.in_flight, .stall_time = std::chrono::seconds(120), .serial_owner = settings.serial_owner});
    auto load = driver.run();
    const auto busy = (*third)->take();
    const double server_after = cpu_seconds_of("kube-apiserver");
    (*client)->stop();
    if (!load) return tl::unexpected(load.error());
    std::this_thread::sleep_for(std::chrono::seconds(2));  // The figures are taken once a second.
    Live live{.load = *load,
              .cpu_seconds = (*controller)->cpu_seconds(),
              .megabytes = (*controller)->megabytes_max(),
              .server_cpu_seconds = server_after - server_before,
              .idle = idle,
              .busy = busy};
    live.writes = (*controller)->metric("hindsight_writes_total").value_or(0);
    live.conflicts = (*controller)->metric("hindsight_write_conflicts_total").value_or(0);
    live.answers = (*controller)->metric("hindsight_api_answers_total").value_or(0);
    if (!(*controller)->stop()) return tl::unexpected(failure("Hindsight did not end with status 0; see " + folder));
    return live;
  });
}

double seconds(Duration d) { return static_cast<double>(d.micros) / 1e6; }

void report(const Generator& generator, const Live& live, double bare_before, double bare_after) {
  const LiveOutcome& load = live.load;
  const WriteTally& writes = load.writes;
  std::printf("%s: %zu Workloads in %zu ClusterQueues; no schedule ends before %.0f s\n", std::string(generator.name).c_str(),
              generator.workload_count(), generator.queue_count(), seconds(generator.bound()));
  std::printf("makespan               %8.1f s\n", seconds(load.makespan));
  if (bare_before > 0) {
    const double bare = (bare_before + bare_after) / 2;
    std::printf("bare loop              %8.1f s before, %.1f s after\n", bare_before, bare_after);
    std::printf("ratio to the bare loop %8.2f\n", seconds(load.makespan) / bare);
  }
  for (std::size_t i = 0; i < load.waits.size(); ++i)
    std::printf("time to admission      %8.1f s mean, %.1f s at most: %s\n", load.waits[i].mean_seconds(), load.waits[i].max_seconds,
                std::string(generator.classes[i].name).c_str());
  std::printf(
      "writes of Hindsight    %8llu: %zu admissions, %zu evictions, %zu reasons of waiting, %zu that said nothing new, %lld others\n",
      static_cast<unsigned long long>(live.writes), writes.admissions, writes.evictions, writes.reasons, writes.repeated,
      static_cast<long long>(live.writes) - static_cast<long long>(writes.by_controller()));
  std::printf("  for each admission   %8.2f; %llu conflicts; %llu requests with Kubernetes events and lists\n",
              static_cast<double>(live.writes) / static_cast<double>(writes.admissions), static_cast<unsigned long long>(live.conflicts),
              static_cast<unsigned long long>(live.answers));
  std::printf("writes of owners       %8zu: %zu created, %zu finished, %zu cleared; %zu conflicts\n",
              writes.created + writes.finished + writes.cleared, writes.created, writes.finished, writes.cleared, load.conflicts);
  std::printf("Hindsight              %8.0f MB at most, %.1f s of processor time; API server %.1f s\n", live.megabytes, live.cpu_seconds,
              live.server_cpu_seconds);
  std::printf("a third client's write %8.1f ms p50, %.1f p99 of %zu; before the load %.1f p50, %.1f p99\n", live.busy.p50_ms,
              live.busy.p99_ms, live.busy.writes, live.idle.p50_ms, live.idle.p99_ms);
}

/// What must be true of every run, however fast.
bool is_sound(const Generator& generator, const Live& live) {
  const WriteTally& writes = live.load.writes;
  bool sound = true;
  const auto expect = [&](const char* what, std::size_t found, std::size_t wanted) {
    if (found == wanted) return;
    std::fprintf(stderr, "error: %s: found %zu, allowed: %zu\n", what, found, wanted);
    sound = false;
  };
  expect("Workloads that finished", writes.finished, generator.workload_count());
  expect("admissions, one for each Workload and each eviction", writes.admissions, generator.workload_count() + writes.cleared);
  expect("writes to Workloads that say nothing new", writes.repeated, 0);
  return sound;
}

int complain(const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

int run(const Settings& settings) {
  const Generator generator = scaled(settings.input == "baseline" ? baseline() : large_scale(), settings.scale);
  std::string folder = settings.keep;
  if (folder.empty()) {
    folder = (std::filesystem::temp_directory_path() / "hindsight-live-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return complain({ErrorKind::io, folder + " cannot be made"});
  } else {
    std::filesystem::create_directories(folder);
  }
  double bare[2] = {0, 0};
  const auto measure_bare = [&](double& into) -> Result<void> {
    if (!settings.with_bare) return {};
    const auto took = run_bare_loop(generator, settings);
    if (!took) return tl::unexpected(took.error());
    into = *took;
    return {};
  };
  if (auto done = measure_bare(bare[0]); !done) return complain(done.error());
  if (!settings.with_load) return 0;
  const auto live = run_live(generator, settings, folder);
  if (!live) return complain(live.error());
  if (auto done = measure_bare(bare[1]); !done) return complain(done.error());
  report(generator, *live, bare[0], bare[1]);
  if (settings.keep.empty()) std::filesystem::remove_all(folder);
  return settings.check && !is_sound(generator, *live) ? 1 : 0;
}

/// Errors: invalid.
Result<Settings> read_options(int argc, char** argv) {
  Settings out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option.starts_with("--benchmark_")) continue;  // ./dev bench may pass these to every benchmark.
    if (option == "--no-bare") {
      out.with_bare = false;
    } else if (option == "--bare-only") {
      out.with_load = false;
    } else if (option == "--check") {
      out.check = true;
    } else if (option == "--serial-owner") {
      out.serial_owner = true;
    } else {
      const std::string value = i + 1 < argc ? argv[++i] : "";
      bool good = !value.empty();
      if (option == "--input") {
        out.input = value;
        good = value == "baseline" || value == "large-scale";
      } else if (option == "--scale") {
        out.scale = std::strtod(value.c_str(), nullptr);
        good = out.scale > 0;
      } else if (option == "--in-flight") {
        out.in_flight = std::strtoul(value.c_str(), nullptr, 10);
        good = out.in_flight > 0;
      } else if (option == "--hindsight") {
        out.program = value;
      } else if (option == "--keep") {
        out.keep = value;
      } else if (option == "--definitions") {
        out.definitions = value;
      } else if (option == "--run") {
        out.more.push_back(value);
      } else {
        good = false;
      }
      if (!good)
        return tl::unexpected(Error{ErrorKind::invalid,
                                    "found " + std::string(option) + " " + value +
                                        "; allowed: --input baseline|large-scale, --scale S and --in-flight N (above 0), "
                                        "--hindsight FILE, --keep FOLDER, --definitions FOLDER, --run ARGUMENT (of 'hindsight run'; again "
                                        "for each), --serial-owner, --no-bare, --bare-only, --check"});
    }
  }
  return out;
}

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  const auto settings = hindsight::bench::read_options(argc, argv);
  if (!settings) {
    std::fprintf(stderr, "error: %s\n", settings.error().message.c_str());
    return 2;
  }
  return hindsight::bench::run(*settings);
}
