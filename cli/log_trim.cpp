#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "replay/moment.hpp"
#include "replay/trim.hpp"
#include "runtime/log_location.hpp"
#include "runtime/release.hpp"

namespace hindsight::cli {
namespace {

using runtime::is_kafka;
using runtime::open_log;
using runtime::partitions_of;
using runtime::release;

struct TrimOptions {
  std::string log, log_config, before, format;
  bool dry_run = false;
};

/// The last record that is older; 0: there is none.
Result<events::Position> last_before(const events::Log& log, const replay::Moment& moment) {
  if (moment.kind == replay::Moment::Kind::position) {
    const auto last = log.last();
    if (!last) return last;
    if (moment.position > *last + 1)
      return fail(ErrorKind::invalid, "--before: found " + std::to_string(moment.position) + "; allowed: up to " +
                                          std::to_string(*last + 1) + ", behind the last record of log " + std::string(log.name()));
    return moment.position == 0 ? 0 : moment.position - 1;
  }
  const auto position = replay::resolve(log, moment);
  if (!position && position.error().kind == ErrorKind::not_found) return events::Position{0};  // all records are newer
  return position;
}

Result<int> trim(const Session& session, const TrimOptions& o) {
  const auto moment = replay::parse_moment(o.before);
  if (!moment) return tl::unexpected(moment.error());
  if (moment->kind == replay::Moment::Kind::latest)
    return fail(ErrorKind::invalid, "--before: found latest; allowed: a position, a time, a duration back from the last record (-720h)");
  const auto named = named_log(o.log);
  if (!named) return tl::unexpected(named.error());
  const auto partitions = partitions_of(*named, {.read_only = true, .kafka_config = o.log_config});
  if (!partitions) return tl::unexpected(partitions.error());
  if (moment->kind == replay::Moment::Kind::position && partitions->size() > 1)
    return fail(ErrorKind::invalid, "--before: found position " + o.before + " for a log with " + std::to_string(partitions->size()) +
                                        " partitions; allowed: a time, or --log with ?partition=N");
  Json list = Json::array();
  for (const auto& location : *partitions) {
    if (!o.dry_run && !is_kafka(location)) {  // to open it for writing would make it
      if (const auto there = open_log(location, {.read_only = true}); !there) return tl::unexpected(there.error());
    }
    const auto log = open_log(location, {.read_only = o.dry_run, .kafka_config = o.log_config});
    if (!log) return tl::unexpected(log.error());
    const auto upto = last_before(**log, *moment);
    if (!upto) return tl::unexpected(upto.error());
    ProgressBar bar(session, "folding");
    const auto report = replay::trim(**log, *upto, release, o.dry_run, [&](const std::string&, events::Position position) {
      bar.show(position, *upto);
      return true;
    });
    bar.clear();
    if (!report) return tl::unexpected(report.error());
    if (o.format == "text") {
      session.out << location << ": " << with_commas(report->records) << (o.dry_run ? " records would go" : " records forgotten")
                  << ", the first that is kept is " << with_commas(report->first) << "; of " << report->domains << " domains "
                  << report->snapshots_made << " snapshots " << (o.dry_run ? "would be made, " : "made, ") << report->snapshots_dropped
                  << (o.dry_run ? " dropped\n" : " older ones dropped\n");
      session.out.flush();
      continue;
    }
    list.push_back({{"log", location},
                    {"dryRun", o.dry_run},
                    {"records", report->records},
                    {"first", report->first},
                    {"domains", report->domains},
                    {"snapshotsMade", report->snapshots_made},
                    {"snapshotsDropped", report->snapshots_dropped},
                    {"checkpointsDropped", report->checkpoints_dropped}});
  }
  if (o.format != "text") print_document(session, list, o.format);
  return exit_ok;
}

}  // namespace

void add_log_trim(CLI::App& log, Session& session) {
  const auto o = std::make_shared<TrimOptions>();
  auto* c =
      add_command(log, session, "trim", "Forget the records before a moment, in all partitions, and keep every later moment reachable",
                  "  hindsight log trim --before -720h --log hindsight.db\n"
                  "  hindsight log trim --before -720h --log kafka:127.0.0.1:9092\n"
                  "  hindsight log trim --before 2026-01-01T00:00:00Z --dry-run --log 'kafka:a:9093/team-x?partition=3'",
                  [o, &session] { return trim(session, *o); });
  c->add_option("--before", o->before, "A time, a duration back from the last record of the partition, or a position")
      ->required()
      ->check(is_moment())
      ->type_name("MOMENT");
  add_time_zone(*c);
  c->add_flag("--dry-run", o->dry_run, "Only say what would be done");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_log_option(*c, o->log);
  add_log_config(*c, o->log_config);
}

}  // namespace hindsight::cli
