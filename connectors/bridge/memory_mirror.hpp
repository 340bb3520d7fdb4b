#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "connectors/bridge/bridge.hpp"

namespace hindsight::connectors {

/// The newest text of every object, in memory; fed by watch events. For simulated clusters and tests.
class MemoryMirror final : public Mirror {
 public:
  /// To be called before the event goes to the bridge. Events without a readable name are ignored.
  void on_watch(const WatchEvent& event);

  [[nodiscard]] ObjectText find(const ResourceType& type, std::string_view namespace_, std::string_view name) const override;
  [[nodiscard]] ObjectText find_by_uid(std::string_view uid) const override;
  void offer(const ResourceType& type, std::string object) override;

 private:
  void put(const ResourceType& type, std::string_view object);

  std::map<std::string, ObjectText, std::less<>> by_name_;
  std::unordered_map<std::string, ObjectText> by_uid_;
};

}  // namespace hindsight::connectors
