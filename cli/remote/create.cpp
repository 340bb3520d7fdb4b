#include <memory>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/remote/new_objects.hpp"
#include "cli/remote/remote_options.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::cli {
namespace {

namespace t = connectors::types;

/// Sends the object, or, without a word to the cluster, says what would be sent.
Result<int> create_object(const Session& session, const RemoteOptions& o, const connectors::ResourceType& type, const Json& object) {
  if (o.how() == DryRun::client) {
    print_done(session, o, object, "created");
    return exit_ok;
  }
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  const auto made = (*client)->create(type, object["metadata"].value("namespace", ""), object, o.how());
  if (!made) return tl::unexpected(made.error());
  print_done(session, o, *made, "created");
  return exit_ok;
}

void add_common(CLI::App& command, RemoteOptions& o, std::string& name) {
  command.add_option("name", name, "Its name")->required();
  add_dry_run(command, o);
  add_output(command, o.format, {"text", "json", "yaml", "name"});
  add_connection_options(command, o);
}

struct ClusterQueueOptions : RemoteOptions {
  NewClusterQueue wanted;
};

Result<int> create_cluster_queue(const Session& session, const ClusterQueueOptions& o) {
  const auto object = new_cluster_queue(o.wanted);
  if (!object) return tl::unexpected(object.error());
  return create_object(session, o, t::cluster_queue, *object);
}

void add_create_cluster_queue(CLI::App& create, Session& session) {
  const auto o = std::make_shared<ClusterQueueOptions>();
  auto* c = add_command(create, session, "clusterqueue", "A ClusterQueue with its quotas",
                        "  hindsight create clusterqueue team-a --nominal-quota \"default:cpu=9;memory=36Gi\"\n"
                        "  hindsight create clusterqueue team-b --cohort all --queuing-strategy StrictFIFO --reclaim-within-cohort Any \\\n"
                        "    --nominal-quota \"spot:cpu=4,reserved:cpu=8\" --borrowing-limit \"spot:cpu=2,reserved:cpu=0\"",
                        [o, &session] { return create_cluster_queue(session, *o); });
  c->alias("cq");
  c->add_option("--cohort", o->wanted.cohort, "The cohort that it belongs to");
  c->add_option("--queuing-strategy", o->wanted.queueing_strategy, "In which order workloads are tried; else BestEffortFIFO")
      ->check(CLI::IsMember({"StrictFIFO", "BestEffortFIFO"}));
  c->add_option("--namespace-selector", o->wanted.namespace_selector,
                "Labels of the namespaces whose workloads it takes; else every namespace")
      ->type_name("KEY=VALUE,...");
  c->add_option("--reclaim-within-cohort", o->wanted.reclaim_within_cohort, "Whom it may preempt to get back what others have borrowed")
      ->check(CLI::IsMember({"Never", "LowerPriority", "Any"}));
  c->add_option("--preemption-within-cluster-queue", o->wanted.within_cluster_queue, "Whom it may preempt in the queue itself")
      ->check(CLI::IsMember({"Never", "LowerPriority", "LowerOrNewerEqualPriority"}));
  constexpr const char* quotas = "FLAVOR:RESOURCE=QUANTITY;...,...";
  c->add_option("--nominal-quota", o->wanted.quotas.nominal_quota, "What it may use of each flavor")->type_name(quotas);
  c->add_option("--borrowing-limit", o->wanted.quotas.borrowing_limit, "What it may borrow of its cohort; else all that is free")
      ->type_name(quotas);
  c->add_option("--lending-limit", o->wanted.quotas.lending_limit, "What it lends to its cohort; else all that is free")->type_name(quotas);
  add_common(*c, *o, o->wanted.name);
}

struct LocalQueueOptions : RemoteOptions {
  NewLocalQueue wanted;
  bool ignore_unknown = false;
};

Result<void> check_cluster_queue(ApiClient& client, const std::string& name) {
  const auto queue = client.get(t::cluster_queue, "", name);
  if (queue) return {};
  if (queue.error().kind != ErrorKind::not_found) return tl::unexpected(queue.error());
  return fail(ErrorKind::not_found, "--clusterqueue: found \"" + name +
                                        "\", which is not there; allowed: a ClusterQueue of the cluster, or any with --ignore-unknown-cq");
}

Result<int> create_local_queue(const Session& session, LocalQueueOptions o) {
  o.wanted.namespace_ = o.namespace_;
  if (!o.ignore_unknown || o.namespace_.empty()) {
    const auto client = o.connect();
    if (!client) return tl::unexpected(client.error());
    o.wanted.namespace_ = o.namespace_in(**client);
    if (!o.ignore_unknown)
      if (auto there = check_cluster_queue(**client, o.wanted.cluster_queue); !there) return tl::unexpected(there.error());
  }
  return create_object(session, o, t::local_queue, new_local_queue(o.wanted));
}

void add_create_local_queue(CLI::App& create, Session& session) {
  const auto o = std::make_shared<LocalQueueOptions>();
  auto* c = add_command(create, session, "localqueue", "A LocalQueue that leads to a ClusterQueue",
                        "  hindsight create localqueue user-queue -c team-a -n default",
                        [o, &session] { return create_local_queue(session, *o); });
  c->alias("lq");
  c->add_option("-c,--clusterqueue", o->wanted.cluster_queue, "The ClusterQueue that it leads to")->required();
  c->add_flag("-i,--ignore-unknown-cq", o->ignore_unknown, "Also if that ClusterQueue is not there");
  add_namespace_options(*c, *o, false);
  add_common(*c, *o, o->wanted.name);
}

struct ResourceFlavorOptions : RemoteOptions {
  NewResourceFlavor wanted;
};

Result<int> create_resource_flavor(const Session& session, const ResourceFlavorOptions& o) {
  const auto object = new_resource_flavor(o.wanted);
  if (!object) return tl::unexpected(object.error());
  return create_object(session, o, t::resource_flavor, *object);
}

void add_create_resource_flavor(CLI::App& create, Session& session) {
  const auto o = std::make_shared<ResourceFlavorOptions>();
  auto* c =
      add_command(create, session, "resourceflavor", "A ResourceFlavor: a kind of nodes",
                  "  hindsight create resourceflavor spot --node-labels cloud.provider.com/spot=true --node-taints spot=true:NoSchedule",
                  [o, &session] { return create_resource_flavor(session, *o); });
  c->alias("rf");
  c->add_option("--node-labels", o->wanted.node_labels, "Labels of its nodes")->type_name("KEY=VALUE,...");
  c->add_option("--node-taints", o->wanted.node_taints, "Taints of its nodes")->type_name("KEY[=VALUE]:EFFECT,...");
  c->add_option("--tolerations", o->wanted.tolerations, "What is added to pods that get it")->type_name("KEY[=VALUE][:EFFECT],...");
  add_common(*c, *o, o->wanted.name);
}

}  // namespace

void add_create(CLI::App& app, Session& session) {
  auto* create = app.add_subcommand("create", "Make a ClusterQueue, LocalQueue or ResourceFlavor in a cluster");
  create->require_subcommand(1);
  add_create_cluster_queue(*create, session);
  add_create_local_queue(*create, session);
  add_create_resource_flavor(*create, session);
}

}  // namespace hindsight::cli
