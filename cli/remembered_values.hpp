#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cli/condition.hpp"
#include "replay/past.hpp"

namespace hindsight::cli {

/// Values of objects, for who asks for them behind one record of a fold after another: kept until a record may have changed them. What
/// concerns a job is asked again where its entity got a message, what concerns a queue where one of its tree did; a change of the
/// configuration, and any record of another kind than those of everyday, makes all of them be asked again.
class RememberedValues {
 public:
  /// To be called behind every record, right after it was applied (Past::look_on). Takes the notes of who was touched.
  void behind(replay::Past& past, const RecordView& record);

  /// Would `of` give what it gave the last time, without asking again?
  [[nodiscard]] bool knows(const ObjectValue& value) const { return known_.contains(value.parts().get()); }
  /// ObjectValue::in. Lives until the next record.
  [[nodiscard]] const std::vector<Json>& of(const ObjectValue& value, const admission::StateView& state);

  /// How often a value was asked for that was not known, for tests.
  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  struct Known {
    std::shared_ptr<const ObjectValue::Parts> parts;
    std::vector<Json> values;
    const admission::WorkloadParent* parent = nullptr;
  };
  [[nodiscard]] bool may_have_changed(const Known& known, const admission::Entities& entities) const;

  std::map<const ObjectValue::Parts*, Known> known_;
  const void* driver_ = nullptr;
  std::uint64_t folded_ = 0, asked_ = 0;
};

}  // namespace hindsight::cli
