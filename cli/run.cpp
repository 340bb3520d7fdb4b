#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "operations/logging.hpp"
#include "operations/signals.hpp"
#include "runtime/call_name.hpp"
#include "runtime/chain_keeper.hpp"
#include "runtime/complain.hpp"
#include "runtime/configuration.hpp"
#include "runtime/control_plane.hpp"
#include "runtime/decider.hpp"
#include "runtime/log_location.hpp"
#include "runtime/page_service.hpp"
#include "runtime/quickstart.hpp"

namespace hindsight::cli {
namespace {

using operations::LogLevel;
using runtime::complain;
using runtime::complain_of_file;
using runtime::is_kafka;
using runtime::RunOptions;

int quickstart(const Session& session, const RunOptions& o, runtime::Play play, events::Log& log, const std::stop_token& stop) {
  runtime::QuickstartOptions q;
  q.log_file = o.log.starts_with("sqlite:") ? o.log.substr(7) : o.log;
  q.program = runtime::call_name();
  q.keep = o.keep;
  q.colour = session.colour;
  std::unique_ptr<runtime::PageService> page;
  q.serve_page = [&]() -> Result<std::string> {
    runtime::PageServiceOptions p{
        .asked = o.page, .address_option = "--ui", .memory_option = "--ui-memory", .log = o.log, .log_config = o.log_config};
    if (o.page.address.empty()) p.asked.address = "127.0.0.1:8181";
    auto started = runtime::PageService::start(p, nullptr);
    if (!started && o.page.address.empty()) {  // somebody else is there
      p.asked.address = "127.0.0.1:0";
      started = runtime::PageService::start(p, nullptr);
    }
    if (!started) return tl::unexpected(started.error());
    page = std::move(*started);
    return page->url();
  };
  if (auto ok = runtime::run_quickstart(log, std::move(play), q, session.out, session.err, stop); !ok)
    return complain(session.err, ok.error());
  return 0;
}

int run(const Session& session, const RunOptions& o, const CLI::App& command) {
  std::ostream& err = session.err;
  if (!o.quickstart.empty())
    if (const auto refused = refused_with_quickstart(command)) return complain(err, {ErrorKind::invalid, *refused});
  if (o.quickstart.empty())
    if (const auto refused = refused_with_role(command, o.role)) return complain(err, {ErrorKind::invalid, *refused});
  if (o.observe) {
    if (const auto refused = refused_with_observe(command, o.role)) return complain(err, {ErrorKind::invalid, *refused});
    if (is_kafka(o.log))
      return complain(err, {ErrorKind::invalid, "--log: found " + o.log + " with --observe; allowed: sqlite:FILE, a log of its own"});
  }
  if (is_kafka(o.log) && o.durability != "fsync")
    return complain(err, {ErrorKind::invalid, "--durability: is for files; on Kafka the topic's min.insync.replicas decides"});
  if (is_kafka(o.log) && !o.log_limit.empty())
    return complain(
        err, {ErrorKind::invalid, "--log-limit: is for the file of a control plane; the settings of a topic say how large it may become"});
  if (!is_kafka(o.log) && !o.snapshot_folder.empty())
    return complain(err, {ErrorKind::invalid, "--snapshot-dir: is for a log on Kafka; a file holds its own snapshots"});
  auto level = operations::parse_log_level(o.log_level);
  if (!level) return complain(err, level.error());
  operations::set_up_logging({.level = *level});
  operations::flush_log_on_exit();
  auto configuration = runtime::run_configuration(o.config, o.feature_gates);
  if (!configuration) return complain_of_file(err, configuration.error());
  if (o.role != "all" && !is_kafka(o.log))
    return complain(err, {ErrorKind::invalid, "--role " + o.role + ": --log is " + (o.log.empty() ? std::string("not given") : o.log) +
                                                  "; allowed: kafka:HOST:PORT[,...][/PREFIX], a log that several processes can write to"});
  if (o.domains == "trees" && o.role == "all")
    return complain(
        err, {ErrorKind::invalid,
              "--domains trees: --role is all; allowed: connector, with a --role node beside it: in one process one domain decides for all "
              "trees, and a log that is written by several is needed to share them"});
  if (o.domains == "trees" && o.domain.find('/') != std::string::npos)
    return complain(
        err, {ErrorKind::invalid, "--domain: found \"" + o.domain +
                                      "\"; allowed with --domains trees: a name without \"/\", which begins the names of its domains"});
  const auto keep_history = runtime::history_to_keep(o);
  if (!keep_history) return complain(err, keep_history.error());
  if (!o.checkpoint_key.empty() && o.role == "connector")
    return complain(err,
                    {ErrorKind::invalid, "--checkpoint-key: --role is connector; allowed: all, node: who decides also stores checkpoints"});
  auto key = runtime::checkpoint_key(o.checkpoint_key);
  if (!key) return complain(err, key.error());
  if (o.role == "node") {
    operations::Signals signals([](const char* name) { operations::log(LogLevel::info, "told to stop", {{"signal", name}}); });
    return runtime::run_decider({.log = o.log,
                                 .log_config = o.log_config,
                                 .snapshot_folder = o.snapshot_folder,
                                 .http = o.http,
                                 .listeners = o.listeners,
                                 .group = o.group,
                                 .member = o.member,
                                 .session_timeout_seconds = o.session_timeout,
                                 .standby = o.standby,
                                 .keep_history = *keep_history,
                                 .checkpoint_key = std::move(*key),
                                 .identity = runtime::identity()},
                                signals, err);
  }
  if (o.quickstart.empty()) {
    RunOptions on_cluster = o;
    if (on_cluster.log.empty()) on_cluster.log = "sqlite:hindsight.db";
    operations::Signals signals([](const char* name) { operations::log(LogLevel::info, "told to stop", {{"signal", name}}); });
    return runtime::run_control_plane(on_cluster, *keep_history, std::move(*key), *configuration, signals, err);
  }
  operations::Signals signals;
  auto input = connectors::manifests::read_input(o.quickstart);  // before there is a log: what cannot be read leaves none behind
  if (!input) return complain_of_file(err, input.error());
  auto play = runtime::play_of(std::move(*input), o.config.empty() && o.feature_gates.empty() ? std::string() : configuration->json);
  if (!play) return complain_of_file(err, play.error());
  RunOptions with_log = o;
  if (o.log.empty()) {  // each quick start begins a log of its own, in place of the last one's
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::is_directory("build", ignored) ? "build" : ".";
    const std::string file = (folder / "quickstart.db").lexically_normal().string();
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file + suffix, ignored);
    with_log.log = "sqlite:" + file;
  }
  auto log = runtime::open_log(with_log.log, {.kafka_config = o.log_config});
  if (!log) return complain(err, log.error());
  if (const auto last = (*log)->last(); !last || *last != 0)
    return complain(err, {ErrorKind::conflict,
                          "--log: " + with_log.log + " has records already; allowed with --quickstart: a new file, or empty topics"});
  return quickstart(session, with_log, std::move(*play), **log, signals.stop_token());
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto o = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "The control plane: on a cluster until it is stopped, or on the simulated one");
  add_run_options(*command, *o);
  command->footer("Example: hindsight run --kubeconfig build/cluster/kubeconfig --log sqlite:hindsight.db");
  command->callback(
      [o, command, &session] { session.action = [o, command, &session]() -> Result<int> { return run(session, *o, *command); }; });
}

}  // namespace hindsight::cli
