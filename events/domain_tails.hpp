#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "events/log.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::events {

/// Where each domain of a log stands, and the rules of what may follow. Steps can be taken back until they are kept, because a
/// batch is added whole or not at all. Not thread-safe.
class DomainTails {
 public:
  /// Takes `record` as the next of its domain, if it may follow: the domain's sequence counts on by one, its epoch does not fall,
  /// its bytes are of a length that a log takes. Errors: conflict, invalid, with a message that names domain, found and expected;
  /// nothing has changed then.
  [[nodiscard]] Result<void> advance(const EncodedRecord& record, Position offset);

  /// Counts a record that is in the log already, if it counts. Behind a gap the domain goes on; whoever folds the records stops there.
  RecordOrder take(const StoredRecord& record);
  /// How a record that is in the log already stands to the last of its domain.
  [[nodiscard]] RecordOrder order(const EncodedRecord& record) const;

  /// The steps since the last keep(): a mark to go back to.
  [[nodiscard]] std::size_t mark() const { return undo_.size(); }
  void back_to(std::size_t mark);
  void keep() { undo_.clear(); }
  /// The domains that changed since the last keep(), each once.
  [[nodiscard]] std::vector<const DomainTail*> changed() const;

  /// Sets a tail as it was read from storage.
  void set(DomainTail tail);
  [[nodiscard]] std::vector<DomainTail> list() const;

 private:
  struct Step {
    DomainTail* tail;
    DomainTail before;  // without the name
  };
  std::map<std::string, DomainTail, std::less<>> tails_;  // a domain without records has sequence 0
  std::vector<Step> undo_;
};

}  // namespace hindsight::events
