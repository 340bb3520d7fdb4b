#include "connectors/objects/pod_use.hpp"

#include <algorithm>

#include "connectors/json/document.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/json/pod_requests.hpp"
#include "connectors/objects/readers.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/limits.hpp"

namespace hindsight::connectors {

bool readers::asks_for_topology(const Node& meta) {
  const auto keys = {keys::required_topology, keys::preferred_topology, keys::unconstrained_topology, keys::slice_required_topology,
                     keys::slice_constraints};
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return meta.entry("annotations", key).has_value(); });
}

List<ResourceAmount> readers::pod_requests(const Node& spec) {
  PodSetFacts facts;
  read_pod_requests(spec, {}, facts);
  const auto out = spec.reading().arena().make<ResourceAmount>(facts.requests.size() + 1);
  std::size_t n = 0;
  for (const auto& r : facts.requests)
    if (r.amount > 0 && r.resource != "pods") out[n++] = r;
  out[n++] = {"pods", 1};
  std::sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n),
            [](const auto& a, const auto& b) { return a.resource < b.resource; });
  return out.first(n);
}

namespace {

/// Its job knows the pod, and what it takes of a node (TAS-29, TAS-37). Whoever only says so is counted like everybody else.
bool is_told(const PodObserved& pod) { return pod.placed && !pod.pod_set.empty() && !pod.owner_uid.empty(); }

}  // namespace

bool seems_to_have_pod_set(std::string_view text) {
  static const std::string key = '"' + std::string(keys::pod_set) + '"';
  return text.find(key) != std::string_view::npos;
}

Result<PodUse> read_pod_use(std::string_view text) {
  const auto document = Document::parse(text);
  if (!document) return fail(document.error().kind, "Pod: " + document.error().message);
  Arena arena;
  Reading reading(arena, document->root(), object_title("Pod", document->root()));
  const auto object = reading.root();
  const auto meta = object.object("metadata");
  const auto spec = object.object("spec");
  const auto phase = object.object("status").text("phase");
  PodUse out;
  out.uid = meta.text("uid", limits::uid);
  const auto node = spec.text("nodeName", limits::name);
  const bool ended = phase == "Succeeded" || phase == "Failed";
  if (!node.empty() && !ended && !is_told(readers::pod(object))) {
    out.node = node;
    for (const auto& [resource, amount] : readers::pod_requests(spec)) out.request.amounts.emplace_back(Symbol(resource), amount);
  }
  if (reading.failed()) return tl::unexpected(reading.take_error());
  return out;
}

}  // namespace hindsight::connectors
