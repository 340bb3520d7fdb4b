// What is wrong with an installation, each with what to do.

#include <chrono>
#include <memory>
#include <ostream>
#include <string>

#include "cli/commands.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "connectors/kubernetes/auth/connection.hpp"
#include "doctor/examination.hpp"
#include "doctor/manifests.hpp"
#include "doctor/report.hpp"
#include "runtime/call_name.hpp"
#include "runtime/space_report.hpp"

namespace hindsight::cli {
namespace {

struct DoctorOptions {
  doctor::Options looks;
  std::string print, format;
  std::uint64_t timeout_seconds = 10, limit = 50;
};

/// What was asked for in a way that nobody can mean.
Result<void> judge_doctor_options(const CLI::App& command, const DoctorOptions& o) {
  if (!o.print.empty()) {
    if (const std::string other = found_beside(command,
                                               {"kubeconfig", "context", "namespace", "as-controller", "own-rights", "log-limit", "config",
                                                "feature-gates", "server", "only", "timeout", "limit", "output"},
                                               "--print", "--print alone");
        !other.empty())
      return fail(ErrorKind::invalid, other);
    return {};
  }
  if (auto known = doctor::check_chosen(o.looks.only); !known) return known;
  const auto& account = o.looks.account;
  const auto slash = account.find('/');
  if (!account.empty() &&
      (slash == std::string::npos || slash == 0 || slash + 1 == account.size() || account.find('/', slash + 1) != std::string::npos))
    return fail(ErrorKind::invalid, "--as-controller: found \"" + account + "\"; allowed: NAMESPACE/NAME of a service account");
  if (const auto limit = runtime::parse_log_limit(o.looks.log_limit); !limit) return tl::unexpected(limit.error());
  const auto& server = o.looks.server;
  if (!server.empty() && !server.starts_with("http://") && !server.starts_with("https://"))
    return fail(ErrorKind::invalid, "--server: found \"" + server + "\"; allowed: http://HOST:PORT or https://HOST:PORT");
  return {};
}

Result<int> examine_installation(const Session& session, const CLI::App& command, DoctorOptions& o) {
  if (auto judged = judge_doctor_options(command, o); !judged) return tl::unexpected(judged.error());
  if (!o.print.empty()) {
    const auto text = doctor::manifest_text(o.print);
    if (!text) return fail(text.error().kind, "--print: " + text.error().message);
    session.out << *text;
    return exit_ok;
  }
  doctor::Context context;
  context.options = o.looks;
  context.options.timeout = std::chrono::seconds(o.timeout_seconds);
  context.commands = doctor::Commands(runtime::call_name(), o.looks.kubeconfig, o.looks.context);
  std::unique_ptr<doctor::ClusterReader> cluster;
  if (doctor::ask_cluster(context.options)) {
    const auto connection = connectors::kubernetes::find_connection({o.looks.kubeconfig, o.looks.context});
    auto connected = connection ? doctor::connect(*connection) : tl::unexpected(connection.error());
    if (connected)
      cluster = std::move(*connected);
    else
      context.no_cluster = connected.error().message;
  }
  context.cluster = cluster.get();
  const bool text = o.format == "text";
  const auto examination = doctor::examine(context, [&](const doctor::Examined& done) {
    if (text) session.out << doctor::line_of(done, session.colour) << std::flush;
  });
  if (text)
    session.out << doctor::text_of_findings(examination, o.limit, session.colour);
  else
    print_document(session, doctor::document_of(examination, o.limit), o.format);
  return examination.exit_status();
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  const auto o = std::make_shared<DoctorOptions>();
  const auto self = std::make_shared<CLI::App*>(nullptr);
  auto* c = add_command(
      app, session, "doctor",
      "What is wrong with an installation, each with what to do. Exit code 1 if anything is wrong, 2 if it could not be looked at",
      "  hindsight doctor --kubeconfig ~/.kube/config\n"
      "  hindsight doctor --only rights,webhooks -o json\n"
      "  hindsight doctor --only log,process --log hindsight.db --log-limit 8Gi --server http://127.0.0.1:8080\n"
      "  hindsight doctor --print rbac | kubectl apply -f -",
      [o, self, &session] { return examine_installation(session, **self, *o); });
  *self = c;
  auto& looks = o->looks;
  c->add_option("--kubeconfig", looks.kubeconfig, "Which cluster; else KUBECONFIG, the service account, ~/.kube/config")->type_name("FILE");
  c->add_option("--context", looks.context, "Context of the kubeconfig")->type_name("NAME");
  c->add_option("-n,--namespace", looks.namespace_,
                "Where Hindsight is installed; else wherever a Deployment of it is, else hindsight-system")
      ->type_name("NAME");
  auto* account =
      c->add_option("--as-controller", looks.account,
                    "The service account whose rights are looked at; else that of the Deployment, and where there is none our own")
          ->type_name("NAMESPACE/NAME");
  c->add_flag("--own-rights", looks.own_rights, "Look at the rights of whoever asks, as for a control plane that runs with this kubeconfig")
      ->excludes(account);
  auto* log = c->add_option("--log", looks.log, "Look at this log, too: sqlite:FILE, FILE, or kafka:HOST:PORT[,...][/PREFIX][?partition=N]")
                  ->envname("HINDSIGHT_LOG")
                  ->type_name("LOG");
  c->add_option("--log-config", looks.log_config, "Settings of the way to Kafka, as for 'hindsight run'")
      ->envname("HINDSIGHT_LOG_CONFIG")
      ->type_name("FILE");
  c->add_option("--log-limit", looks.log_limit, "The limit that 'hindsight run' has, as 8Gi")->type_name("SIZE")->needs(log);
  c->add_option("--config", looks.config, "The configuration that 'hindsight run' reads; else that of the Deployment")->type_name("FILE");
  c->add_option("--feature-gates", looks.feature_gates, "A=true,B=false, as for 'hindsight run'")->type_name("GATES");
  c->add_option("--server", looks.server, "Ask this process as well, at its --http or --probe-address: http://HOST:PORT")->type_name("URL");
  c->add_option("--only", looks.only, "Only these checks: " + doctor::check_names())->delimiter(',')->type_name("CHECK");
  c->add_option("--timeout", o->timeout_seconds, "Seconds that a check may take")->check(whole_number(1, 600))->capture_default_str();
  c->add_option("--limit", o->limit, "How many findings are told; the rest is counted")
      ->check(whole_number(0, 10'000))
      ->capture_default_str();
  c->add_option("--print", o->print,
                "Print a manifest as this release has it, for kubectl: crds, crds/NAME, rbac, metrics, webhooks, visibility, hindsight, "
                "network-policy; nothing is looked at")
      ->type_name("MANIFEST");
  add_output(*c, o->format, {"text", "json", "yaml"});
}

}  // namespace hindsight::cli
