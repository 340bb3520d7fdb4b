#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/kafka/location.hpp"
#include "events/kafka/message.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events::kafka {

/// Copies of snapshots in a folder of this machine, so that a start need not fetch them from the brokers: of each domain of a partition the
/// two newest. Which snapshots there are is said by the index in the topic alone, so a copy that is missing or damaged costs time and
/// nothing else, and one that cannot be written is left out. Several processes may use one folder. Not thread-safe.
class SnapshotCopies {
 public:
  /// Makes the folder if it is not there. Errors: denied, io; the message names the folder.
  [[nodiscard]] static Result<SnapshotCopies> open(const std::filesystem::path& folder, const Location& location);

  /// The bytes, if there is a whole copy; whoever uses them compares the checksum.
  [[nodiscard]] std::optional<std::vector<std::byte>> read(const SnapshotEntry& entry) const;
  void write(const SnapshotEntry& entry, std::span<const std::byte> bytes) const;

 private:
  SnapshotCopies(std::filesystem::path folder, std::string prefix) : folder_(std::move(folder)), prefix_(std::move(prefix)) {}
  [[nodiscard]] std::string family(const SnapshotEntry& entry) const;
  [[nodiscard]] std::filesystem::path file(const SnapshotEntry& entry) const;

  std::filesystem::path folder_;
  std::string prefix_;  ///< Of the names of this partition's files.
};

}  // namespace hindsight::events::kafka
