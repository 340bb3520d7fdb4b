#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/state/archive.hpp"
#include "admission/state/thinning.hpp"

namespace hindsight::admission {

/// Version of the snapshot's bytes. A snapshot is a cache of a fold: one of another version is not read, the fold starts earlier.
inline constexpr std::uint32_t snapshot_version = 24;

/// Turns the state of a whole domain into bytes and back. Between records only (nothing may be under way).
class SnapshotCodec {
 public:
  [[nodiscard]] static std::vector<std::byte> write(const Entities& entities);
  [[nodiscard]] static std::vector<std::byte> write(const LoopDriver& driver) { return write(driver.entities()); }
  /// The same of a part: the trees of cohorts in which the Workloads of this parent wait or hold quota, with all whose Workloads do in the
  /// same trees, and with the jobs above and below them. What is decided of the part is what is decided of it in the whole, where trees are
  /// apart; else this is the whole. Rows have other numbers, and it is as large as the part, but for Cohorts, flavors and nodes, of which
  /// it has all. Which versions of the configuration were seen is not in it, so that nothing that is told of that is late; and no jobs
  /// without Workloads are, unless they belong to others that are.
  [[nodiscard]] static std::vector<std::byte> write_tree(const Entities& entities, std::uint32_t parent);
  /// The same without those who stand behind others like them in other queues than that of this parent, which play no part until one of
  /// those is reached (ThinnedTree::guards).
  [[nodiscard]] static ThinnedTree write_thinned(const Entities& entities, std::uint32_t parent, const Thinning& thinning);
  /// Nothing that is decided in one tree of cohorts depends on another: no admission waits for pods of others (BA-76), and each tree rests
  /// by itself (rules_with_rest_by_tree).
  [[nodiscard]] static bool trees_are_apart(const Domain& domain);
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
  class TreePart;
  static void write_parent(ArchiveWriter& a, std::uint32_t index, WorkloadParent::Image image);
  static void write_queue(ArchiveWriter& a, Symbol name, ClusterQueue::Image image);
  [[nodiscard]] static bool holds_together(const Domain& domain);
};

}  // namespace hindsight::admission
