#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/state/archive.hpp"

namespace hindsight::admission {

/// Version of the snapshot's bytes. A snapshot is a cache of a fold: one of another version is not read, the fold starts earlier.
inline constexpr std::uint32_t snapshot_version = 22;

/// Turns the state of a whole domain into bytes and back. Between records only (nothing may be under way).
class SnapshotCodec {
 public:
  [[nodiscard]] static std::vector<std::byte> write(const Entities& entities);
  [[nodiscard]] static std::vector<std::byte> write(const LoopDriver& driver) { return write(driver.entities()); }
  /// Fills fresh entities. Errors: corrupt (bytes end early, or what they say does not hold together), unsupported (another snapshot
  /// version).
  [[nodiscard]] static Result<void> read(std::span<const std::byte> bytes, Entities& entities);
  [[nodiscard]] static Result<void> read(std::span<const std::byte> bytes, LoopDriver& driver) { return read(bytes, driver.entities()); }

  /// For other drivers: the domain alone, and the messages that make its entities announce themselves.
  static void write_domain(ArchiveWriter& a, const Domain& domain);
  [[nodiscard]] static Result<void> read_domain(ArchiveReader& a, Domain& domain);
  /// After parents are restored: opens queues, builds trees, makes parents announce themselves.
  static void announce(Domain& domain, Outbox& out);
  /// After all of that was delivered: nothing is dirty but what was.
  static void settle(Domain& domain);

 private:
  [[nodiscard]] static bool holds_together(const Domain& domain);
};

}  // namespace hindsight::admission
