// Writes a second to a real API server: KubernetesCluster::submit against a bare libcurl loop with the same status patches, the same number
// in flight, in turns, so that both meet the same server in the same mood.
//
//   bench_kubernetes_write [--objects N] [--rounds N] [--in-flight N] [--kubeconfig FILE]
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/kubernetes/bare_loop.hpp"
#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "tests/support/cluster_fixture.hpp"

namespace hindsight::connectors::kubernetes::bench {
namespace {

constexpr ResourceType definition_type{"CustomResourceDefinition", "apiextensions.k8s.io", "v1", "customresourcedefinitions", false};
constexpr ResourceType work_type{"Work", "bench.hindsight.dev", "v1", "works", true};
constexpr const char* definition = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"works.bench.hindsight.dev"},"spec":{"group":"bench.hindsight.dev","scope":"Namespaced",
    "names":{"kind":"Work","plural":"works"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
    "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

struct Settings {
  std::size_t objects = 1000;
  std::size_t rounds = 6;
  std::size_t in_flight = 64;
  std::string kubeconfig;
};

double seconds_of_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// A status like that of a Workload at its admission.
std::string status_body(std::size_t round, std::size_t object) {
  const auto condition = [&](const char* type, const char* message) {
    return nlohmann::json{{"type", type},
                          {"status", "True"},
                          {"reason", type},
                          {"message", std::string(message) + " round " + std::to_string(round)},
                          {"lastTransitionTime", "2026-01-01T00:00:00Z"},
                          {"observedGeneration", 1}};
  };
  return nlohmann::json{
      {"status",
       {{"conditions",
         {condition("QuotaReserved", "Quota reserved in ClusterQueue main"), condition("Admitted", "The workload is admitted")}},
        {"admission",
         {{"clusterQueue", "main"},
          {"podSetAssignments",
           {{{"name", "main"},
             {"count", object % 7},
             {"flavors", {{"cpu", "default"}}},
             {"resourceUsage", {{"cpu", "1"}, {"memory", "1Gi"}}}}}}}}}}}
      .dump();
}

/// Submits all writes at once and waits; returns how many got `wanted`.
std::size_t submit_all(KubernetesCluster& cluster, std::vector<Write> writes, int wanted) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t left = writes.size();
  std::size_t good = 0;
  for (Write& write : writes) {
    cluster.submit(std::move(write), [&](const WriteAnswer& answer) {
      const std::lock_guard lock(mutex);
      if (answer.http_status == wanted) ++good;
      if (--left == 0) changed.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == 0; });
  return good;
}

Write make_write(Write::Verb verb, const ResourceType& type, const std::string& name, std::string body, const char* subresource = "") {
  Write write;
  write.verb = verb;
  write.type = &type;
  if (type.namespaced) write.namespace_ = "default";
  write.name = name;
  write.subresource = subresource;
  write.body = std::move(body);
  return write;
}

std::string name_of(std::size_t object) { return "work-" + std::to_string(object); }

/// Creates the kind and its objects.
bool prepare(KubernetesCluster& cluster, const Settings& settings) {
  submit_all(cluster, {make_write(Write::Verb::create, definition_type, "works.bench.hindsight.dev", definition)}, 201);
  const auto work = [](std::size_t object) {
    return make_write(
        Write::Verb::create, work_type, name_of(object),
        nlohmann::json{{"apiVersion", "bench.hindsight.dev/v1"}, {"kind", "Work"}, {"metadata", {{"name", name_of(object)}}}}.dump());
  };
  for (int tries = 0; submit_all(cluster, {work(0)}, 201) == 0; ++tries) {  // Until the kind is served.
    if (tries > 100) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::vector<Write> writes;
  for (std::size_t i = 1; i < settings.objects; ++i) writes.push_back(work(i));
  return submit_all(cluster, std::move(writes), 201) == settings.objects - 1;
}

struct Rate {
  double per_second = 0;
  double cpu_micros = 0;  ///< Of this process, for each write.
};

template <class Send>
Rate measure(std::size_t count, const Send& send) {
  const double cpu = seconds_of_cpu();
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t good = send();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (good != count) {
    std::fprintf(stderr, "error: %zu of %zu patches succeeded\n", good, count);
    std::exit(1);
  }
  return {static_cast<double>(count) / took.count(), (seconds_of_cpu() - cpu) * 1e6 / static_cast<double>(count)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void report(const Settings& settings, const std::vector<Rate>& bare, const std::vector<Rate>& ours) {
  const auto column = [](const std::vector<Rate>& rates, double Rate::*field) {
    std::vector<double> out;
    for (const Rate& rate : rates) out.push_back(rate.*field);
    return median(out);
  };
  const double bare_rate = column(bare, &Rate::per_second);
  const double our_rate = column(ours, &Rate::per_second);
  // Neighbours in time met the same load; the median of their ratios is steadier than the ratio of the medians.
  std::vector<double> ratios;
  for (std::size_t i = 0; i < bare.size(); ++i) ratios.push_back(ours[i].per_second / bare[i].per_second);
  std::printf("%zu status patches a round, %zu rounds each, %zu in flight\n", settings.objects, settings.rounds, settings.in_flight);
  std::printf("%-28s %12s %18s\n", "", "writes/s", "client CPU/write");
  std::printf("%-28s %12.0f %15.1f us\n", "bare libcurl loop", bare_rate, column(bare, &Rate::cpu_micros));
  std::printf("%-28s %12.0f %15.1f us\n", "KubernetesCluster::submit", our_rate, column(ours, &Rate::cpu_micros));
  std::printf("ratio %.3f (median of %zu rounds), target 0.8\n", median(ratios), ratios.size());
}

int run(const Settings& settings) {
  std::unique_ptr<hindsight::testing::LocalCluster> local;
  std::string kubeconfig = settings.kubeconfig;
  if (kubeconfig.empty()) {
    local = std::make_unique<hindsight::testing::LocalCluster>();
    if (!local->failure().empty()) {
      std::fprintf(stderr, "error: %s\n", local->failure().c_str());
      return 1;
    }
    kubeconfig = local->kubeconfig();
  }
  const auto connection = find_connection({kubeconfig, ""});
  if (!connection) {
    std::fprintf(stderr, "error: %s\n", connection.error().message.c_str());
    return 1;
  }
  KubernetesClusterOptions options;
  options.max_in_flight = settings.in_flight;
  auto cluster = KubernetesCluster::connect(*connection, options);
  if (!cluster || !prepare(**cluster, settings)) {
    std::fprintf(stderr, "error: the objects cannot be created\n");
    return 1;
  }
  BareLoop bare(*connection, settings.in_flight);
  std::vector<Rate> bare_rates;
  std::vector<Rate> our_rates;
  std::size_t number = 0;
  const auto run_bare = [&] {
    std::vector<BareWrite> patches;
    ++number;
    for (std::size_t i = 0; i < settings.objects; ++i) {
      patches.push_back({object_path(work_type, "default", name_of(i), "status") + "?fieldManager=hindsight", status_body(number, i)});
    }
    bare_rates.push_back(measure(settings.objects, [&] { return bare.send(patches); }));
  };
  const auto run_ours = [&] {
    std::vector<Write> writes;
    ++number;
    for (std::size_t i = 0; i < settings.objects; ++i) {
      writes.push_back(make_write(Write::Verb::merge_patch, work_type, name_of(i), status_body(number, i), "status"));
    }
    our_rates.push_back(measure(settings.objects, [&] { return submit_all(**cluster, std::move(writes), 200); }));
  };
  run_bare();  // Both once to warm up.
  run_ours();
  bare_rates.clear();
  our_rates.clear();
  for (std::size_t round = 0; round < settings.rounds; ++round) {
    // Who goes first changes, because the server gets slower as its history grows.
    if (round % 2 == 0) {
      run_bare();
      run_ours();
    } else {
      run_ours();
      run_bare();
    }
    if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\rround %zu of %zu", round + 1, settings.rounds);
  }
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\n");
  report(settings, bare_rates, our_rates);
  return 0;
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes::bench

int main(int argc, char** argv) {
  using hindsight::connectors::kubernetes::bench::Settings;
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option.starts_with("--benchmark_")) continue;  // ./dev bench may pass these to every benchmark.
    const char* value = i + 1 < argc ? argv[++i] : "";
    std::size_t* number = option == "--objects"     ? &settings.objects
                          : option == "--rounds"    ? &settings.rounds
                          : option == "--in-flight" ? &settings.in_flight
                                                    : nullptr;
    if (const long given = std::strtol(value, nullptr, 10); number != nullptr && given > 0) {
      *number = static_cast<std::size_t>(given);
    } else if (option == "--kubeconfig") {
      settings.kubeconfig = value;
    } else {
      std::fprintf(stderr, "error: found %s %s; allowed: --objects N, --rounds N, --in-flight N (above 0), --kubeconfig FILE\n",
                   argv[i - 1], value);
      return 2;
    }
  }
  return hindsight::connectors::kubernetes::bench::run(settings);
}
