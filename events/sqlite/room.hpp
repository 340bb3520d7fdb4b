#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "events/log.hpp"
#include "events/sqlite/database.hpp"

namespace hindsight::events::sqlite {

/// How large a log may become. Records are refused, and the log says that it is full, before the disk itself refuses: what is left is for
/// snapshots, trims, checkpoints and a clean end, so that a full log can still be made smaller.
class Room {
 public:
  /// Of the disk: what is kept free, as far as it is not more than a sixteenth of it.
  static constexpr std::uint64_t reserve = std::uint64_t{64} << 20;

  /// `limit`: bytes of the pages in use; 0: none but that of the disk.
  Room(std::string path, std::uint64_t limit) : path_(std::move(path)), limit_(limit) {}

  /// Looks, over this connection and outside of its transactions.
  [[nodiscard]] LogSpace look(Database& database);
  /// Whether records may be added; looks anew when the last look was a moment ago, or found it full. Error: unavailable (full), with what
  /// was found and what is allowed.
  [[nodiscard]] Result<void> check(Database& database);

 private:
  std::string path_;
  std::uint64_t limit_;
  std::chrono::steady_clock::time_point looked_at_{};
  bool full_ = false;
};

}  // namespace hindsight::events::sqlite
