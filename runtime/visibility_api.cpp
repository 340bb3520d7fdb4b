#include "runtime/visibility_api.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "connectors/objects/resource_types.hpp"
#include "projections/json.hpp"
#include "projections/pending_workloads.hpp"
#include "projections/presence.hpp"

namespace hindsight::runtime {
namespace {

using operations::HttpRequest;
using operations::HttpResponse;
using projections::Json;
using projections::PendingPage;
using projections::PendingWorkload;

/// Newest first, as discovery prefers them.
constexpr std::array<std::string_view, 2> versions{"v1beta2", "v1beta1"};
constexpr std::int64_t limit_max = 100'000;

std::string group_version(std::string_view version) { return std::string(visibility_group).append("/").append(version); }

HttpResponse json_response(const Json& body, int status = 200) {
  return {.status = status,
          .content_type = "application/json",
          .body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n",
          .headers = {}};
}

// ---- discovery ----------------------------------------------------------------------------------------------------------------

struct Queue {
  std::string_view plural, singular, kind;
  bool namespaced = false;
};
constexpr std::array<Queue, 2> queues{
    {{"clusterqueues", "clusterqueue", "ClusterQueue", false}, {"localqueues", "localqueue", "LocalQueue", true}}};

Json api_group() {
  Json list = Json::array();
  for (const auto version : versions) list.push_back({{"groupVersion", group_version(version)}, {"version", version}});
  return {{"kind", "APIGroup"}, {"apiVersion", "v1"}, {"name", visibility_group}, {"versions", list}, {"preferredVersion", list.front()}};
}

Json api_resources(std::string_view version) {
  Json list = Json::array();
  for (const auto& queue : queues) {
    list.push_back({{"name", queue.plural},
                    {"singularName", queue.singular},
                    {"namespaced", queue.namespaced},
                    {"kind", queue.kind},
                    {"verbs", Json::array()}});
    list.push_back({{"name", std::string(queue.plural) + "/pendingworkloads"},
                    {"singularName", ""},
                    {"namespaced", queue.namespaced},
                    {"kind", "PendingWorkloadsSummary"},
                    {"verbs", Json::array({"get"})}});
  }
  return {{"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", group_version(version)}, {"resources", std::move(list)}};
}

/// All at once, in the form of apidiscovery.k8s.io.
Json aggregated_discovery(std::string_view discovery_version) {
  Json list = Json::array();
  for (const auto version : versions) {
    Json resources = Json::array();
    for (const auto& queue : queues) {
      const auto kind = [&](std::string_view name) { return Json{{"group", visibility_group}, {"version", version}, {"kind", name}}; };
      Json pending{{"subresource", "pendingworkloads"}, {"responseKind", kind("PendingWorkloadsSummary")}, {"verbs", Json::array({"get"})}};
      resources.push_back({{"resource", queue.plural},
                           {"responseKind", kind(queue.kind)},
                           {"scope", queue.namespaced ? "Namespaced" : "Cluster"},
                           {"singularResource", queue.singular},
                           {"verbs", Json::array()},
                           {"subresources", Json::array({std::move(pending)})}});
    }
    list.push_back({{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  Json group{{"metadata", {{"name", visibility_group}, {"creationTimestamp", nullptr}}}, {"versions", std::move(list)}};
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/" + std::string(discovery_version)},
          {"metadata", Json::object()},
          {"items", Json::array({std::move(group)})}};
}

HttpResponse groups(const HttpRequest& request) {
  const std::string_view accept = request.header("accept");
  if (accept.find("as=APIGroupDiscoveryList") != std::string_view::npos) {
    const std::string_view version = accept.find("v=v2;") != std::string_view::npos || accept.ends_with("v=v2") ? "v2" : "v2beta1";
    HttpResponse out = json_response(aggregated_discovery(version));
    out.content_type = "application/json;g=apidiscovery.k8s.io;v=" + std::string(version) + ";as=APIGroupDiscoveryList";
    return out;
  }
  return json_response({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array({api_group()})}});
}

// ---- OpenAPI ------------------------------------------------------------------------------------------------------------------

Json open_api_info(std::string_view version) { return {{"title", "Hindsight visibility"}, {"version", version}}; }

std::optional<HttpResponse> open_api(std::string_view path) {
  if (path == "/openapi/v2") return json_response({{"swagger", "2.0"}, {"info", open_api_info("unversioned")}, {"paths", Json::object()}});
  Json all = Json::object();
  for (const auto version : versions) {
    const std::string name = "apis/" + group_version(version);
    if (path == "/openapi/v3/" + name)
      return json_response({{"openapi", "3.0.0"}, {"info", open_api_info(version)}, {"paths", Json::object()}});
    all[name] = {{"serverRelativeURL", "/openapi/v3/" + name + "?hash=1"}};
  }
  if (path == "/openapi/v3") return json_response({{"paths", std::move(all)}});
  return std::nullopt;
}

// ---- pending workloads --------------------------------------------------------------------------------------------------------

struct Asked {
  std::string_view version, namespace_, queue;  ///< An empty namespace: a ClusterQueue.
};

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    out.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// "clusterqueues/NAME/pendingworkloads", "namespaces/NAMESPACE/localqueues/NAME/pendingworkloads"; nothing: neither.
std::optional<Asked> read_path(std::string_view version, std::string_view rest) {
  const auto parts = parts_of(rest);
  if (std::find(parts.begin(), parts.end(), std::string_view()) != parts.end()) return std::nullopt;
  if (parts.size() == 3 && parts[0] == "clusterqueues" && parts[2] == "pendingworkloads") return Asked{version, {}, parts[1]};
  if (parts.size() == 5 && parts[0] == "namespaces" && parts[2] == "localqueues" && parts[4] == "pendingworkloads")
    return Asked{version, parts[1], parts[3]};
  return std::nullopt;
}

/// A parameter of the query, cut to its bounds (base-api §9).
Result<std::size_t> bounded(const HttpRequest& request, const char* name, std::int64_t preset, std::int64_t max) {
  const std::string_view text = request.parameter(name);
  if (text.empty()) return static_cast<std::size_t>(preset);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorKind::invalid, std::string(name) + ": found \"" + std::string(text) + "\"; allowed: a whole number");
  return static_cast<std::size_t>(std::clamp<std::int64_t>(value, 0, max));
}

Result<PendingPage> page_of(const HttpRequest& request) {
  const auto offset = bounded(request, "offset", 0, INT64_MAX);
  if (!offset) return tl::unexpected(offset.error());
  const auto limit = bounded(request, "limit", 1000, limit_max);
  if (!limit) return tl::unexpected(limit.error());
  return PendingPage{*offset, *limit};
}

Json item_of(const PendingWorkload& w) {
  Json metadata{{"name", w.name}, {"namespace", w.namespace_}, {"creationTimestamp", nullptr}};
  if (w.created.is_set()) metadata["creationTimestamp"] = format_rfc3339(w.created);
  if (w.owner) {
    const auto* type = connectors::find_resource_type(w.owner->kind, w.owner->group);
    const std::string version = type == nullptr ? w.owner->group + "/v1" : connectors::api_version(*type);
    metadata["ownerReferences"] =
        Json::array({{{"apiVersion", version}, {"kind", w.owner->kind}, {"name", w.owner->name}, {"uid", w.owner->uid}}});
  }
  return {{"metadata", std::move(metadata)},
          {"priority", w.priority},
          {"localQueueName", w.local_queue},
          {"positionInClusterQueue", w.position},
          {"positionInLocalQueue", w.local_position}};
}

HttpResponse pending_workloads(const HttpRequest& request, const Asked& asked, const StateReader& state) {
  const auto page = page_of(request);
  if (!page) return status_response(400, "BadRequest", page.error().message);
  const bool local = !asked.namespace_.empty();
  struct Found {
    projections::Presence presence;
    std::vector<PendingWorkload> items;
  };
  std::optional<Found> found;  // in one domain; while the queue moves perhaps in two
  const bool all_shown = state([&](const admission::StateView& view) {
    const auto presence = projections::presence_in(view);
    if (found && presence <= found->presence) return;
    if (auto items = local ? projections::pending_in_local_queue(view, asked.namespace_, asked.queue, *page)
                           : projections::pending_in_cluster_queue(view, asked.queue, *page))
      found = {presence, std::move(*items)};
  });
  if (!found && !all_shown) return status_response(503, "ServiceUnavailable", "this copy does not run the domain yet; ask again later");
  if (!found) {
    const std::string kind = local ? "localqueue" : "clusterqueue", name(asked.queue);
    return status_response(404, "NotFound", kind + "." + std::string(visibility_group) + " \"" + name + "\" not found", {kind, name});
  }
  Json items = Json::array();
  for (const auto& w : found->items) items.push_back(item_of(w));
  return json_response({{"kind", "PendingWorkloadsSummary"},
                        {"apiVersion", group_version(asked.version)},
                        {"metadata", {{"creationTimestamp", nullptr}}},
                        {"items", std::move(items)}});
}

}  // namespace

HttpResponse status_response(int code, const std::string& reason, const std::string& message, const StatusDetails& details) {
  Json body{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
            {"status", "Failure"}, {"message", message}, {"reason", reason}};
  if (!details.kind.empty()) body["details"] = {{"name", details.name}, {"group", visibility_group}, {"kind", details.kind}};
  body["code"] = code;
  return json_response(body, code);
}

HttpResponse answer_visibility(const HttpRequest& request, const StateReader& state) {
  const std::string_view path = request.path;
  if (path == "/apis") return groups(request);
  if (path.starts_with("/openapi/"))
    if (auto document = open_api(path)) return std::move(*document);
  const std::string group_path = "/apis/" + std::string(visibility_group);
  if (path == group_path) return json_response(api_group());
  for (const auto version : versions) {
    const std::string base = group_path + "/" + std::string(version);
    if (path == base) return json_response(api_resources(version));
    if (!path.starts_with(base + "/")) continue;
    if (const auto asked = read_path(version, path.substr(base.size() + 1))) return pending_workloads(request, *asked, state);
  }
  return status_response(404, "NotFound", "the server could not find the requested resource: " + std::string(path));
}

}  // namespace hindsight::runtime
