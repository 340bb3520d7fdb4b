#include "events/log_copy.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "runtime/log_location.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using runtime::is_kafka;
using runtime::LogAccess;
using runtime::open_log;

struct CopyOptions {
  std::string from, to, log_config, format;
};

/// --log-config is about the one that lies on Kafka.
LogAccess access(const std::string& location, const CopyOptions& o, bool read_only) {
  return {.read_only = read_only, .kafka_config = is_kafka(location) ? o.log_config : std::string()};
}

std::string checkpoints_text(std::uint64_t n) { return n == 0 ? std::string() : ", " + with_commas(n) + " checkpoints copied"; }

Result<int> copy(const Session& session, const CopyOptions& o) {
  if (!o.log_config.empty() && !is_kafka(o.from) && !is_kafka(o.to))
    return fail(ErrorKind::invalid, "--log-config: is for logs on Kafka; found " + o.from + " and " + o.to);
  const auto from = open_log(o.from, access(o.from, o, true));
  if (!from) return tl::unexpected(from.error());
  const auto to = open_log(o.to, access(o.to, o, false));
  if (!to) return tl::unexpected(to.error());
  ProgressBar bar(session, "copying");
  const auto report = events::copy_log(**from, **to, [&](events::Position done, events::Position total) { bar.show(done, total); });
  bar.clear();
  if (!report) return tl::unexpected(report.error());
  if (o.format == "text") {
    session.out << with_commas(report->copied) << " records copied, " << with_commas(report->found) << " were there, "
                << with_commas(report->snapshots) << " snapshots copied" << checkpoints_text(report->checkpoints) << "; "
                << printable((*to)->name()) << " ends at " << report->last << ", hash " << hex(report->hash) << "\n";
    if (report->passed_over > 0)
      session.out << with_commas(report->passed_over)
                  << " records of replaced writers left out; positions behind the first of them are lower in the copy, "
                  << with_commas(report->snapshots_left) << " snapshots there were not copied\n";
    return exit_ok;
  }
  print_document(session,
                 Json{{"from", (*from)->name()},
                      {"to", (*to)->name()},
                      {"copied", report->copied},
                      {"found", report->found},
                      {"passedOver", report->passed_over},
                      {"snapshots", report->snapshots},
                      {"snapshotsLeft", report->snapshots_left},
                      {"checkpoints", report->checkpoints},
                      {"last", report->last},
                      {"hash", hex(report->hash)}},
                 o.format);
  return exit_ok;
}

}  // namespace

void add_log_copy(CLI::App& log, Session& session) {
  const auto o = std::make_shared<CopyOptions>();
  auto* c = add_command(log, session, "copy", "Copy a log, or what a copy lacks, and compare both by hash",
                        "  hindsight log copy hindsight.db kafka:127.0.0.1:9092\n"
                        "  hindsight log copy kafka:127.0.0.1:9092 audit.db",
                        [o, &session] { return copy(session, *o); });
  c->add_option("FROM", o->from, log_help)->required();
  c->add_option("TO", o->to, "Another one: empty, or with the beginning of FROM; on Kafka its topics must be there (log init)")->required();
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_log_config(*c, o->log_config);
}

}  // namespace hindsight::cli
