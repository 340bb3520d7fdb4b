#include "events/log_check.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "runtime/log_location.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct CheckOptions {
  std::string log, log_config, format;
};

Result<int> check(const Session& session, const CheckOptions& o) {
  const auto log = open_for_reading(o.log, o.log_config);
  if (!log) return tl::unexpected(log.error());
  ProgressBar bar(session, "checking");
  const auto report = (*log)->check([&](events::Position done, events::Position total) {
    bar.show(done, total);
    return true;
  });
  bar.clear();
  if (!report) return tl::unexpected(report.error());
  if (o.format == "text") {
    for (const auto& f : report->findings)
      session.out << (f.offset == 0 ? std::string("log") : std::to_string(f.offset)) << ": " << printable(f.what) << "\n";
    if (report->passed_over > 0) session.out << with_commas(report->passed_over) << " records of replaced writers do not count\n";
    if (report->set_aside > 0) session.out << with_commas(report->set_aside) << " records are set aside\n";
    if (!report->complete) session.out << "... ended early: too many findings\n";
    session.out << with_commas(report->records) << " records, " << report->snapshots << " snapshots read, "
                << (report->findings.empty() ? std::string("nothing found") : with_commas(report->findings.size()) + " findings") << "\n";
  } else {
    Json findings = Json::array();
    for (const auto& f : report->findings) findings.push_back({{"offset", f.offset}, {"what", f.what}});
    print_document(session,
                   Json{{"records", report->records},
                        {"passedOver", report->passed_over},
                        {"setAside", report->set_aside},
                        {"snapshots", report->snapshots},
                        {"last", report->last},
                        {"complete", report->complete},
                        {"findings", std::move(findings)}},
                   o.format);
  }
  return report->findings.empty() && report->complete ? exit_ok : exit_failure;
}

}  // namespace

void add_log_check(CLI::App& log, Session& session) {
  const auto o = std::make_shared<CheckOptions>();
  auto* c = add_command(log, session, "check",
                        "Read everything once: pages, checksums, sequences, epochs, snapshots. Exit code 1 if anything is wrong",
                        "  hindsight log check --log hindsight.db\n"
                        "  hindsight log check -o json --log copy.db",
                        [o, &session] { return check(session, *o); });
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_log_option(*c, o->log);
  add_log_config(*c, o->log_config);
}

}  // namespace hindsight::cli
