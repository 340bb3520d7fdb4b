// The page: what happened, at any moment, in a browser.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string>

#include <spawn.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/option_checks.hpp"
#include "connectors/kubernetes/auth/kubeconfig.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "operations/descriptor_limit.hpp"
#include "operations/logging.hpp"
#include "operations/signals.hpp"
#include "runtime/page_service.hpp"

namespace hindsight::cli {
namespace {

namespace k8s = connectors::kubernetes;

struct UiOptions {
  std::string log, log_config, kubeconfig, context;
  runtime::PageRunOptions page{.address = "127.0.0.1:8181"};
  bool open = false;
};

/// Shows the address in the browser of the desktop. Where there is none, the address stands on the terminal all the same.
void open_browser(const Session& session, const std::string& url) {
  std::string program = "xdg-open", address = url;
  char* const arguments[] = {program.data(), address.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, "xdg-open", nullptr, nullptr, arguments, ::environ) != 0)
    session.warn("--open: there is no xdg-open, which knows the browser of a desktop");
}

/// Who says who asks; null: only this machine can ask.
Result<std::unique_ptr<k8s::KubernetesCluster>> cluster_of(const UiOptions& o, const operations::ListenAddress& address) {
  if (operations::is_loopback(address)) {
    for (const auto& [name, value] :
         {std::pair("--kubeconfig", &o.kubeconfig), std::pair("--context", &o.context), std::pair("--cert-dir", &o.page.cert_folder)})
      if (!value->empty())
        return fail(ErrorKind::invalid, std::string(name) + ": found with --listen " + o.page.address +
                                            ", where whoever gets there sees all; allowed with an address that others can reach");
    return nullptr;
  }
  const auto connection = k8s::find_connection({o.kubeconfig, o.context});
  if (!connection)
    return fail(connection.error().kind, "--listen: found " + o.page.address +
                                             ", which others can reach, and no cluster to ask who they are: " + connection.error().message +
                                             "; allowed: a loopback address, or a cluster (--kubeconfig)");
  k8s::KubernetesClusterOptions options;
  options.on_notice = [](const k8s::Notice& n) { operations::log(operations::LogLevel::warning, n.message); };
  return k8s::KubernetesCluster::connect(*connection, std::move(options));
}

void wait_for(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

Result<int> ui(const Session& session, const UiOptions& o) {
  runtime::PageServiceOptions page{.asked = o.page, .log_config = o.log_config};
  const auto log = named_log(o.log);
  if (!log) return tl::unexpected(log.error());
  page.log = *log;
  const auto address = runtime::page_address(page, true);
  if (!address) return tl::unexpected(address.error());
  operations::set_up_logging({.level = operations::LogLevel::warning});
  operations::raise_descriptor_limit();
  operations::Signals signals;
  auto cluster = cluster_of(o, *address);
  if (!cluster) return tl::unexpected(cluster.error());
  auto service = runtime::PageService::start(page, cluster->get());
  if (!service) return tl::unexpected(service.error());
  const std::string url = (*service)->url();
  session.out << url << std::endl;  // whoever started this reads it from a pipe
  if (session.err_is_terminal) session.err << "The page of " << *log << " is there until Ctrl-C.\n";
  if (o.open) open_browser(session, url);
  wait_for(signals.stop_token());
  (*service)->stop();
  if (*cluster) (*cluster)->stop();
  return exit_ok;
}

}  // namespace

void add_ui(CLI::App& app, Session& session) {
  const auto o = std::make_shared<UiOptions>();
  auto* c = add_command(app, session, "ui",
                        "The page: the whole history of a log on one slider, in a browser; prints its address and serves it until Ctrl-C",
                        "  hindsight ui --log hindsight.db --open\n"
                        "  hindsight ui --log kafka:127.0.0.1:9092/prod --listen 0.0.0.0:8443 --host-name page.example.org",
                        [o, &session] { return ui(session, *o); });
  c->add_option("--listen", o->page.address,
                "Where it listens; port 0: any free one. On a loopback address whoever gets there sees all. On others it speaks TLS, and "
                "shows what the API server says that one may get")
      ->type_name("ADDRESS")
      ->capture_default_str();
  c->add_option(
       "--host-name", o->page.host_names,
       "A name by which browsers call it, beside localhost, as through a proxy; several may be given. Its certificate has them too")
      ->type_name("NAME");
  c->add_option(
       "--cert-dir", o->page.cert_folder,
       "Read its certificate from this folder (tls.crt, tls.key), again and again; else one is made that lasts as long as the process")
      ->type_name("DIR");
  c->add_option("--states", o->page.states,
                "How many past states it holds at the same time, each as large as that of the control plane: people who look at different "
                "moments wait less for each other")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  c->add_option(
       "--memory", o->page.memory,
       "About how much memory it uses for past states, snapshots and answers together, beside one state: fewer states than --states are "
       "held where they would take more")
      ->type_name("SIZE")
      ->capture_default_str();
  c->add_option(
       "--cache-dir", o->page.cache_folder,
       "Keep the index of the history here, so that the next start need not read the log again; else beside a log in a file, and of "
       "other logs in the cache of this user")
      ->type_name("DIR");
  c->add_flag("--open", o->open, "Open it in the browser of this desktop");
  c->add_option("--kubeconfig", o->kubeconfig, "The cluster that says who asks; else KUBECONFIG, the service account, ~/.kube/config")
      ->type_name("FILE");
  c->add_option("--context", o->context, "Context of the kubeconfig")->type_name("NAME");
  add_log_option(*c, o->log);
  add_log_config(*c, o->log_config);
}

}  // namespace hindsight::cli
