#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/kinds.hpp"
#include "cli/naming.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "projections/describe.hpp"
#include "projections/gang_room.hpp"
#include "projections/objects.hpp"
#include "projections/quota_report.hpp"
#include "projections/tables.hpp"
#include "projections/text_tree.hpp"
#include "projections/topologies.hpp"

namespace hindsight::cli {
namespace {

struct DescribeOptions {
  PastOptions past;
  std::vector<std::string> words;  ///< KIND NAME, KIND/NAME, ...
  std::string kind, namespace_ = "default", format, pod;
  std::string name;  ///< From the words, as `kind` and `wanted` are then.
  WantedName wanted;
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
  const bool text = o.format == "text";  // programs get the object, as from `get`, with all who hold and wait
  constexpr auto whole = projections::Detail::whole;
  if (kind == "workloads") {
    const auto at = projections::find_workload(state, target_of(o.wanted, o.namespace_));
    if (!at) return tl::unexpected(at.error());
    return text ? projections::describe_workload(state, *at) : projections::workload_object(state, *at, whole);
  }
  if (kind == "localqueues") {
    const auto* queue = catalog.local_queue(Symbol(o.namespace_), Symbol(o.name));
    if (queue == nullptr) {
      std::vector<std::string> names;
      for (const auto* other : projections::select_local_queues(state, {.namespace_ = o.namespace_}))
        names.emplace_back(other->name.text());
      return fail(ErrorKind::not_found,
                  "localqueues \"" + o.namespace_ + "/" + o.name + "\" not found" + projections::did_you_mean(o.name, names));
    }
    return text ? projections::describe_local_queue(state, *queue) : projections::local_queue_object(state, *queue, whole);
  }
  if (kind == "clusterqueues")
    return find_in(catalog.queues, o).map([&](const auto* q) {
      return text ? projections::describe_cluster_queue(state, *q) : projections::cluster_queue_object(state, *q, whole);
    });
  if (kind == "resourceflavors")
    return find_in(catalog.flavors, o).map([&](const auto* f) {
      return text ? projections::describe_resource_flavor(state, *f) : projections::resource_flavor_object(state, *f);
    });
  if (kind == "topologies") {
    const auto it = catalog.topologies.find(Symbol(o.name));
    if (it != catalog.topologies.end()) {
      std::optional<admission::topology::PodRequest> pod;
      if (!o.pod.empty()) {
        auto read = projections::parse_pod(o.pod);
        if (!read) return tl::unexpected(read.error());
        pod = std::move(*read);
      }
      return text ? projections::describe_topology(state, it->first, it->second, pod)
                  : projections::topology_object(state, it->first, it->second, pod);
    }
    std::vector<std::string> names;
    for (const auto& [name, levels] : catalog.topologies) names.emplace_back(name.text());
    return fail(ErrorKind::not_found, "topologies \"" + o.name + "\" not found" + projections::did_you_mean(o.name, names));
  }
  if (kind == "nodes")
    return find_in(state.domain().nodes(), o).map([&](const auto* n) {
      if (text) return projections::describe_node(state, *n);
      return projections::node_object(state, *n, projections::node_shares(state).at(std::string(n->name.text())));
    });
  if (kind == "cohorts") {
    std::vector<std::string> names;
    for (const Symbol& name : projections::all_cohorts(state)) {
      if (name.text() == o.name) return text ? projections::describe_cohort(state, name) : projections::cohort_object(state, name);
      names.emplace_back(name.text());
    }
    return fail(ErrorKind::not_found, "cohorts \"" + o.name + "\" not found" + projections::did_you_mean(o.name, names));
  }
  return fail(ErrorKind::invalid, "describe does not know " + std::string(kind) + "; 'hindsight get " + std::string(kind) +
                                      " -o yaml' shows all that is known");
}

Result<int> describe(const Session& session, DescribeOptions o) {
  std::vector<std::string> words{o.kind};
  words.insert(words.end(), o.words.begin(), o.words.end());
  auto wanted = read_one_wanted(words);
  if (!wanted) return tl::unexpected(wanted.error());
  o.kind = wanted->kind->plural;
  o.wanted = std::move(wanted->names.front());
  o.name = o.wanted.name;
  if (o.wanted.namespace_) o.namespace_ = *o.wanted.namespace_;
  if (!o.pod.empty() && o.kind != "topologies")
    return fail(ErrorKind::invalid, "--pod: found with " + o.kind + "; allowed: with a topology");
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
                        "  hindsight describe cq/team-a --at 120 --log hindsight.db",
                        [o, &session] { return describe(session, *o); });
  c->add_option(
       "kind", o->kind,
       "workload, clusterqueue, localqueue, cohort, resourceflavor, topology, node, or KIND/NAME, KIND/NAMESPACE/NAME; job/NAME for the "
       "Workload of a job")
      ->required();
  c->add_option("name", o->words, "Its name, where KIND does not have it: NAME, NAMESPACE/NAME, of a workload also job/NAME");
  const auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->get_option("kind")->check(in_namespace_of(one));
  c->get_option("name")->check(in_namespace_of(one));
  c->add_option("--pod", o->pod, "Of a topology: what a pod takes whose gangs are to find room, as in nvidia.com/gpu=8,cpu=32");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
