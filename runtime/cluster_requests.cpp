#include "runtime/cluster_requests.hpp"

#include <future>

#include "connectors/kubernetes/mirror/object_reader.hpp"
#include "connectors/manifests/json_text.hpp"

namespace hindsight::runtime {
namespace {

std::string about(const connectors::ResourceType& type, const std::string& namespace_, const std::string& name) {
  return std::string(type.kind) + " " + namespace_ + (namespace_.empty() ? "" : "/") + name;
}

Error refusal(const std::string& what, int status, const std::string& body) {
  const ErrorKind kind = status == 0                      ? ErrorKind::unavailable
                         : status == 401 || status == 403 ? ErrorKind::denied
                         : status == 404                  ? ErrorKind::not_found
                         : status == 409                  ? ErrorKind::conflict
                         : status >= 500                  ? ErrorKind::unavailable
                                                          : ErrorKind::invalid;
  const auto said = connectors::kubernetes::read_status(body);
  return {kind, what + ": " + (status == 0 ? std::string("no answer") : "status " + std::to_string(status) + ": " + said.message)};
}

/// As the API server's: path segments of names (metadata.name is no longer than this).
constexpr std::size_t name_bytes_max = 253;

}  // namespace

bool is_name_of_object(std::string_view name) {
  return !name.empty() && name.size() <= name_bytes_max && name != "." && name != ".." &&
         name.find_first_of("/%") == std::string_view::npos;
}

Result<std::shared_ptr<const ObjectJson>> read_object(connectors::kubernetes::KubernetesCluster& cluster,
                                                      const connectors::ResourceType& type, const std::string& namespace_,
                                                      const std::string& name, std::shared_ptr<const void> held) {
  const std::string what = about(type, namespace_, name);
  if (!is_name_of_object(name) || (type.namespaced && !is_name_of_object(namespace_)))
    return fail(ErrorKind::invalid, what + ": found a name that no object has");
  const auto promise = std::make_shared<std::promise<connectors::kubernetes::HttpAnswer>>();
  auto future = promise->get_future();
  cluster.get(type, namespace_, name, [promise, held = std::move(held)](connectors::kubernetes::HttpAnswer answer) mutable {
    held.reset();  // before anybody goes on with the answer
    promise->set_value(std::move(answer));
  });
  if (future.wait_for(request_patience) != std::future_status::ready)
    return fail(ErrorKind::unavailable, what + ": no answer within " + std::to_string(request_patience.count()) + " s");
  const auto answer = future.get();
  if (answer.status == 404) return nullptr;
  if (answer.status != 200) return tl::unexpected(refusal(what, answer.status, answer.body));
  auto object = connectors::manifests::parse_json(answer.body);
  if (!object) return fail(ErrorKind::invalid, what + ": " + object.error().message);
  return std::make_shared<const ObjectJson>(std::move(*object));
}

Result<void> write_object(connectors::kubernetes::KubernetesCluster& cluster, connectors::Write write) {
  const std::string what = about(*write.type, write.namespace_, write.name);
  const auto promise = std::make_shared<std::promise<connectors::WriteAnswer>>();
  auto future = promise->get_future();
  cluster.write_once(std::move(write), [promise](connectors::WriteAnswer answer) { promise->set_value(std::move(answer)); });
  if (future.wait_for(request_patience) != std::future_status::ready)
    return fail(ErrorKind::unavailable, what + ": no answer within " + std::to_string(request_patience.count()) + " s");
  const auto answer = future.get();
  if (answer.http_status / 100 == 2) return {};
  return tl::unexpected(refusal(what, answer.http_status, answer.body));
}

connectors::kubernetes::HttpAnswer post_and_wait(connectors::kubernetes::KubernetesCluster& cluster, const std::string& path,
                                                 const std::string& body) {
  const auto promise = std::make_shared<std::promise<connectors::kubernetes::HttpAnswer>>();
  auto future = promise->get_future();
  cluster.post_path(path, body, request_patience,
                    [promise](connectors::kubernetes::HttpAnswer answer) { promise->set_value(std::move(answer)); });
  if (future.wait_for(request_patience) != std::future_status::ready) return {};
  return future.get();
}

}  // namespace hindsight::runtime
