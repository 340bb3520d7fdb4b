#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "replay/quarantine.hpp"
#include "runtime/log_location.hpp"
#include "runtime/release.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::cli {
namespace {

using runtime::is_kafka;
using runtime::open_log;
using runtime::release;

struct QuarantineCommand {
  std::string log, log_config, reason = "no entity could take it", format;
  events::Position record = 0;
  bool force = false, dry_run = false;
};

/// A text from the command line or the system as it may stand in a record: no longer than people read, and text.
std::string as_text(const std::string& given) { return cut_message(valid_utf8(given), limits::finding.size()); }

/// "user@host"
std::string who() {
  char host[256] = "host";
  (void)gethostname(host, sizeof host - 1);
  const auto* user = getpwuid(geteuid());
  return as_text((user == nullptr ? std::to_string(geteuid()) : std::string(user->pw_name)) + "@" + host);
}

Time now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return Time{std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

Result<int> quarantine(const Session& session, const QuarantineCommand& o) {
  const auto named = named_log(o.log);
  if (!named) return tl::unexpected(named.error());
  if (!is_kafka(*named)) {  // to open it for writing would make it
    if (const auto there = open_log(*named, {.read_only = true}); !there) return tl::unexpected(there.error());
  }
  const auto log = open_log(*named, {.read_only = o.dry_run, .kafka_config = o.log_config});
  if (!log) return tl::unexpected(log.error());
  ProgressBar bar(session, "reading");
  const auto report = replay::quarantine(**log, {.record = o.record,
                                                 .writer = who(),
                                                 .release = release,
                                                 .reason = as_text(o.reason),
                                                 .now = now(),
                                                 .force = o.force,
                                                 .only_tell = o.dry_run,
                                                 .progress = bar.callback()});
  bar.clear();
  if (!report) return tl::unexpected(report.error());
  if (o.format == "text") {
    session.out << "record " << o.record << " of domain " << report->domain << ": " << report->what << "\n";
    if (report->already)
      session.out << "record " << report->said_at << " has set it aside already\n";
    else if (o.dry_run)
      session.out << "it would be set aside, for every reader and for ever\n";
    else
      session.out << "record " << report->said_at << " sets it aside, for every reader and for ever\n";
    if (report->snapshots_dropped > 0)
      session.out << with_commas(report->snapshots_dropped) << " snapshots that have it in them "
                  << (o.dry_run ? "would go" : "were dropped") << "\n";
    if (report->decisions_with_it > 0)
      session.out << with_commas(report->decisions_with_it) << " decisions were made with it; 'hindsight verify' will name them\n";
    if (!o.dry_run) session.out << "the log folds to its end without it; state hash " << hex(report->state_hash) << "\n";
    return exit_ok;
  }
  Json out{{"record", o.record},
           {"domain", report->domain},
           {"sequence", report->sequence},
           {"what", report->what},
           {"already", report->already},
           {"dryRun", o.dry_run},
           {"snapshotsDropped", report->snapshots_dropped},
           {"decisionsWithIt", report->decisions_with_it}};
  if (report->said_at != 0) out["saidAt"] = report->said_at;
  if (!o.dry_run) out["stateHash"] = hex(report->state_hash);
  print_document(session, out, o.format);
  return exit_ok;
}

}  // namespace

void add_log_quarantine(CLI::App& log, Session& session) {
  const auto o = std::make_shared<QuarantineCommand>();
  auto* c = add_command(log, session, "quarantine",
                        "Set aside a record that no entity can take, for every reader and for ever. Nobody may write to the log meanwhile",
                        "  hindsight log quarantine 4711 --log hindsight.db\n"
                        "  hindsight log quarantine 4711 --why 'issue 12: a flavor without a name' --log hindsight.db\n"
                        "  hindsight log quarantine 4711 --dry-run --log 'kafka:a:9093/team-x?partition=3'",
                        [o, &session] { return quarantine(session, *o); });
  c->add_option("record", o->record, "Its position, as the message of the node and 'log cat' tell it")
      ->required()
      ->check(whole_number(1))
      ->type_name("RECORD");
  c->add_option("--why", o->reason, "For whoever reads the log later")->type_name("TEXT")->capture_default_str();
  c->add_flag("--force", o->force, "Also a record with which somebody has decided since: 'hindsight verify' will not be clean any more");
  c->add_flag("--dry-run", o->dry_run, "Only say what would be done");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_log_option(*c, o->log);
  add_log_config(*c, o->log_config);
}

}  // namespace hindsight::cli
