#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/remote/remote_options.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::cli {
namespace {

namespace t = connectors::types;

struct StopOptions : RemoteOptions {
  std::string name;
  bool keep_running = false;
};

/// Which part of the spec says whether an object goes on.
struct Switch {
  const connectors::ResourceType& type;
  const char* command;
  std::vector<const char*> aliases;
  const char* what;  ///< "a Workload"
};

Json patch_of(const Switch& what, bool stop, bool keep_running) {
  if (&what.type == &t::workload) return {{"spec", {{"active", !stop}}}};
  return {{"spec", {{"stopPolicy", !stop ? "None" : keep_running ? "Hold" : "HoldAndDrain"}}}};
}

Result<int> turn(const Session& session, const StopOptions& o, const Switch& what, bool stop) {
  const auto client = o.connect();
  if (!client) return tl::unexpected(client.error());
  const std::string namespace_ = what.type.namespaced ? o.namespace_in(**client) : std::string();
  const Json patch = patch_of(what, stop, o.keep_running);
  auto changed = o.how() == DryRun::client ? (*client)->get(what.type, namespace_, o.name)
                                           : (*client)->merge_patch(what.type, namespace_, o.name, patch, o.how());
  if (!changed) return tl::unexpected(changed.error());
  if (o.how() == DryRun::client) changed->merge_patch(patch);
  print_done(session, o, *changed, stop ? "stopped" : "resumed");
  return exit_ok;
}

void add_switch(CLI::App& parent, Session& session, const Switch& what, bool stop) {
  const auto o = std::make_shared<StopOptions>();
  const bool queue = &what.type != &t::workload;
  const std::string verb = stop ? "stop" : "resume";
  const std::string description = !stop   ? std::string("Let ") + what.what + " go on"
                                  : queue ? std::string("Let nothing more out of ") + what.what + "; what runs is evicted"
                                          : std::string("Deactivate ") + what.what + "; if it runs, it is evicted";
  auto* c = add_command(parent, session, what.command, description, "  hindsight " + verb + " " + what.command + " my-" + what.command,
                        [o, &session, what, stop] { return turn(session, *o, what, stop); });
  for (const char* alias : what.aliases) c->alias(alias);
  c->add_option("name", o->name, "Its name")->required();
  if (stop && queue) c->add_flag("--keep-already-running", o->keep_running, "What holds quota runs to its end");
  if (what.type.namespaced) add_namespace_options(*c, *o, false);
  add_dry_run(*c, *o);
  add_output(*c, o->format, {"text", "json", "yaml", "name"});
  add_connection_options(*c, *o);
}

void add_switches(CLI::App& parent, Session& session, bool stop) {
  parent.require_subcommand(1);
  add_switch(parent, session, {t::workload, "workload", {"wl", "kwl", "kueueworkload"}, "a Workload"}, stop);
  add_switch(parent, session, {t::cluster_queue, "clusterqueue", {"cq"}, "a ClusterQueue"}, stop);
  add_switch(parent, session, {t::local_queue, "localqueue", {"lq"}, "a LocalQueue"}, stop);
}

}  // namespace

void add_stop_and_resume(CLI::App& app, Session& session) {
  add_switches(*app.add_subcommand("stop", "Hold a workload or queue of a cluster"), session, true);
  add_switches(*app.add_subcommand("resume", "Let a workload or queue of a cluster go on"), session, false);
}

}  // namespace hindsight::cli
