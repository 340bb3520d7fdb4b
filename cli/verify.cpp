#include "replay/verify.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "admission/rules.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using replay::VerifyReport;

struct VerifyCommand {
  PastOptions past;
  std::string from_snapshot, to = "latest", format;
};

Json document(const VerifyReport& r, double seconds) {
  Json mismatches = Json::array();
  for (const auto& m : r.mismatches) {
    mismatches.push_back({{"offset", m.offset},
                          {"base", m.base},
                          {"epoch", m.epoch},
                          {"release", m.release},
                          {"event", m.difference.event},
                          {"kind", m.difference.event_kind},
                          {"field", m.difference.field},
                          {"recorded", m.difference.recorded},
                          {"computed", m.difference.computed}});
  }
  const auto snapshots = [](const auto& list) {
    Json out = Json::array();
    for (const auto& s : list) out.push_back({{"position", s.position}, {"what", s.what}});
    return out;
  };
  Json out{{"clean", r.clean()},
           {"from", r.from},
           {"position", r.to},
           {"hash", hex(r.state_hash)},
           {"records", r.records},
           {"decisions", r.decisions},
           {"staleDecisions", r.stale_decisions},
           {"repeatedDecisions", r.repeated_decisions},
           {"decisionsBegunBefore", r.begun_before},
           {"decisionsByOtherRules", r.other_rules},
           {"otherRules", r.rules},
           {"rules", admission::rules_version},
           {"notes", r.notes},
           {"notesJudged", r.judged_notes},
           {"setAside", r.passed_over},
           {"snapshots", r.snapshots},
           {"mismatchedDecisions", r.mismatched_decisions},
           {"mismatches", std::move(mismatches)},
           {"snapshotMismatches", snapshots(r.snapshot_mismatches)},
           {"unreadSnapshots", snapshots(r.unread_snapshots)},
           {"undecidable", r.undecidable}};
  if (r.damage) out["damage"] = r.damage->message;
  out["seconds"] = seconds;
  return out;
}

void print_text(const Session& session, const VerifyReport& r, double seconds) {
  for (const auto& m : r.mismatches) {
    session.out << "record " << m.offset << " (epoch " << m.epoch << (m.release.empty() ? "" : ", release " + printable(m.release))
                << "): not what state " << m.base << " leads to\n";
    const auto& d = m.difference;
    session.out << "    event " << d.event << (d.event_kind.empty() ? "" : ", " + d.event_kind) << ", " << d.field << ": recorded "
                << printable(d.recorded) << ", computed " << printable(d.computed) << "\n";
  }
  if (r.mismatched_decisions > r.mismatches.size())
    session.out << "... and " << r.mismatched_decisions - r.mismatches.size() << " more records\n";
  for (const auto& s : r.snapshot_mismatches) session.out << "snapshot " << s.position << ": " << printable(s.what) << "\n";
  for (const auto p : r.undecidable) session.out << "record " << p << ": its base had been left behind before it came\n";
  for (const auto& s : r.unread_snapshots) session.out << "snapshot " << s.position << " not compared: " << printable(s.what) << "\n";
  if (r.damage) session.out << "damaged: " << printable(r.damage->message) << "\n";
  session.out << (!r.clean()          ? "NOT SOUND: "
                  : r.other_rules > 0 ? "sound as far as it was judged: "
                                      : "sound: ")
              << with_commas(r.records) << " records" << (r.from == 0 ? "" : " behind snapshot " + std::to_string(r.from)) << ", "
              << with_commas(r.decisions) << " decisions made again";
  if (r.stale_decisions > 0) session.out << " (" << r.stale_decisions << " without effect passed over)";
  if (r.repeated_decisions > 0) session.out << " (" << r.repeated_decisions << " only repeat what was decided before)";
  if (r.begun_before > 0) session.out << " (" << r.begun_before << " begun before that snapshot not made again)";
  if (r.other_rules > 0) {
    session.out << ", " << with_commas(r.other_rules) << " decisions by rules";
    const char* before = " ";
    for (const auto rules : r.rules) session.out << std::exchange(before, ", ") << rules;
    session.out << " not judged (this build decides otherwise, by rules " << admission::rules_version << ")";
  }
  if (r.notes > 0)
    session.out << ", " << with_commas(r.notes) << " notes of what would be decided (" << with_commas(r.judged_notes) << " found again)";
  if (r.passed_over > 0) session.out << ", " << r.passed_over << " records set aside";
  session.out << ", " << r.snapshots << " snapshots compared, state " << hex(r.state_hash) << " at " << r.to;
  if (seconds > 1) session.out << ", " << with_commas(static_cast<std::uint64_t>(static_cast<double>(r.records) / seconds)) << " records/s";
  session.out << "\n";
}

Result<int> verify(const Session& session, const VerifyCommand& o) {
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  replay::VerifyOptions options;
  const auto to = replay::resolve(**log, o.to);
  if (!to) return tl::unexpected(to.error());
  options.to = *to;
  if (!o.from_snapshot.empty()) {
    const auto from = replay::resolve(**log, o.from_snapshot);
    if (!from) return tl::unexpected(from.error());
    options.from_snapshot = *from;
  }
  ProgressBar bar(session, "verifying");
  options.progress = bar.callback();
  const Stopwatch watch;
  const auto report = replay::verify(**log, *domain, options);
  bar.clear();
  if (!report) return tl::unexpected(report.error());
  if (o.format == "text") {
    print_text(session, *report, watch.seconds());
  } else {
    print_document(session, document(*report, watch.seconds()), o.format);
  }
  return report->clean() ? exit_ok : exit_failure;
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  const auto o = std::make_shared<VerifyCommand>();
  auto* c = add_command(app, session, "verify",
                        "Fold and decide again; every decision on record must follow from what was known. Exit code 1 if one does not",
                        "  hindsight verify --log hindsight.db\n"
                        "  hindsight verify --from-snapshot -o json --log hindsight.db",
                        [o, &session] { return verify(session, *o); });
  c->add_option("--from-snapshot", o->from_snapshot,
                "Start from the newest snapshot at or before this moment (without a value: the newest)")
      ->expected(0, 1)
      ->default_str("latest")
      ->check(is_moment());
  c->add_option("--to", o->to, "End after this moment")->check(is_moment())->default_str("latest");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_past_options(*c, o->past, false);
  add_time_zone(*c);
}

}  // namespace hindsight::cli
