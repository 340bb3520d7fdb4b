#include "evidence/verify/report.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "evidence/files.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::evidence {
namespace {

std::string count(std::uint64_t n, const char* one, const char* many) { return std::to_string(n) + " " + (n == 1 ? one : many); }

std::vector<std::string> proved(const VerifyReport& report) {
  const RecordsReport& r = report.records;
  std::vector<std::string> out;
  if (r.proved > 0) {
    std::string keys;
    for (const auto& key : r.signers) keys += (keys.empty() ? "" : ", ") + key;
    out.push_back(count(r.proved, "included record is what it was", "included records are what they were") +
                  " when checkpoints of the log were signed with key " + keys + ", the last of them at record " +
                  std::to_string(r.newest->head.records) + " on " + format_rfc3339(r.newest->time) + ", and each stands where it stood.");
  }
  if (r.stored > 0)
    out.push_back(count(r.stored, "included record leads", "included records lead") +
                  " to a checkpoint that no named key has signed: no accident has changed " + (r.stored == 1 ? "it." : "them."));
  return out;
}

std::vector<std::string> not_proved(const VerifyReport& report) {
  const RecordsReport& r = report.records;
  std::vector<std::string> out;
  if (const auto left = r.not_covered(); left > 0)
    out.push_back(count(left, "included record is", "included records are") + " not covered by a checkpoint.");
  if (r.stored > 0)
    out.push_back("Of records that only an unsigned checkpoint covers, or one of another key, anybody could have made others.");
  if (r.included == 0) out.emplace_back("No record is included.");
  if (r.withheld > 0) out.push_back(count(r.withheld, "record is", "records are") + " named by a hash only: what was in it is not shown.");
  if (report.has_manifest)
    out.emplace_back(
        "What other files say, and the manifest itself, is signed by nobody: they are as whoever packed the evidence wrote them.");
  for (const auto& name : report.beside) out.push_back("File \"" + name + "\" is not named by the manifest, and was not looked at.");
  return out;
}

}  // namespace

bool VerifyReport::good() const {
  return failures.empty() && records.included > 0 && records.not_covered() == 0 && (accept_unsigned || records.stored == 0);
}

Result<VerifyReport> verify_evidence(const VerifyOptions& o) {
  VerifyReport out;
  out.accept_unsigned = o.accept_unsigned;
  const bool in_folder = !o.folder.empty();
  if (in_folder) {
    out.has_manifest = true;
    auto wrong = compare_with_manifest(o.folder, out.beside);
    if (!wrong) return tl::unexpected(wrong.error());
    out.failures = std::move(*wrong);
    if (!out.failures.empty()) return out;  // what is in files that are not those that were packed need not be judged
  }
  auto checkpoints = read_checkpoints(in_folder ? o.folder / checkpoints_name : o.checkpoints);
  if (!checkpoints) {
    if (checkpoints.error().kind != ErrorKind::invalid) return tl::unexpected(checkpoints.error());
    out.failures.push_back(checkpoints.error().message);
    return out;
  }
  out.checkpoints = checkpoints->size();
  auto records = check_records(in_folder ? o.folder / records_name : o.records, std::move(*checkpoints), o.keys);
  if (!records) return tl::unexpected(records.error());
  out.records = std::move(*records);
  if (out.records.failure) out.failures.push_back(*out.records.failure);
  return out;
}

void print_report(std::ostream& out, const VerifyReport& report) {
  const RecordsReport& r = report.records;
  for (const auto& what : report.failures) out << "wrong: " << printable(what) << "\n";
  for (const auto& what : proved(report)) out << "proved: " << printable(what) << "\n";
  for (const auto& what : not_proved(report)) out << "not proved: " << printable(what) << "\n";
  out << (report.good()             ? (r.stored > 0 ? "sound, unsigned: " : "sound: ")
          : report.failures.empty() ? "NOT PROVED: "
                                    : "NOT SOUND: ")
      << count(r.included, "record", "records") << " included, " << r.withheld << " by hash, "
      << count(report.checkpoints, "checkpoint", "checkpoints") << ", " << r.passed << " of them reached\n";
}

void print_json(std::ostream& out, const VerifyReport& report) {
  const RecordsReport& r = report.records;
  nlohmann::ordered_json json{{"good", report.good()},
                              {"included", r.included},
                              {"withheld", r.withheld},
                              {"proved", r.proved},
                              {"coveredByUnsigned", r.stored},
                              {"notCovered", r.not_covered()},
                              {"segments", r.segments},
                              {"first", r.first},
                              {"last", r.last},
                              {"checkpoints", report.checkpoints},
                              {"checkpointsReached", r.passed},
                              {"keys", r.signers},
                              {"failures", report.failures},
                              {"whatIsProved", proved(report)},
                              {"whatIsNotProved", not_proved(report)}};
  out << escaped_document(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace), false) << "\n";
}

}  // namespace hindsight::evidence
