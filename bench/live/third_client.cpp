#include "bench/live/third_client.hpp"

#include <utility>

#include "bench/live/objects.hpp"
#include "bench/live/plain_write.hpp"
#include "bench/live/quantiles.hpp"

namespace hindsight::bench {
namespace {

using connectors::Json;
using connectors::Write;

constexpr connectors::ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};
constexpr const char* name = "third-client";
constexpr std::chrono::milliseconds pause{40};

}  // namespace

Result<std::unique_ptr<ThirdClient>> ThirdClient::start(const connectors::kubernetes::Connection& connection) {
  auto cluster = connectors::kubernetes::KubernetesCluster::connect(connection);
  if (!cluster) return tl::unexpected(cluster.error());
  std::unique_ptr<ThirdClient> out(new ThirdClient(*std::move(cluster)));
  const Json object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", load_namespace}}}};
  if (const int status = out->write(Write::Verb::create, object.dump()); status != 201)
    return fail(ErrorKind::unavailable, "the ConfigMap of a third client: found HTTP " + std::to_string(status) + "; allowed: 201");
  out->thread_ = std::thread([&client = *out] { client.work(); });
  return out;
}

ThirdClient::ThirdClient(std::unique_ptr<connectors::kubernetes::KubernetesCluster> cluster) : cluster_(std::move(cluster)) {}

ThirdClient::~ThirdClient() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
  cluster_->stop();
}

int ThirdClient::write(Write::Verb verb, std::string body) {
  Write write{.verb = verb, .type = &config_map, .namespace_ = load_namespace, .name = name};
  write.body = std::move(body);
  return write_and_wait(*cluster_, std::move(write)).http_status;
}

void ThirdClient::work() {
  for (std::uint64_t i = 0; !ending_; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)write(Write::Verb::merge_patch, Json{{"data", {{"n", std::to_string(i)}}}}.dump());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    {
      const std::lock_guard lock(mutex_);
      took_ms_.push_back(took.count());
    }
    std::this_thread::sleep_for(pause);
  }
}

ThirdClient::Seen ThirdClient::take() {
  std::vector<double> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(took_ms_);
  }
  const std::size_t writes = all.size();
  const auto [p50, p99] = quantiles(std::move(all));
  return {p50, p99, writes};
}

}  // namespace hindsight::bench
