#include "replay/audit_epochs.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "events/record_kind.hpp"
#include "replay/audit_chain.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::replay {
namespace {

/// Names in a log may be of any length.
constexpr std::size_t name_bytes_max = 256;

std::string named(std::string_view text) { return std::string(cut_text(text, name_bytes_max)); }

}  // namespace

EpochAudit::EpochAudit(const std::vector<events::DomainTail>& known, const std::vector<events::EpochOwner>& owners, AuditReport& report)
    : report_(report), from_the_start_(report.first == 1) {
  for (const auto& tail : known) {
    if (tail.epoch == 0) {  // nobody had begun one
      domains_[tail.domain] = {};
      continue;
    }
    AuditedEpoch epoch{.domain = tail.domain, .epoch = tail.epoch, .begun = 0, .since = {}, .writer = {}, .release = {}};
    const auto owner = std::ranges::find_if(owners, [&](const auto& o) { return o.domain == tail.domain && o.epoch == tail.epoch; });
    if (owner != owners.end()) {
      epoch.since = owner->since;
      epoch.writer = named(owner->writer);
      epoch.release = named(owner->release);
    }
    begin(domains_[tail.domain], std::move(epoch));
  }
}

void EpochAudit::begin(Current& domain, AuditedEpoch epoch) {
  ++report_.epochs_begun;
  domain.known = true;
  domain.epoch = epoch.epoch;
  domain.listed.reset();
  if (report_.epochs.size() >= audited_epochs_max) return;
  domain.listed = report_.epochs.size();
  listed_.emplace(std::pair(epoch.domain, epoch.epoch), report_.epochs.size());
  report_.epochs.push_back(std::move(epoch));
}

/// A writer that was replaced, or was a moment too late, wrote it.
void EpochAudit::meet_late(const events::StoredRecord& record) {
  const auto it = listed_.find({std::string(record.domain), record.epoch});
  if (it != listed_.end()) ++report_.epochs[it->second].fenced;
}

void EpochAudit::meet(const events::ChainedRecord& met) {
  const auto& record = met.record;
  if (met.order == RecordOrder::passed_over) return meet_late(record);
  auto it = domains_.find(record.domain);
  if (it == domains_.end()) it = domains_.emplace(record.domain, Current{from_the_start_, 0, {}}).first;
  Current& domain = it->second;
  if (events::starts_epoch(record.bytes)) {
    if (domain.known && record.epoch <= domain.epoch) return;  // of two that begin the same one the first has it
    AuditedEpoch epoch{
        .domain = it->first, .epoch = record.epoch, .begun = record.offset, .since = record.time, .writer = {}, .release = {}};
    const auto decoded = reader_.read(record.bytes);
    if (const auto* started = decoded ? std::get_if<EpochStarted>(&(*decoded)->body) : nullptr; started != nullptr) {
      epoch.writer = named(started->writer);
      epoch.release = named(started->release);
    }
    return begin(domain, std::move(epoch));
  }
  if (!events::is_decision(record.bytes)) return;
  if (!domain.known) {
    domain.known = true;
    domain.epoch = record.epoch;
  }
  if (record.epoch != domain.epoch) {
    add_failure(report_, record.offset,
                "record " + std::to_string(record.offset) + " decides for domain \"" + it->first + "\" in epoch " +
                    std::to_string(record.epoch) + ", and the epoch that had begun is " + std::to_string(domain.epoch));
    domain.epoch = std::max(domain.epoch, record.epoch);  // told once
    return;
  }
  if (!domain.listed) return;
  AuditedEpoch& epoch = report_.epochs[*domain.listed];
  ++epoch.decisions;
  epoch.last_decision = record.offset;
}

}  // namespace hindsight::replay
