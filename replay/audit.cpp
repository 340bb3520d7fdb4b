#include "replay/audit.hpp"

#include <algorithm>
#include <utility>

#include "events/shared_reads.hpp"
#include "replay/audit_chain.hpp"
#include "replay/audit_epochs.hpp"

namespace hindsight::replay {
namespace {

class Auditor {
 public:
  Auditor(const Log& log, const AuditOptions& options) : log_(log), options_(options) {}

  Result<AuditReport> run() {
    for (auto step : {&Auditor::look, &Auditor::begin_decisions, &Auditor::walk})
      if (auto ok = (this->*step)(); !ok) return tl::unexpected(ok.error());
    for (auto& [domain, verification] : verifications_) {
      VerifyReport found = verification.finish();
      judge(domain, found);
      report_.decisions.emplace_back(domain, std::move(found));
    }
    std::ranges::stable_sort(report_.failures, {}, &AuditFailure::position);
    return std::move(report_);
  }

 private:
  /// Checkpoints first: one that is added while the log is being written is of a record that is behind its end as it is known then.
  Result<void> look() {
    auto checkpoints = log_.checkpoints();
    if (!checkpoints) return tl::unexpected(checkpoints.error());
    checkpoints_ = std::move(*checkpoints);
    auto start = events::chain_start(log_);
    if (!start) return tl::unexpected(start.error());
    start_ = std::move(*start);
    const auto first = log_.first();
    if (!first) return tl::unexpected(first.error());
    report_.first = *first;
    const auto last = log_.last();
    if (!last) return tl::unexpected(last.error());
    whole_ = !options_.to || *options_.to >= *last;
    to_ = whole_ ? *last : *options_.to;
    report_.from = start_.from;
    report_.start = start_.head;
    report_.chain_from = start_.at.position;
    return {};
  }

  /// Each domain whose decisions are made again; they are read along with the chain.
  Result<void> begin_decisions() {
    if (!options_.decisions) return {};
    std::vector<std::string> domains = options_.domains;
    if (domains.empty()) {
      const auto tails = log_.domains();
      if (!tails) return tl::unexpected(tails.error());
      for (const auto& tail : *tails) domains.push_back(tail.domain);
    }
    for (auto& domain : domains) {
      Verification one(log_, reads_.reader(), domain, {.from_snapshot = {}, .to = to_, .progress = {}});
      if (auto ok = one.begin(); !ok) return ok;
      verifications_.emplace_back(std::move(domain), std::move(one));
    }
    return {};
  }

  /// Chain, epochs and decisions side by side, so that the log is read once.
  Result<void> walk() {
    const auto cut = log_.trimmed();
    if (!cut) return tl::unexpected(cut.error());
    const auto owners = *cut && (*cut)->position == start_.at.position ? (*cut)->owners : std::vector<events::EpochOwner>();
    EpochAudit epochs(start_.at.tails, owners, report_);
    ChainAudit chain(start_, std::move(checkpoints_), options_, report_);
    events::ChainWalk walk(reads_.reader(), start_);
    const auto visit = [&](const events::ChainedRecord& met) {
      epochs.meet(met);
      chain.meet(met);
      return true;
    };
    const Position begin = start_.at.position;
    Result<void> walked;
    // Where the chain breaks off, what is behind it is still decided again.
    for (Position at = std::min(begin, to_);;) {
      if (options_.progress) options_.progress("checking", at - std::min(at, begin), to_ - std::min(to_, begin));
      if (at >= to_) break;
      at = to_ - at > stride ? std::clamp(first_behind(at), at + stride, to_) : to_;
      if (walked) walked = walk.to(at, visit);
      for (auto& [domain, verification] : verifications_) verification.to(at);
      reads_.forget_before(walked ? std::min(at, walk.position()) + 1 : at + 1);
    }
    if (!walked && walked.error().kind != ErrorKind::corrupt && walked.error().kind != ErrorKind::unsupported)
      return tl::unexpected(walked.error());
    if (!walked) {
      report_.chain_sound = false;
      add_failure(report_, walk.position() + 1, walked.error().message);
    }
    // A log that is shorter than it was a moment ago has lost its end.
    chain.end(walk.position(), walk.head(), whole_ && walked.has_value());
    report_.head = walk.head();
    report_.last = walk.position();
    report_.passed_over = walk.passed_over();
    report_.read = reads_.read_from_log();
    return {};
  }

  void judge(const std::string& domain, const VerifyReport& found) {
    const std::string in = "domain \"" + domain + "\": ";
    for (const auto& m : found.mismatches)
      add_failure(report_, m.offset,
                  in + "record " + std::to_string(m.offset) + " is not the decision that its base leads to: " + m.difference.field +
                      " is " + m.difference.recorded + ", and follows as " + m.difference.computed);
    report_.failed += found.mismatched_decisions - found.mismatches.size();
    for (const auto& s : found.snapshot_mismatches)
      add_failure(report_, s.position, in + "snapshot at position " + std::to_string(s.position) + ": " + s.what);
    for (const Position p : found.undecidable)
      add_failure(report_, p, in + "record " + std::to_string(p) + ": its base had been left behind before it came");
    if (!found.damage) return;
    const std::string& damage = found.damage->message;
    const auto told = [&](const AuditFailure& f) { return f.what == damage; };  // by the walk over the chain
    if (std::ranges::none_of(report_.failures, told)) add_failure(report_, found.to + 1, in + damage);
  }

  /// Where the next record is; the end, where it cannot be read. A damaged log may have one that is very far away.
  Position first_behind(Position at) {
    events::RecordBatch batch;
    const auto read = reads_.read(at + 1, {}, batch);
    return read && !batch.empty() ? batch[0].offset : to_;
  }

  /// So far the chain goes before the domains follow: what is between them stays in memory.
  static constexpr Position stride = 4096;

  const Log& log_;
  const AuditOptions& options_;
  events::SharedReads reads_{log_};
  std::vector<std::pair<std::string, Verification>> verifications_;  ///< By domain.
  std::vector<evidence::Checkpoint> checkpoints_;
  events::ChainStart start_;
  Position to_ = 0;
  bool whole_ = true;
  AuditReport report_;
};

}  // namespace

Result<AuditReport> audit(const Log& log, const AuditOptions& options) { return Auditor(log, options).run(); }

}  // namespace hindsight::replay
