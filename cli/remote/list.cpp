#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/remote/cluster_tables.hpp"
#include "cli/remote/object_reference.hpp"
#include "cli/remote/remote_options.hpp"
#include "connectors/kubernetes/api_path.hpp"
#include "connectors/objects/resource_types.hpp"
#include "projections/objects.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

namespace t = connectors::types;

struct ListOptions : RemoteOptions {
  std::string label_selector, field_selector, cluster_queue, local_queue, for_object;
  std::vector<std::string> active, statuses;
  bool no_headings = false;
};

Time now() { return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()}; }

ListSelection selection_of(const ListOptions& o, const ApiClient& client, bool namespaced) {
  return {namespaced && !o.all_namespaces ? o.namespace_in(client) : std::string(), o.label_selector, o.field_selector};
}

/// The objects in the form that was asked for; `table` is made when it is to be one.
int print_list(const Session& session, const ListOptions& o, const std::string& namespace_, std::vector<Json> items,
               const std::function<projections::Table(const std::vector<Json>&)>& table) {
  if (o.format == "name") {
    for (const auto& item : items)
      session.out << printable(resource_name(item["apiVersion"], item["kind"], item["metadata"]["name"])) << "\n";
  } else if (o.format == "json" || o.format == "yaml") {
    for (auto& item : items) item["metadata"].erase("managedFields");
    print_document(session, projections::list_of(std::move(items)), o.format);
  } else if (items.empty()) {
    session.err << "No resources found" << (namespace_.empty() ? "." : " in " + namespace_ + " namespace.") << std::endl;
  } else {
    session.out << projections::render(table(items), {.wide = o.format == "wide", .colour = session.colour, .headings = !o.no_headings});
  }
  return exit_ok;
}

Result<int> list_cluster_queues(const Session& session, const ListOptions& o) {
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  auto items = (*client)->list(t::cluster_queue, selection_of(o, **client, false));
  if (!items) return tl::unexpected(items.error());
  const auto wanted = [&](bool active) {
    return o.active.empty() || std::find(o.active.begin(), o.active.end(), active ? "true" : "false") != o.active.end();
  };
  std::erase_if(*items, [&](const Json& queue) { return !wanted(is_active_queue(queue)); });
  return print_list(session, o, "", std::move(*items), [](const auto& all) { return cluster_queue_list(all, now()); });
}

Result<int> list_local_queues(const Session& session, const ListOptions& o) {
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  const auto selection = selection_of(o, **client, true);
  auto items = (*client)->list(t::local_queue, selection);
  if (!items) return tl::unexpected(items.error());
  if (!o.cluster_queue.empty())
    std::erase_if(*items, [&](const Json& queue) { return queue["spec"].value("clusterQueue", "") != o.cluster_queue; });
  return print_list(session, o, selection.namespace_, std::move(*items),
                    [&](const auto& all) { return local_queue_list(all, now(), o.all_namespaces); });
}

Result<int> list_resource_flavors(const Session& session, const ListOptions& o) {
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  auto items = (*client)->list(t::resource_flavor, selection_of(o, **client, false));
  if (!items) return tl::unexpected(items.error());
  return print_list(session, o, "", std::move(*items), [](const auto& all) { return resource_flavor_list(all, now()); });
}

/// Where the LocalQueues lead.
Result<WorkloadSurroundings> surroundings(ApiClient& client, const std::string& namespace_) {
  auto queues = client.list(t::local_queue, {namespace_, "", ""});
  if (!queues) return tl::unexpected(queues.error());
  WorkloadSurroundings out;
  for (const auto& queue : *queues) out.cluster_queues[full_name_of(queue)] = queue["spec"].value("clusterQueue", "");
  return out;
}

/// Asks the visibility API for the LocalQueues of pending Workloads. A cluster need not have it: then there are no positions.
void add_positions(const Session& session, ApiClient& client, const std::vector<Json>& workloads, WorkloadSurroundings& around) {
  std::set<std::string> queues;  // paths
  for (const auto& w : workloads)
    if (status_of_workload(w) == "pending")
      queues.insert("/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/" +
                    connectors::kubernetes::escape(w["metadata"].value("namespace", "")) + "/localqueues/" +
                    connectors::kubernetes::escape(local_queue_of(w)) + "/pendingworkloads?limit=100000");
  for (const auto& path : queues) {
    const auto summary = client.get_path(path);
    if (!summary) {
      if (summary.error().kind == ErrorKind::not_found) continue;
      return session.warn("positions are not shown: " + summary.error().message);
    }
    for (const auto& item : summary->value("items", Json::array()))
      around.positions[full_name_of(item)] = std::to_string(item.value("positionInLocalQueue", 0));
  }
}

bool is_for(const Json& workload, const ObjectReference& wanted) {
  const Json owners = workload["metadata"].value("ownerReferences", Json::array());
  return std::any_of(owners.begin(), owners.end(), [&](const Json& owner) { return means(owner, wanted); });
}

