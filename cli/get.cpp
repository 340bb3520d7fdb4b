#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string_view>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/kinds.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "projections/format.hpp"
#include "projections/gates.hpp"
#include "projections/objects.hpp"
#include "projections/quarantine.hpp"
#include "projections/quota_report.hpp"
#include "projections/tables.hpp"
#include "projections/topologies.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using projections::Filter;
using projections::Phase;
using projections::Table;

struct GetOptions {
  PastOptions past;
  std::string kind;
  std::vector<std::string> names;
  std::string namespace_ = "default";
  bool all_namespaces = false;
  bool no_headings = false;
  std::string cluster_queue, local_queue, format;
  std::vector<std::string> phases;
};

const std::vector<std::pair<std::string, Phase>>& phase_names() {
  static const std::vector<std::pair<std::string, Phase>> names{{"pending", Phase::pending},   {"quotareserved", Phase::quota_reserved},
                                                                {"admitted", Phase::admitted}, {"evicted", Phase::evicted},
                                                                {"finished", Phase::finished}, {"inactive", Phase::inactive}};
  return names;
}

Filter filter_of(const GetOptions& o, const KnownKind& kind) {
  Filter f;
  if (kind.namespaced && !o.all_namespaces) f.namespace_ = o.namespace_;
  f.names = o.names;
  f.cluster_queue = o.cluster_queue;
  f.local_queue = o.local_queue;
  for (const auto& wanted : o.phases)
    for (const auto& [name, phase] : phase_names())
      if (name == wanted) f.phases.insert(phase);
  return f;
}

/// The objects of a kind; `names` gets "namespace/name" or "name" of each.
Json objects_of(const admission::StateView& state, const KnownKind& kind, const Filter& filter) {
  Json out = Json::array();
  const auto& catalog = *state.domain().catalog();
  const auto each = [&](const auto& map, const auto& make) {
    for (const auto& [name, config] : map)
      if (filter.wants_name(name.text())) out.push_back(make(name, config));
  };
  if (kind.plural == "workloads") {
    for (const auto& at : projections::select_workloads(state, filter)) out.push_back(projections::workload_object(state, at));
  } else if (kind.plural == "localqueues") {
    for (const auto* q : projections::select_local_queues(state, filter)) out.push_back(projections::local_queue_object(state, *q));
  } else if (kind.plural == "gates") {
    for (const auto& gated : projections::gated_objects(state, filter)) out.push_back(projections::to_json(gated));
  } else if (kind.plural == "quarantined") {
    for (const auto& object : projections::quarantined_objects(state, filter)) out.push_back(projections::to_json(object));
  } else if (kind.plural == "clusterqueues") {
    each(catalog.queues, [&](Symbol, const auto& q) { return projections::cluster_queue_object(state, *q); });
  } else if (kind.plural == "cohorts") {
    for (const Symbol& name : projections::all_cohorts(state))
      if (filter.wants_name(name.text())) out.push_back(projections::cohort_object(state, name));
  } else if (kind.plural == "resourceflavors") {
    each(catalog.flavors, [](Symbol, const auto& f) { return projections::resource_flavor_object(*f); });
  } else if (kind.plural == "topologies") {
    each(catalog.topologies, [](Symbol name, const auto& levels) { return projections::topology_object(name, levels); });
  } else if (kind.plural == "nodes") {
    const auto shares = projections::node_shares(state);
    each(state.domain().nodes(),
         [&](Symbol name, const auto& node) { return projections::node_object(*node, shares.at(std::string(name.text()))); });
  } else if (kind.plural == "admissionchecks") {
    each(catalog.checks, [](Symbol, const auto& c) { return projections::admission_check_object(*c); });
  } else {
    each(catalog.workload_priority_classes, [](Symbol name, const auto& c) { return projections::priority_class_object(name, c); });
  }
  return out;
}

