#include "bench/live/live_cluster.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

namespace hindsight::bench {

namespace kubernetes = connectors::kubernetes;

namespace {

Result<void> apply(hindsight::testing::LocalCluster& cluster, const connectors::Json& objects, const std::string& folder) {
  const std::string file = folder + "/queues.json";
  std::ofstream(file) << objects.dump();
  std::string said;
  if (!cluster.kubectl({"apply", "-f", file}, &said)) return tl::unexpected(failure("the queues were not taken: " + said));
  return {};
}

}  // namespace

void say(const std::string& text) { std::fprintf(stderr, "live: %s\n", text.c_str()); }

Error failure(const std::string& message) { return {ErrorKind::unavailable, message}; }

Result<void> define_kinds(hindsight::testing::LocalCluster& cluster, const Settings& settings) {
  std::string said;
  if (!cluster.kubectl({"apply", "--server-side", "-f", settings.definitions}, &said) ||
      !cluster.kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"}, &said))
    return tl::unexpected(failure("the definitions were not taken: " + said));
  return {};
}

Result<std::unique_ptr<LiveCluster>> LiveCluster::start(hindsight::testing::LocalCluster& cluster, const Settings& settings,
                                                        const connectors::Json& objects, const std::string& folder) {
  if (auto applied = apply(cluster, objects, folder); !applied) return tl::unexpected(applied.error());
  std::unique_ptr<LiveCluster> out(new LiveCluster(cluster));
  out->folder_ = folder;
  auto controller = ControllerProcess::start(settings.program, cluster.kubeconfig(), folder, settings.more);
  if (!controller) return tl::unexpected(controller.error());
  out->controller_ = *std::move(controller);
  auto connection = kubernetes::find_connection({cluster.admin_kubeconfig(), ""});
  if (!connection) return tl::unexpected(connection.error());
  out->connection_ = *std::move(connection);
  kubernetes::KubernetesClusterOptions of_owner;
  of_owner.http.fixed_in_flight = true;
  auto client = kubernetes::KubernetesCluster::connect(out->connection_, std::move(of_owner));
  if (!client) return tl::unexpected(client.error());
  out->client_ = *std::move(client);
  auto third = ThirdClient::start(out->connection_);
  if (!third) return tl::unexpected(third.error());
  out->third_ = *std::move(third);
  if (auto begun = out->begin(); !begun) return tl::unexpected(begun.error());
  return out;
}

LiveCluster::~LiveCluster() {
  if (client_) client_->stop();
}

Result<void> LiveCluster::begin() {
  std::this_thread::sleep_for(std::chrono::seconds(5));
  (void)third_->take();  // the first ones, beside the start of everybody
  std::this_thread::sleep_for(std::chrono::seconds(5));
  before_.idle = third_->take();
  auto requests = request_counts(*client_);
  if (!requests) return tl::unexpected(requests.error());
  before_.requests = *std::move(requests);
  before_.server = server_usage("kube-apiserver", cluster_.folder());
  before_.cpu_seconds = controller_->cpu_seconds();
  before_.megabytes = controller_->megabytes_now();
  say("Hindsight runs (pid " + std::to_string(controller_->pid()) + ")");
  return {};
}

Result<LiveFigures> LiveCluster::end() {
  LiveFigures out;
  out.idle = before_.idle;
  out.busy = third_->take();
  out.server = server_usage("kube-apiserver", cluster_.folder());
  out.server.cpu_seconds -= before_.server.cpu_seconds;
  std::this_thread::sleep_for(std::chrono::seconds(2));  // The figures are taken once a second.
  const auto requests = request_counts(*client_);
  client_->stop();
  if (!requests) return tl::unexpected(requests.error());
  out.requests = difference(*requests, before_.requests);
  out.cpu_seconds = controller_->cpu_seconds();
  out.load_cpu_seconds = out.cpu_seconds - before_.cpu_seconds;
  out.megabytes = controller_->megabytes_max();
  out.load_megabytes = controller_->megabytes_now() - before_.megabytes;
  out.writes = controller_->metric("hindsight_writes_total").value_or(0);
  out.conflicts = controller_->metric("hindsight_write_conflicts_total").value_or(0);
  out.answers = controller_->metric("hindsight_api_answers_total").value_or(0);
  if (!controller_->stop()) return tl::unexpected(failure("Hindsight did not end with status 0; see " + folder_));
  return out;
}

}  // namespace hindsight::bench
