#include <memory>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/migrate/report.hpp"
#include "cli/migrate/rules.hpp"
#include "cli/migrate/sources.hpp"
#include "cli/remote/remote_options.hpp"

namespace hindsight::cli {
namespace {

struct MigrateCheckOptions : RemoteOptions {
  std::vector<std::string> files;
  std::string kueue_config, kueue_namespace = "kueue-system";
  bool no_headings = false;
};

Result<int> check_migration(const Session& session, const MigrateCheckOptions& o) {
  migrate::World world;
  if (!o.files.empty()) {
    if (auto ok = migrate::add_files(o.files, world); !ok) return tl::unexpected(ok.error());
  } else {
    const auto client = o.connect();
    if (!client) return tl::unexpected(client.error());
    if (auto ok = migrate::add_cluster(**client, o.kueue_namespace, world); !ok) return tl::unexpected(ok.error());
  }
  if (!o.kueue_config.empty())
    if (auto ok = migrate::add_configuration_file(o.kueue_config, world); !ok) return tl::unexpected(ok.error());
  const auto findings = migrate::look_at_everything(world);
  if (o.format == "json" || o.format == "yaml") {
    print_document(session, migrate::findings_document(findings), o.format);
  } else {
    session.out << projections::render(migrate::findings_table(findings),
                                       {.wide = o.format == "wide", .colour = session.colour, .headings = !o.no_headings});
    session.out << summary_of(findings) << "\n";
  }
  return findings.count(migrate::Severity::blocks) == 0 ? exit_ok : exit_failure;
}

}  // namespace

void add_migrate(CLI::App& app, Session& session) {
  auto* migrate = app.add_subcommand("migrate", "Take over a cluster that Kueue runs");
  migrate->require_subcommand(1);
  const auto o = std::make_shared<MigrateCheckOptions>();
  auto* c = add_command(*migrate, session, "check",
                        "Say what will be different when Hindsight takes the place of Kueue; status 1 if anything stands in the way",
                        "  hindsight migrate check --kubeconfig ~/.kube/config\n"
                        "  hindsight migrate check -f dump.yaml --kueue-config controller_manager_config.yaml\n"
                        "  hindsight migrate check -o json | jq -r '.findings[] | select(.severity == \"blocks\") | .object'",
                        [o, &session] { return check_migration(session, *o); });
  add_connection_options(*c, *o);
  auto* files = c->add_option("-f,--filename", o->files, "Objects from files or directories instead, as 'kubectl get -o yaml' prints them")
                    ->type_name("FILE");
  for (const char* option : {"--kubeconfig", "--context"}) files->excludes(c->get_option(option));
  c->add_option("--kueue-config", o->kueue_config, "Kueue's configuration; else the ConfigMap kueue-manager-config")->type_name("FILE");
  c->add_option("--kueue-namespace", o->kueue_namespace, "Where Kueue's Deployment and ConfigMap are")->capture_default_str();
  c->add_flag("--no-headers", o->no_headings, "No line with headings");
  add_output(*c, o->format, {"table", "wide", "json", "yaml"});
}

}  // namespace hindsight::cli