Result<int> list_workloads(const Session& session, const ListOptions& o) {
  std::optional<ObjectReference> of;
  if (!o.for_object.empty()) {
    auto read = read_reference(o.for_object);
    if (!read) return tl::unexpected(read.error());
    of = std::move(*read);
  }
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  const auto selection = selection_of(o, **client, true);
  auto items = (*client)->list(t::workload, selection);
  if (!items) return tl::unexpected(items.error());
  auto around = surroundings(**client, selection.namespace_);
  if (!around) return tl::unexpected(around.error());
  const bool all = o.statuses.empty() || std::find(o.statuses.begin(), o.statuses.end(), "all") != o.statuses.end();
  std::erase_if(*items, [&](const Json& w) {
    const bool wanted = (o.local_queue.empty() || local_queue_of(w) == o.local_queue) &&
                        (o.cluster_queue.empty() || cluster_queue_of(w, *around) == o.cluster_queue) &&
                        (all || std::find(o.statuses.begin(), o.statuses.end(), status_of_workload(w)) != o.statuses.end()) &&
                        (!of || is_for(w, *of));
    return !wanted;
  });
  if (o.format == "table" || o.format == "wide") add_positions(session, **client, *items, *around);
  return print_list(session, o, selection.namespace_, std::move(*items),
                    [&](const auto& some) { return workload_list(some, *around, now(), o.all_namespaces); });
}

Result<int> list_pods(const Session& session, const ListOptions& o) {
  const auto job = read_reference(o.for_object);
  if (!job) return tl::unexpected(job.error());
  const auto selector = pod_selector(*job);
  if (!selector) return tl::unexpected(selector.error());
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  auto selection = selection_of(o, **client, true);
  selection.label_selector += (selection.label_selector.empty() ? "" : ",") + *selector;
  auto items = (*client)->list(t::pod, selection);
  if (!items) return tl::unexpected(items.error());
  return print_list(session, o, selection.namespace_, std::move(*items),
                    [&](const auto& all) { return pod_list(all, now(), o.all_namespaces); });
}

using Action = Result<int> (*)(const Session&, const ListOptions&);

/// One of the lists with the options that all have.
CLI::App* add_list_of(CLI::App& list, Session& session, const std::shared_ptr<ListOptions>& o, const char* name,
                      std::initializer_list<const char*> aliases, const char* description, const char* examples, Action action) {
  auto* c = add_command(list, session, name, description, examples, [o, &session, action] { return action(session, *o); });
  for (const char* alias : aliases) c->alias(alias);
  c->add_option("-l,--selector", o->label_selector, "Only objects with these labels")->type_name("SELECTOR");
  c->add_option("--field-selector", o->field_selector, "Only objects with these fields")->type_name("SELECTOR");
  c->add_flag("--no-headers", o->no_headings, "No line with headings");
  add_output(*c, o->format, {"table", "wide", "json", "yaml", "name"});
  add_connection_options(*c, *o);
  return c;
}

}  // namespace

void add_list(CLI::App& app, Session& session) {
  auto* list = app.add_subcommand("list", "List queues, workloads, flavors or pods of a cluster, as it is now");
  list->require_subcommand(1);
  const auto options = [] { return std::make_shared<ListOptions>(); };

  auto o = options();
  auto* c = add_list_of(*list, session, o, "clusterqueue", {"clusterqueues", "cq"}, "ClusterQueues",
                        "  hindsight list clusterqueue --active true", &list_cluster_queues);
  c->add_option("--active", o->active, "Only those that are active, or are not; both: true,false")
      ->delimiter(',')
      ->check(CLI::IsMember({"true", "false"}));

  o = options();
  c = add_list_of(*list, session, o, "localqueue", {"localqueues", "lq"}, "LocalQueues", "  hindsight list localqueue -A -c team-a",
                  &list_local_queues);
  c->add_option("-c,--clusterqueue", o->cluster_queue, "Only those that lead to this ClusterQueue");
  add_namespace_options(*c, *o, true);

  o = options();
  c = add_list_of(*list, session, o, "workload", {"workloads", "wl", "kwl", "kueueworkload", "kueueworkloads"},
                  "Workloads, with the places of those that wait",
                  "  hindsight list workload -q user-queue --status pending\n  hindsight list workload --for job/train -A",
                  &list_workloads);
  c->add_option("-c,--clusterqueue", o->cluster_queue, "Only those of this ClusterQueue");
  c->add_option("-q,--localqueue", o->local_queue, "Only those of this LocalQueue");
  c->add_option("--status", o->statuses, "Only those that stand so; may be repeated")
      ->check(CLI::IsMember({"all", "pending", "quotareserved", "admitted", "finished"}, CLI::ignore_case));
  c->add_option("--for", o->for_object, "Only those of this job")->type_name("TYPE[.GROUP]/NAME");
  add_namespace_options(*c, *o, true);

  o = options();
  add_list_of(*list, session, o, "resourceflavor", {"resourceflavors", "rf"}, "ResourceFlavors", "  hindsight list resourceflavor",
              &list_resource_flavors);

  o = options();
  c = add_list_of(*list, session, o, "pods", {"pod", "po"}, "The pods of a job", "  hindsight list pods --for job/train", &list_pods);
  c->add_option("--for", o->for_object, "The job")->type_name("TYPE[.GROUP]/NAME")->required();
  add_namespace_options(*c, *o, true);
}

}  // namespace hindsight::cli
