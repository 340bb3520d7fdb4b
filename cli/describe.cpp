#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/kinds.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "projections/describe.hpp"
#include "projections/gang_room.hpp"
#include "projections/quota_report.hpp"
#include "projections/text_tree.hpp"
#include "projections/topologies.hpp"

namespace hindsight::cli {
namespace {

struct DescribeOptions {
  PastOptions past;
  std::string kind, name, namespace_ = "default", format, pod;
};

/// The value under a name in one of the catalog's tables, or an error that names similar ones.
template <class Map>
auto find_in(const Map& map, const DescribeOptions& o) -> Result<decltype(map.begin()->second.get())> {
  const auto it = map.find(Symbol(o.name));
  if (it != map.end()) return it->second.get();
  std::vector<std::string> names;
  for (const auto& [name, config] : map) names.emplace_back(name.text());
  return fail(ErrorKind::not_found,
              std::string(find_kind(o.kind)->plural) + " \"" + o.name + "\" not found" + projections::did_you_mean(o.name, names));
}

Result<Json> document(const admission::StateView& state, const DescribeOptions& o) {
  const auto& catalog = *state.domain().catalog();
  const std::string_view kind = find_kind(o.kind)->plural;
  if (kind == "workloads") {
    auto target = projections::parse_target(o.name, o.namespace_);
    if (!target) return tl::unexpected(target.error());
    const auto at = projections::find_workload(state, *target);
    if (!at) return tl::unexpected(at.error());
    return projections::describe_workload(state, *at);
  }
  if (kind == "localqueues") {
    const auto* queue = catalog.local_queue(Symbol(o.namespace_), Symbol(o.name));
    if (queue == nullptr) return fail(ErrorKind::not_found, "localqueues \"" + o.namespace_ + "/" + o.name + "\" not found");
    return projections::describe_local_queue(state, *queue);
  }
  if (kind == "clusterqueues")
    return find_in(catalog.queues, o).map([&](const auto* q) { return projections::describe_cluster_queue(state, *q); });
  if (kind == "resourceflavors")
    return find_in(catalog.flavors, o).map([&](const auto* f) { return projections::describe_resource_flavor(state, *f); });
  if (kind == "topologies") {
    const auto it = catalog.topologies.find(Symbol(o.name));
    if (it != catalog.topologies.end()) {
      std::optional<admission::topology::PodRequest> pod;
      if (!o.pod.empty()) {
        auto read = projections::parse_pod(o.pod);
        if (!read) return tl::unexpected(read.error());
        pod = std::move(*read);
      }
      return projections::describe_topology(state, it->first, it->second, pod);
    }
    std::vector<std::string> names;
    for (const auto& [name, levels] : catalog.topologies) names.emplace_back(name.text());
    return fail(ErrorKind::not_found, "topologies \"" + o.name + "\" not found" + projections::did_you_mean(o.name, names));
  }
  if (kind == "nodes") return find_in(state.domain().nodes(), o).map([&](const auto* n) { return projections::describe_node(state, *n); });
  if (kind == "cohorts") {
    std::vector<std::string> names;
    for (const Symbol& name : projections::all_cohorts(state)) {
      if (name.text() == o.name) return projections::describe_cohort(state, name);
      names.emplace_back(name.text());
    }
    return fail(ErrorKind::not_found, "cohorts \"" + o.name + "\" not found" + projections::did_you_mean(o.name, names));
  }
  return fail(ErrorKind::invalid, "describe does not know " + std::string(kind) + "; 'hindsight get " + std::string(kind) +
                                      " -o yaml' shows all that is known");
}

Result<int> describe(const Session& session, const DescribeOptions& o) {
  const auto journey = travel(session, o.past);
  if (!journey) return tl::unexpected(journey.error());
  const auto out = document(journey->state(), o);
  if (!out) return tl::unexpected(out.error());
  if (o.format == "text") {
    session.out << projections::render_tree(*out);
  } else {
    print_document(session, *out, o.format);
  }
  return exit_ok;
}

}  // namespace

void add_describe(CLI::App& app, Session& session) {
  const auto o = std::make_shared<DescribeOptions>();
  auto* c = add_command(app, session, "describe",
                        "All that is known of one workload, queue, cohort, flavor, topology or node, now or at any past moment",
                        "  hindsight describe workload job/train --log hindsight.db\n"
                        "  hindsight describe clusterqueue team-a --at 120 --log hindsight.db",
                        [o, &session] { return describe(session, *o); });
  c->add_option("kind", o->kind, "workload, clusterqueue, localqueue, cohort, resourceflavor, topology, node")
      ->required()
      ->check(is_kind());
  c->add_option("name", o->name, "Its name; of a workload also NAMESPACE/NAME, job/NAME")->required();
  c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->add_option("--pod", o->pod, "Of a topology: what a pod takes whose gangs are to find room, as in nvidia.com/gpu=8,cpu=32");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