Table table_of(const admission::StateView& state, const KnownKind& kind, const Filter& filter) {
  if (kind.plural == "gates") return projections::gates_table(state, filter);
  if (kind.plural == "quarantined") return projections::quarantined_table(state, filter);
  if (kind.plural == "workloads") return projections::workloads_table(state, filter);
  if (kind.plural == "localqueues") return projections::local_queues_table(state, filter);
  if (kind.plural == "clusterqueues") return projections::cluster_queues_table(state, filter);
  if (kind.plural == "cohorts") return projections::cohorts_table(state, filter);
  if (kind.plural == "resourceflavors") return projections::resource_flavors_table(state, filter);
  if (kind.plural == "topologies") return projections::topologies_table(state, filter);
  if (kind.plural == "nodes") return projections::nodes_table(state, filter);
  if (kind.plural == "admissionchecks") return projections::admission_checks_table(state, filter);
  return projections::priority_classes_table(state, filter);
}

/// Names that were asked for and are not there.
Result<void> check_names(const std::vector<std::string>& wanted, const std::set<std::string>& found, std::string_view kind) {
  std::vector<std::string> missing;
  for (const auto& name : wanted)
    if (!found.contains(name)) missing.push_back("\"" + name + "\"");
  if (missing.empty()) return {};
  return fail(ErrorKind::not_found, std::string(kind) + " " + projections::joined(missing) + " not found");
}

Result<int> get(const Session& session, const GetOptions& o) {
  const auto journey = travel(session, o.past);
  if (!journey) return tl::unexpected(journey.error());
  const KnownKind& kind = *find_kind(o.kind);
  const Filter filter = filter_of(o, kind);
  std::set<std::string> found;
  if (o.format == "json" || o.format == "yaml" || o.format == "name") {
    Json objects = objects_of(journey->state(), kind, filter);
    for (const auto& object : objects) {
      found.insert(object["metadata"]["name"].get<std::string>());
      if (o.format == "name")
        session.out << kind.names.front() << (kind.plural == "nodes" ? "/" : ".kueue.x-k8s.io/")
                    << printable(object["metadata"]["name"].get<std::string>()) << "\n";
    }
    if (o.format != "name") {
      const bool one = o.names.size() == 1 && objects.size() == 1;
      print_document(session, one ? objects.front() : projections::list_of(std::move(objects)), o.format);
    }
  } else {
    const Table table = table_of(journey->state(), kind, filter);
    const auto name_column =
        std::find_if(table.columns.begin(), table.columns.end(), [](const auto& c) { return c.heading == "NAME"; }) - table.columns.begin();
    for (const auto& row : table.rows) found.insert(row[static_cast<std::size_t>(name_column)].text);
    if (table.rows.empty()) {
      if (o.names.empty())
        session.err << "No resources found" << (filter.namespace_ ? " in " + *filter.namespace_ + " namespace." : ".") << std::endl;
    } else {
      session.out << projections::render(table, {.wide = o.format == "wide", .colour = session.colour, .headings = !o.no_headings});
    }
  }
  if (auto ok = check_names(o.names, found, kind.plural); !ok) return tl::unexpected(ok.error());
  return exit_ok;
}

}  // namespace

void add_get(CLI::App& app, Session& session) {
  const auto o = std::make_shared<GetOptions>();
  auto* c = add_command(app, session, "get", "List workloads, queues, cohorts, flavors or nodes, now or at any past moment",
                        "  hindsight get workloads -A --log hindsight.db\n"
                        "  hindsight get clusterqueues -o wide --at 2026-01-01T00:00:10Z --log hindsight.db\n"
                        "  hindsight get wl -c team-a --status pending --at -5m --log hindsight.db",
                        [o, &session] { return get(session, *o); });
  c->add_option("kind", o->kind,
                "workloads, clusterqueues, localqueues, cohorts, resourceflavors, topologies, nodes, admissionchecks, "
                "workloadpriorityclasses, gates, quarantined")
      ->required()
      ->check(is_kind());
  c->add_option("name", o->names, "Only these");
  auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->add_flag("-A,--all-namespaces", o->all_namespaces, "All namespaces")->excludes(one);
  c->add_option("-c,--clusterqueue", o->cluster_queue, "Only workloads and LocalQueues of this ClusterQueue");
  c->add_option("-q,--localqueue", o->local_queue, "Only workloads of this LocalQueue");
  std::vector<std::string> phases;
  for (const auto& [name, phase] : phase_names()) phases.push_back(name);
  c->add_option("--status", o->phases, "Only workloads that stand so; may be repeated")->check(CLI::IsMember(phases));
  c->add_flag("--no-headers", o->no_headings, "No line with headings");
  add_output(*c, o->format, {"table", "wide", "json", "yaml", "name"});
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
