#include "doctor/cluster_reader.hpp"

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "connectors/kubernetes/mirror/object_reader.hpp"
#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/json_views.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::doctor {
namespace {

namespace k = connectors::kubernetes;
namespace m = connectors::manifests;
using std::chrono::milliseconds;

constexpr int page_objects = 250;
constexpr std::size_t page_bytes_max = std::size_t{64} << 20U;
constexpr std::size_t said_bytes_max = 400;  // of what a server says is wrong
constexpr std::size_t probe_bytes_max = std::size_t{16} << 20U;
/// Beyond the limit that the client itself keeps.
constexpr milliseconds answer_grace{500};

Error refusal_of(const std::string& server, const k::HttpAnswer& answer) {
  if (answer.status == 0) return {ErrorKind::unavailable, "cannot reach the API server " + server + ": " + printable(answer.error)};
  const auto said = k::read_status(answer.body);
  const std::string reason = said.reason.empty() ? "status " + std::to_string(answer.status) : printable(said.reason);
  const ErrorKind kind = answer.status == 401 || answer.status == 403                           ? ErrorKind::denied
                         : answer.status == 404                                                 ? ErrorKind::not_found
                         : answer.status == 409                                                 ? ErrorKind::conflict
                         : answer.status == 429 || answer.status == 503 || answer.status == 504 ? ErrorKind::unavailable
                                                                                                : ErrorKind::io;
  return {kind, "the API server says " + reason + ": " + printable(cut_message(said.message, said_bytes_max))};
}

Time time_of_day() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

class ApiServer final : public ClusterReader {
 public:
  /// Shared with the client's thread.
  struct Heard {
    mutable std::mutex mutex;
    std::optional<ClockSample> sample;
  };

  ApiServer(std::unique_ptr<k::KubernetesCluster> cluster, std::shared_ptr<Heard> heard)
      : cluster_(std::move(cluster)), heard_(std::move(heard)) {}
  ~ApiServer() override { cluster_->stop(); }

  void set_deadline(Clock::time_point deadline) override { deadline_ = deadline; }
  [[nodiscard]] std::string server() const override { return cluster_->connection().server; }
  [[nodiscard]] std::optional<ClockSample> clock() const override {
    const std::lock_guard lock(heard_->mutex);
    return heard_->sample;
  }

  [[nodiscard]] Result<Json> get(const std::string& path) override {
    if (Clock::now() >= deadline_) return fail(ErrorKind::unavailable, late());
    k::HttpRequest request;
    request.path = path;
    request.body_bytes_max = page_bytes_max;
    return finish(begin(std::move(request)));
  }

  [[nodiscard]] std::vector<Result<Json>> review(const std::string& path, const std::vector<Json>& reviews) override {
    std::vector<std::future<k::HttpAnswer>> under_way;
    for (const auto& one : reviews) {
      k::HttpRequest request;
      request.method = k::HttpRequest::Method::post;
      request.content = k::HttpRequest::Content::json;
      request.path = path;
      request.body = std::make_shared<const std::string>(one.dump(-1, ' ', false, Json::error_handler_t::replace));
      under_way.push_back(begin(std::move(request)));
    }
    std::vector<Result<Json>> out;
    for (auto& one : under_way) out.push_back(finish(std::move(one)));
    return out;
  }

