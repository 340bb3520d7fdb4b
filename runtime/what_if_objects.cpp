#include "runtime/what_if_objects.hpp"

#include <utility>

#include "connectors/json/json_value.hpp"
#include "connectors/objects/observe.hpp"
#include "whatif/encoded.hpp"

namespace hindsight::runtime {
namespace {

constexpr std::size_t manifests_max = 100'000;

}  // namespace

Result<std::vector<std::vector<std::byte>>> what_if_objects(connectors::manifests::Input input, const std::string& what, Time at,
                                                            whatif::Responses& responses) {
  if (!input.scenarios.empty())
    return fail(ErrorKind::invalid, what + ": found the scenario " + input.scenarios.front().name + "; allowed: manifests");
  if (input.manifests.size() > manifests_max)
    return fail(ErrorKind::invalid,
                what + ": found " + std::to_string(input.manifests.size()) + " objects; allowed: at most " + std::to_string(manifests_max));
  std::vector<std::vector<std::byte>> out;
  for (auto& m : input.manifests) {
    auto& meta = m.object["metadata"];
    const std::string name = meta.value("namespace", "") + "/" + meta.value("name", "");
    meta["uid"] = "what-if/" + std::string(m.kind->type->kind) + "/" + name;
    meta["creationTimestamp"] = format_rfc3339(at);
    meta["generation"] = 1;
    for (const auto* kind : {"Job", "JobSet", "RayJob", "RayCluster"})
      if (m.kind->type->kind == kind) m.object["spec"]["suspend"] = true;  // as the webhook of a cluster does
    const auto run = connectors::manifests::seconds_annotation(m.object, connectors::manifests::run_seconds_annotation);
    if (!run) return fail(run.error().kind, m.source + ": " + run.error().message);
    if (*run) responses.set_run_time(meta["uid"].get<std::string>(), **run);
    Arena arena;
    const auto observed = connectors::observe_text(*m.kind->type, m.object.dump(), arena);
    if (!observed) return fail(observed.error().kind, m.source + ": " + observed.error().message);
    out.push_back(whatif::encoded(*observed));
  }
  return out;
}

Result<std::vector<std::vector<std::byte>>> what_if_objects_of_text(const std::string& yaml, Time at, whatif::Responses& responses) {
  auto input = connectors::manifests::read_text(yaml, "yaml");
  if (!input) return tl::unexpected(input.error());
  return what_if_objects(std::move(*input), "yaml", at, responses);
}

}  // namespace hindsight::runtime
