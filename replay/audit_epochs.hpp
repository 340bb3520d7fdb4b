#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/chain.hpp"
#include "events/record.hpp"
#include "replay/audit.hpp"

namespace hindsight::replay {

/// Who decided when: follows the epochs of all domains, and finds decisions in an epoch that nobody had begun.
class EpochAudit {
 public:
  /// `known`: how the domains stood where the walk begins, and who owned them then as far as it was noted.
  EpochAudit(const std::vector<events::DomainTail>& known, const std::vector<events::EpochOwner>& owners, AuditReport& report);

  void meet(const events::ChainedRecord& met);

 private:
  struct Current {
    bool known = true;  ///< False: the first records of the domain are not kept, and it is not known which epoch it had there.
    std::uint64_t epoch = 0;
    std::optional<std::size_t> listed;  ///< Among the epochs of the report.
  };
  void begin(Current& domain, AuditedEpoch epoch);
  void meet_late(const events::StoredRecord& record);

  AuditReport& report_;
  const bool from_the_start_;
  std::map<std::string, Current, std::less<>> domains_;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> listed_;  ///< Where an epoch stands in the report.
  events::RecordReader reader_;
};

}  // namespace hindsight::replay
