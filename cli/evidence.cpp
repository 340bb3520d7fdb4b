#include <unistd.h>

#include <memory>
#include <optional>
#include <ostream>

#include "casefile/make.hpp"
#include "casefile/output_file.hpp"
#include "cli/commands.hpp"
#include "cli/naming.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "operations/signals.hpp"
#include "projections/format.hpp"
#include "projections/why_queue.hpp"
#include "replay/moment.hpp"
#include "runtime/release.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct EvidenceOptions {
  PastOptions past;
  std::string workload, namespace_ = "default", at, file;
  bool with_log = false, force = false;
};

Result<casefile::Request> request_of(const EvidenceOptions& o, const events::Log& log) {
  const auto queue = projections::parse_queue_target(o.workload, o.namespace_);
  if (queue && *queue)
    return fail(ErrorKind::invalid,
                "--for: found \"" + o.workload + "\", which is a queue; allowed: NAME, NAMESPACE/NAME, job/NAME, job/NAMESPACE/NAME");
  const auto target = projections::parse_target(o.workload, o.namespace_);
  if (!target) return tl::unexpected(target.error());
  const auto domain = replay::choose_domain(log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  casefile::Request out{{*target, *domain, std::nullopt}, runtime::release, o.with_log};
  if (o.at.empty()) return out;
  const auto moment = replay::parse_moment(o.at);
  if (!moment) return tl::unexpected(moment.error());
  const auto place = replay::locate(log, *moment);
  if (!place) return tl::unexpected(place.error());
  out.question.at = *place;
  return out;
}

/// What was made, in a few lines.
void tell(std::ostream& out, const EvidenceOptions& o, const casefile::Made& made) {
  const auto& proof = made.making.proof;
  const auto& bearing = made.account.bearing;
  out << printable(o.file) << ": " << projections::counted(proof.included, "record") << " about " << printable(made.account.target.text())
      << ", explained at " << printable(casefile::moment_words(made.account)) << "\n";
  const std::size_t without = proof.included - proof.under_signed - proof.under_unsigned;
  out << "  " << proof.under_signed << " are proved by a signed checkpoint";
  if (proof.under_unsigned > 0) out << ", " << proof.under_unsigned << " by one without a signature";
  if (without > 0) out << ", " << without << " by none ('hindsight audit --checkpoint' makes one)";
  out << "\n";
  if (const std::size_t left = bearing.own_left_out + bearing.configuration_left_out + bearing.others_left_out + proof.too_large; left > 0)
    out << "  " << projections::counted(left, "record") << " left out; README.md says which\n";
  out << "  tar xzf " << printable(o.file == "-" ? "FILE" : o.file) << ", then open " << made.making.folder << "/index.html\n";
}

Result<int> evidence(const Session& session, const EvidenceOptions& o) {
  const bool to_stdout = o.file == "-";
  if (to_stdout && session.out_is_terminal)
    return fail(ErrorKind::invalid,
                "-o -: standard output is a terminal, and the evidence is a compressed file; allowed: a pipe, or -o FILE.tar.gz");
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto request = request_of(o, **log);
  if (!request) return tl::unexpected(request.error());
  // Whoever gives up waiting finds no half of a file.
  const operations::Signals signals([](const char*) {
    casefile::remove_unfinished();
    ::_exit(operations::interrupted_status);
  });
  std::optional<casefile::OutputFile> file;
  if (!to_stdout) {
    auto created = casefile::OutputFile::create(o.file, o.force);
    if (!created) return tl::unexpected(created.error());
    file.emplace(std::move(*created));
  }
  ProgressBar bar(session, "gathering");
  const auto made = casefile::make_evidence(**log, *request, to_stdout ? STDOUT_FILENO : file->descriptor(), bar.callback());
  bar.clear();
  if (!made) return tl::unexpected(made.error());
  if (file)
    if (auto ok = file->finish(); !ok) return tl::unexpected(ok.error());
  for (const auto& notice : made->account.notices) session.warn(notice);
  tell(to_stdout ? session.err : session.out, o, *made);
  return exit_ok;
}

}  // namespace

void add_evidence(CLI::App& app, Session& session) {
  const auto o = std::make_shared<EvidenceOptions>();
  auto* c = add_command(
      app, session, "evidence",
      "One file about one workload for readers who have neither cluster nor log: its records with their proof, the explanation, "
      "pictures, and how to check them",
      "  hindsight evidence --for job/train -o train.tar.gz --log hindsight.db\n"
      "  hindsight evidence --for job/team-a/train --at 2026-01-01T00:00:10Z --with-log -o train.tar.gz --log hindsight.db",
      [o, &session] { return evidence(session, *o); });
  c->add_option("--for", o->workload, "NAME, NAMESPACE/NAME, job/NAME, job/NAMESPACE/NAME")->required()->type_name("WORKLOAD");
  const auto* one = c->add_option("-n,--namespace", o->namespace_, "The namespace")->default_str("default");
  c->get_option("--for")->check(in_namespace_of(one));
  c->add_option("-o,--output", o->file, "The file to write, FILE.tar.gz; -: standard output, if that is no terminal")
      ->required()
      ->type_name("FILE");
  c->add_flag("--force", o->force, "Replace FILE if it is there");
  c->add_flag("--with-log", o->with_log,
              "With the part of the log from which 'hindsight' gives the same answers; it holds the records of everybody in that span");
  c->add_option("--at", o->at, "Explain it as of this position, time, or this long before the end (-5m)")
      ->check(is_moment())
      ->default_str("the end of its life, or of the log while it lives");
  add_past_options(*c, o->past, false);
  add_time_zone(*c);
}

}  // namespace hindsight::cli
