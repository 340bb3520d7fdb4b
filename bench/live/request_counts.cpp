#include "bench/live/request_counts.hpp"

#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

namespace hindsight::bench {
namespace {

constexpr std::string_view metric = "apiserver_request_total{";

/// The value of a label of one line.
std::string_view label(std::string_view line, std::string_view key) {
  const std::string begin = std::string(key) + "=\"";
  for (auto at = line.find(begin); at != std::string_view::npos; at = line.find(begin, at + 1)) {
    if (at == 0 || (line[at - 1] != '{' && line[at - 1] != ',')) continue;  // "resource" ends "subresource"
    const auto value = line.substr(at + begin.size());
    return value.substr(0, value.find('"'));
  }
  return {};
}

bool is_write(std::string_view verb) {
  return verb == "POST" || verb == "PUT" || verb == "PATCH" || verb == "APPLY" || verb == "DELETE" || verb == "DELETECOLLECTION";
}

}  // namespace

RequestCounts request_counts_in(std::string_view metrics) {
  RequestCounts out;
  for (auto at = metrics.find(metric); at != std::string_view::npos; at = metrics.find(metric, at + 1)) {
    const std::string line(metrics.substr(at, metrics.find('\n', at) - at));
    const auto verb = label(line, "verb"), group = label(line, "group"), resource = label(line, "resource");
    if (!is_write(verb) || (group != "kueue.x-k8s.io" && group != "batch" && resource != "events")) continue;
    std::string kind = std::string(verb) + " " + std::string(resource);
    if (const auto subresource = label(line, "subresource"); !subresource.empty()) kind.append("/").append(subresource);
    const auto value = line.rfind("} ");
    if (value != std::string::npos) out[kind] += static_cast<std::size_t>(std::strtod(line.c_str() + value + 2, nullptr));
  }
  return out;
}

Result<RequestCounts> request_counts(connectors::kubernetes::KubernetesCluster& cluster) {
  const auto answer = std::make_shared<std::promise<connectors::kubernetes::HttpAnswer>>();
  cluster.get_path("/metrics", [answer](connectors::kubernetes::HttpAnswer got) { answer->set_value(std::move(got)); });
  const auto got = answer->get_future().get();
  if (got.status != 200)
    return fail(ErrorKind::unavailable, "the metrics of the API server: found HTTP " + std::to_string(got.status) + "; allowed: 200");
  return request_counts_in(got.body);
}

RequestCounts difference(const RequestCounts& after, const RequestCounts& before) {
  RequestCounts out;
  for (const auto& [kind, count] : after) {
    const auto found = before.find(kind);
    const std::size_t earlier = found == before.end() ? 0 : found->second;
    if (count > earlier) out.emplace(kind, count - earlier);
  }
  return out;
}

}  // namespace hindsight::bench
