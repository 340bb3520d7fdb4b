#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "events/log.hpp"
#include "events/record.hpp"

namespace hindsight::events {

/// Something wrong with a log. `offset` is that of the record, or of the snapshot; 0: the log as a whole.
struct Finding {
  Position offset = 0;
  std::string what;
};

struct CheckReport {
  std::uint64_t records = 0;  ///< Records that were read.
  std::uint64_t snapshots = 0;
  Position last = 0;
  bool complete = true;  ///< False: ended early, by the caller or because there were too many findings.
  std::vector<Finding> findings;
};

/// Called with how many records were walked and how many there are; false ends the walk.
using CheckProgress = std::function<bool(Position done, Position total)>;

/// No report names more than this; a log that is that broken is not understood better with more.
inline constexpr std::size_t findings_max = 1000;

/// Checks records one after another, whatever log they come from: that each decodes, that its envelope says what the log's own
/// columns say, that sequences of a domain count on by one and epochs do not fall.
class RecordChecker {
 public:
  void check(const StoredRecord& record, std::vector<Finding>& findings);
  /// After records that could not be read: sequences may have gone on meanwhile.
  void skip() { gap_ = true; }

  /// The last record of each domain that was seen.
  [[nodiscard]] const std::map<std::string, DomainTail, std::less<>>& tails() const { return tails_; }
  [[nodiscard]] bool skipped() const { return gap_; }

 private:
  void check_order(const StoredRecord& record, std::vector<Finding>& findings);

  RecordReader reader_;
  std::map<std::string, DomainTail, std::less<>> tails_;
  bool gap_ = false;
};

}  // namespace hindsight::events