 private:
  [[nodiscard]] std::string late() const {
    return "the API server " + server() + " did not answer all that a check asks within its time (--timeout)";
  }
  [[nodiscard]] milliseconds remaining() const {
    return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  std::future<k::HttpAnswer> begin(k::HttpRequest request) {
    request.time_limit = remaining();
    const auto promise = std::make_shared<std::promise<k::HttpAnswer>>();
    auto future = promise->get_future();
    cluster_->loop().post([cluster = cluster_.get(), promise, request = std::move(request)]() mutable {
      cluster->http().send(std::move(request), [promise](k::HttpAnswer answer) { promise->set_value(std::move(answer)); });
    });
    return future;
  }

  [[nodiscard]] Result<Json> finish(std::future<k::HttpAnswer> under_way) {
    if (under_way.wait_for(remaining() + answer_grace) != std::future_status::ready) return fail(ErrorKind::unavailable, late());
    const k::HttpAnswer answer = under_way.get();
    if (answer.status / 100 != 2) return tl::unexpected(refusal_of(server(), answer));
    auto body = m::parse_json(answer.body);
    if (!body)
      return fail(ErrorKind::io, "the API server " + server() + " answers with something that cannot be read: " + body.error().message);
    return std::move(*body);
  }

  std::unique_ptr<k::KubernetesCluster> cluster_;
  std::shared_ptr<Heard> heard_;
  Clock::time_point deadline_ = Clock::now() + std::chrono::seconds(30);
};

}  // namespace

Result<std::unique_ptr<ClusterReader>> connect(const k::Connection& connection) {
  auto heard = std::make_shared<ApiServer::Heard>();
  k::KubernetesClusterOptions options;
  options.http.on_date = [heard](Time date) {
    const std::lock_guard lock(heard->mutex);
    heard->sample = ClockSample{date, time_of_day()};
  };
  auto cluster = k::KubernetesCluster::connect(connection, std::move(options));
  if (!cluster) return tl::unexpected(cluster.error());
  return std::make_unique<ApiServer>(std::move(*cluster), std::move(heard));
}

Result<Listed> list(ClusterReader& cluster, const std::string& path, const std::string& query, std::size_t objects_max) {
  const std::string base = path + "?limit=" + std::to_string(page_objects) + (query.empty() ? "" : "&" + query);
  Listed out;
  for (std::string next;;) {
    auto page = cluster.get(next.empty() ? base : base + "&continue=" + k::escape(next));
    if (!page) return tl::unexpected(page.error());
    const auto items = page->find("items");
    if (items != page->end() && items->is_array()) {
      for (auto& item : *items) {
        if (out.items.size() >= objects_max) {
          out.complete = false;
          return out;
        }
        if (item.is_object()) out.items.push_back(std::move(item));
      }
    }
    next = std::string(m::text(m::member(*page, "metadata"), "continue"));
    if (next.empty()) return out;
    if (out.items.size() >= objects_max) {
      out.complete = false;
      return out;
    }
  }
}

Result<std::optional<Json>> find(ClusterReader& cluster, const std::string& path) {
  auto object = cluster.get(path);
  if (object) return std::optional<Json>(std::move(*object));
  if (object.error().kind == ErrorKind::not_found) return std::optional<Json>();
  return tl::unexpected(object.error());
}

Result<PlainAnswer> plain_get(const std::string& url, const std::string& path, milliseconds time_limit) {
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail(ErrorKind::invalid, "found \"" + url + "\"; allowed: http://HOST:PORT or https://HOST:PORT");
  k::Connection connection;
  connection.description = url;
  connection.server = url;
  while (connection.server.ends_with('/')) connection.server.pop_back();
  connection.insecure_skip_tls_verify = true;
  auto client = k::KubernetesCluster::connect(connection);
  if (!client) return fail(ErrorKind::invalid, client.error().message);
  const auto promise = std::make_shared<std::promise<k::HttpAnswer>>();
  auto future = promise->get_future();
  (*client)->loop().post([raw = client->get(), promise, path, time_limit] {
    k::HttpRequest request;
    request.path = path;
    request.time_limit = time_limit;
    request.body_bytes_max = probe_bytes_max;
    raw->http().send(std::move(request), [promise](k::HttpAnswer answer) { promise->set_value(std::move(answer)); });
  });
  const bool came = future.wait_for(time_limit + answer_grace) == std::future_status::ready;
  (*client)->stop();
  if (!came) return fail(ErrorKind::unavailable, url + path + ": no answer in time");
  k::HttpAnswer answer = future.get();
  if (answer.status == 0) return fail(ErrorKind::unavailable, path + ": " + printable(answer.error));
  return PlainAnswer{answer.status, std::move(answer.body)};
}

}  // namespace hindsight::doctor
