#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/remote/cluster_tables.hpp"
#include "cli/remote/remote_options.hpp"
#include "connectors/objects/resource_types.hpp"
#include "runtime/complain.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using runtime::print_error;

namespace t = connectors::types;

struct DeleteOptions : RemoteOptions {
  std::vector<std::string> names;
  bool all = false, yes = false;
};

/// A job that goes together with its Workload. The plural is that of the table of kinds; of kinds that are not in it the usual one.
struct OwnerToDelete {
  connectors::ResourceType type;
  std::string group, version, plural, name, uid;  ///< What `type` points into.
};

/// Owners stay where they are: `type` points into them.
std::unique_ptr<OwnerToDelete> read_owner(const Json& reference) {
  auto out = std::make_unique<OwnerToDelete>();
  const std::string api_version = reference.value("apiVersion", "");
  const auto slash = api_version.find('/');
  out->group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
  out->version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  out->name = reference.value("name", "");
  out->uid = reference.value("uid", "");
  const std::string kind = reference.value("kind", "");
  const auto* known = connectors::find_resource_type(kind, out->group);
  out->plural = known != nullptr ? std::string(known->plural) : lower(kind) + "s";
  out->type = {"", out->group, out->version, out->plural, true};
  return out;
}

std::string resource_text(const OwnerToDelete& owner) {
  return owner.plural + (owner.group.empty() ? "" : "." + owner.group) + "/" + owner.name;
}

struct Victim {
  Json workload;
  std::vector<std::unique_ptr<OwnerToDelete>> owners;
};

Result<std::vector<Victim>> find_victims(const Session& session, const DeleteOptions& o, ApiClient& client) {
  std::vector<Json> workloads;
  if (o.all) {
    auto found = client.list(t::workload, {o.all_namespaces ? std::string() : o.namespace_in(client), "", ""});
    if (!found) return tl::unexpected(found.error());
    workloads = std::move(*found);
  }
  for (const auto& name : o.names) {
    auto found = client.get(t::workload, o.namespace_in(client), name);
    if (!found && found.error().kind == ErrorKind::not_found) {
      print_error(session.err, found.error().message);
      continue;
    }
    if (!found) return tl::unexpected(found.error());
    workloads.push_back(std::move(*found));
  }
  std::vector<Victim> out;
  for (auto& workload : workloads) {
    Victim victim{std::move(workload), {}};
    for (const auto& reference : victim.workload["metadata"].value("ownerReferences", Json::array()))
      victim.owners.push_back(read_owner(reference));
    out.push_back(std::move(victim));
  }
  return out;
}

/// Asks on standard input; anything but "y" is no.
bool confirmed(const Session& session, const std::vector<Victim>& victims) {
  session.out << "This operation will also delete:\n";
  for (const auto& victim : victims) {
    std::string owners;
    for (const auto& owner : victim.owners) owners += (owners.empty() ? "" : ", ") + resource_text(*owner);
    if (!owners.empty())
      session.out << printable("  - " + owners + " associated with the " + full_name_of(victim.workload) + " workload") << "\n";
  }
  session.out << "Do you want to proceed (y/n)? " << std::flush;
  std::string answer;
  return std::cin >> answer && (answer == "y" || answer == "Y");
}

/// The job where there is one: its Workload is then collected; else the Workload.
Result<void> remove(const Session& session, const DeleteOptions& o, ApiClient& client, const Victim& victim) {
  const std::string namespace_ = victim.workload["metadata"].value("namespace", "");
  const char* note = o.how() == DryRun::client ? " (client dry run)" : o.how() == DryRun::server ? " (server dry run)" : "";
  const auto take = [&](const connectors::ResourceType& type, const std::string& name, const std::string& uid) -> Result<void> {
    if (o.how() == DryRun::client) return {};
    auto removed = client.remove(type, namespace_, name, uid, o.how());
    if (!removed && removed.error().kind != ErrorKind::not_found) return removed;
    return {};
  };
  for (const auto& owner : victim.owners) {
    if (auto removed = take(owner->type, owner->name, owner->uid); !removed) return removed;
    session.out << printable(resource_text(*owner)) << " deleted" << note << "\n";
  }
  if (!victim.owners.empty()) return {};
  const std::string name = victim.workload["metadata"].value("name", "");
  if (auto removed = take(t::workload, name, victim.workload["metadata"].value("uid", "")); !removed) return removed;
  session.out << "workload.kueue.x-k8s.io/" << printable(name) << " deleted" << note << "\n";
  return {};
}

Result<int> delete_workloads(const Session& session, const DeleteOptions& o) {
  if (!o.all && o.names.empty()) return fail(ErrorKind::invalid, "found no name; allowed: names of Workloads, or --all");
  if (o.all && !o.names.empty()) return fail(ErrorKind::invalid, "found --all together with a name; allowed: one of them");
  if (o.all_namespaces && !o.names.empty())
    return fail(ErrorKind::invalid, "found --all-namespaces together with a name; allowed: with --all");
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  const auto victims = find_victims(session, o, **client);
  if (!victims) return tl::unexpected(victims.error());
  const bool owned = std::any_of(victims->begin(), victims->end(), [](const Victim& v) { return !v.owners.empty(); });
  if (o.how() == DryRun::none && !o.yes && owned && !confirmed(session, *victims)) {
    session.out << "Deletion is canceled\n";
    return exit_ok;
  }
  for (const auto& victim : *victims)
    if (auto removed = remove(session, o, **client, victim); !removed) return tl::unexpected(removed.error());
  return victims->size() < o.names.size() ? exit_failure : exit_ok;
}

}  // namespace

void add_delete_workload(CLI::App& parent, Session& session) {
  const auto o = std::make_shared<DeleteOptions>();
  auto* c = add_command(parent, session, "workload", "Workloads together with the jobs that they belong to",
                        "  hindsight delete workload job-train-8d56e\n  hindsight delete workload --all -n team --yes",
                        [o, &session] { return delete_workloads(session, *o); });
  for (const char* alias : {"wl", "kwl", "kueueworkload", "kueueworkloads"}) c->alias(alias);
  c->add_option("name", o->names, "Their names");
  c->add_flag("--all", o->all, "All of the namespace");
  c->add_flag("-y,--yes", o->yes, "Do not ask before jobs are deleted");
  add_namespace_options(*c, *o, true);
  add_dry_run(*c, *o);
  add_connection_options(*c, *o);
}

}  // namespace hindsight::cli
