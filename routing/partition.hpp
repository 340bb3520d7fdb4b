#pragma once

#include <cstdint>
#include <string_view>

namespace hindsight::routing {

/// In which partition of a topic with so many the records of a domain stand: by FNV-1a of its name, which is the same for every connector
/// of every release. A topic that gets more partitions later would tear domains apart; `partitions` is above 0.
[[nodiscard]] constexpr std::int32_t partition_of(std::string_view domain, std::int32_t partitions) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : domain) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3ULL;
  }
  return static_cast<std::int32_t>(hash % static_cast<std::uint64_t>(partitions));
}

}  // namespace hindsight::routing
