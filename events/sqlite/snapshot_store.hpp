#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/log.hpp"
#include "events/sqlite/database.hpp"
#include "events/sqlite/snapshot_table.hpp"
#include "events/sqlite/turns.hpp"
#include "events/sqlite/writer.hpp"

namespace hindsight::events::sqlite {

/// Writes the snapshots of a log over the connection of its writer, in steps that are so short that an append hardly notices the one
/// that it waits for; each step takes a turn of its own. The bytes come first, in parts, and the row that claims them last, so that
/// a snapshot counts when it is whole. Parts that no row claims are of a snapshot that was dropped or replaced, or whose writing ended
/// half-way; they are removed whenever there is occasion. Thread-safe.
class SnapshotStore {
 public:
  /// `turns` are those in which everybody uses the writer; both must outlive the store. Takes over what an older format kept, and
  /// removes what an earlier process left behind. Errors: denied, io.
  [[nodiscard]] static Result<std::unique_ptr<SnapshotStore>> open(const std::string& path, Writer& writer, Turns& turns);

  /// As in Log. `between` may be empty; it is called between two parts, while nobody has a turn.
  [[nodiscard]] Result<void> put(const SnapshotMeta& meta, std::span<const std::byte> bytes, const std::function<void()>& between);
  [[nodiscard]] Result<void> drop(Position position, std::string_view domain);
  /// Long work in steps over the writer, each in a turn of its own: calls `step` until it says that nothing is left. `bytes`: what a step
  /// writes, about, so that it is checkpointed beside the appends.
  [[nodiscard]] Result<void> in_steps(const std::function<Result<bool>()>& step, std::size_t bytes);

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // first part, and the one behind the last

  SnapshotStore(std::string path, Writer& writer, Turns& turns) : path_(std::move(path)), writer_(writer), turns_(turns) {}
  [[nodiscard]] Result<void> prepare();
  [[nodiscard]] tl::unexpected<Error> failure(const Error& error) const;

  [[nodiscard]] Result<void> admit(Position position);
  [[nodiscard]] Result<void> write(const SnapshotMeta& meta, std::span<const std::byte> bytes, const std::function<void()>& between);
  [[nodiscard]] Result<std::uint64_t> write_part(std::span<const std::byte> bytes);

  [[nodiscard]] Result<void> take_over(const SnapshotTable& old);
  [[nodiscard]] Result<void> remove_unclaimed();
  [[nodiscard]] Result<void> remove_within(const Range& gap);
  [[nodiscard]] Result<std::vector<Range>> unclaimed();

  void checkpoint();
  void checkpoint_after(std::size_t bytes);

  const std::string path_;
  Writer& writer_;
  Turns& turns_;
  std::mutex alone_;  // over whole calls: at most one step stands between an append and its turn, and parts have numbers in a row
  Database beside_;   // for checkpoints
  Statement put_part_;
  Statement put_row_;
  Statement drop_row_;
  Statement claimed_;
  Statement next_part_;
  Statement remove_part_;
  std::size_t since_checkpoint_ = 0;
};

}  // namespace hindsight::events::sqlite
