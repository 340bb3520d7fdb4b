#include "cli/remote/api_client.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include <nlohmann/json.hpp>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/mirror/object_reader.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

namespace k = connectors::kubernetes;
using connectors::ResourceType;
using Method = k::HttpRequest::Method;
using Content = k::HttpRequest::Content;

constexpr auto answer_timeout = std::chrono::seconds(40);  // longer than a request's own limit
constexpr int page_size = 500;
constexpr std::size_t page_bytes_max = std::size_t{512} << 20U;  // an object may have 1.5 MiB
/// A server that has too much to do (429) has not looked at the request: it is asked again when it said so, for about a minute.
constexpr int tries_max = 10;
constexpr int pause_seconds_max = 6;

/// "?dryRun=All" where the server shall only judge.
std::string with_dry_run(std::string path, DryRun dry_run) {
  if (dry_run == DryRun::server) path += "?dryRun=All";
  return path;
}

Error refusal(const std::string& server, const k::HttpAnswer& answer) {
  if (answer.status == 0) return {ErrorKind::unavailable, "cannot reach the API server " + server + ": " + answer.error};
  const auto said = k::read_status(answer.body);
  const std::string reason = said.reason.empty() ? "status " + std::to_string(answer.status) : said.reason;
  const ErrorKind kind = answer.status == 401 || answer.status == 403 ? ErrorKind::denied
                         : answer.status == 404                       ? ErrorKind::not_found
                         : answer.status == 409                       ? ErrorKind::conflict
                         : answer.status >= 500                       ? ErrorKind::unavailable
                                                                      : ErrorKind::io;
  return {kind, "the API server says " + printable(reason) + ": " + printable(said.message)};
}

k::HttpRequest request_of(Method method, std::string path, Content content = Content::none, const Json* body = nullptr) {
  k::HttpRequest request;
  request.method = method;
  request.content = content;
  request.path = std::move(path);
  if (method == Method::get) request.body_bytes_max = page_bytes_max;
  if (body != nullptr) request.body = std::make_shared<const std::string>(body->dump(-1, ' ', false, Json::error_handler_t::replace));
  return request;
}

}  // namespace

Result<std::unique_ptr<ApiClient>> ApiClient::connect(const std::string& kubeconfig, const std::string& context) {
  auto connection = k::find_connection({kubeconfig, context});
  if (!connection) return wrong_input(connection.error());
  auto cluster = k::KubernetesCluster::connect(*connection);
  if (!cluster) return tl::unexpected(cluster.error());
  return std::unique_ptr<ApiClient>(new ApiClient(std::move(*cluster)));
}

ApiClient::~ApiClient() { cluster_->stop(); }

Result<k::HttpAnswer> ApiClient::ask(k::HttpRequest request) {
  const auto promise = std::make_shared<std::promise<k::HttpAnswer>>();
  auto future = promise->get_future();
  cluster_->loop().post([this, promise, request = std::move(request)]() mutable {
    cluster_->http().send(std::move(request), [promise](k::HttpAnswer answer) { promise->set_value(std::move(answer)); });
  });
  const std::string& server = cluster_->connection().server;
  if (future.wait_for(answer_timeout) != std::future_status::ready)
    return fail(ErrorKind::unavailable, "cannot reach the API server " + server + ": no answer within " +
                                            std::to_string(std::chrono::seconds(answer_timeout).count()) + " s");
  return future.get();
}

Result<Json> ApiClient::send(const k::HttpRequest& request) {
  auto asked = ask(request);
  for (int tries = 1; asked && asked->status == 429 && tries < tries_max; ++tries) {
    std::this_thread::sleep_for(std::chrono::seconds(std::clamp(asked->retry_after_seconds, 1, pause_seconds_max)));
    asked = ask(request);
  }
  if (!asked) return tl::unexpected(asked.error());
  const k::HttpAnswer& answer = *asked;
  const std::string& server = cluster_->connection().server;
  if (answer.status / 100 != 2) return tl::unexpected(refusal(server, answer));
  Json body = Json::parse(answer.body, nullptr, false);
  if (body.is_discarded()) return fail(ErrorKind::io, "the API server " + server + " answers with something that is no JSON");
  return body;
}

namespace {

/// What such a name leads to is not one object but all of them, or others.
Result<void> check_name(const std::string& name) {
  if (!name.empty() && name != "." && name != "..") return {};
  return fail(ErrorKind::invalid, "found name \"" + name + "\"; allowed: the name of an object");
}

}  // namespace

Result<Json> ApiClient::get(const ResourceType& type, const std::string& namespace_, const std::string& name) {
  if (auto ok = check_name(name); !ok) return tl::unexpected(ok.error());
  return get_path(k::object_path(type, namespace_, name));
}

Result<Json> ApiClient::get_path(const std::string& path) { return send(request_of(Method::get, path)); }

Result<std::vector<Json>> ApiClient::list(const ResourceType& type, const ListSelection& selection) {
  std::string base = k::collection_path(type, selection.namespace_) + "?limit=" + std::to_string(page_size);
  if (!selection.label_selector.empty()) base += "&labelSelector=" + k::escape(selection.label_selector);
  if (!selection.field_selector.empty()) base += "&fieldSelector=" + k::escape(selection.field_selector);
  std::vector<Json> out;
  for (std::string next;;) {
    auto page = get_path(next.empty() ? base : base + "&continue=" + k::escape(next));
    if (!page) return tl::unexpected(page.error());
    const Json items = page->value("items", Json::array());
    for (Json item : items) {
      item["apiVersion"] = connectors::kubernetes::group_version(type);  // lists leave both out
      item["kind"] = type.kind;
      out.push_back(std::move(item));
    }
    next = page->value("metadata", Json::object()).value("continue", "");
    if (next.empty()) return out;
  }
}

Result<Json> ApiClient::create(const ResourceType& type, const std::string& namespace_, const Json& object, DryRun dry_run) {
  return send(request_of(Method::post, with_dry_run(k::collection_path(type, namespace_), dry_run), Content::json, &object));
}

Result<Json> ApiClient::merge_patch(const ResourceType& type, const std::string& namespace_, const std::string& name, const Json& patch,
                                    DryRun dry_run) {
  if (auto ok = check_name(name); !ok) return tl::unexpected(ok.error());
  return send(request_of(Method::patch, with_dry_run(k::object_path(type, namespace_, name), dry_run), Content::merge_patch, &patch));
}

Result<void> ApiClient::remove(const ResourceType& type, const std::string& namespace_, const std::string& name, const std::string& uid,
                               DryRun dry_run) {
  if (auto ok = check_name(name); !ok) return ok;
  Json options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
  if (!uid.empty()) options["preconditions"] = {{"uid", uid}};
  auto answer = send(request_of(Method::delete_, with_dry_run(k::object_path(type, namespace_, name), dry_run), Content::json, &options));
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

}  // namespace hindsight::cli
