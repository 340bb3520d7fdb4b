#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evidence/chain.hpp"
#include "evidence/keys.hpp"
#include "evidence/lines.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::evidence {

/// More checkpoints of one record are no evidence: each costs a check of its signature.
inline constexpr std::size_t checkpoints_of_a_record_max = 16;

/// What was found in records.jsonl.
struct RecordsReport {
  std::uint64_t lines = 0, segments = 0;
  std::uint64_t included = 0;  ///< Records that are part of the evidence.
  std::uint64_t withheld = 0;  ///< Records of which only the hash is.
  std::uint64_t proved = 0;    ///< Of the included ones: a checkpoint that a named key has signed covers them.
  std::uint64_t stored = 0;    ///< Of the included ones: a checkpoint that nobody of those named has signed covers them, and no better one.
  std::uint64_t passed = 0;    ///< Checkpoints that the records lead to.
  std::uint64_t first = 0, last = 0;   ///< Numbers of the first and the last record in it, included or not.
  std::optional<Checkpoint> newest;    ///< Of those that proved something, the last one.
  std::vector<std::string> signers;    ///< Ids of the keys that proved something.
  std::optional<std::string> failure;  ///< Why it ended early: file, line, what was found and what is allowed.

  [[nodiscard]] std::uint64_t not_covered() const { return included - proved - stored; }
};

/// Takes the lines one after another, recomputes the chain, and compares it with checkpoints.
class RecordsCheck {
 public:
  RecordsCheck(std::vector<Checkpoint> checkpoints, const std::vector<PublicKey>& keys);

  /// Errors: invalid, with what was found and what is allowed; nothing may be taken behind one.
  [[nodiscard]] Result<void> take(std::string_view line);
  /// After the last line.
  [[nodiscard]] RecordsReport finish();
  [[nodiscard]] const RecordsReport& so_far() const { return report_; }

 private:
  [[nodiscard]] Result<void> begin(const Head& head);
  [[nodiscard]] Result<void> add(std::uint64_t number, const Digest& content, bool included);
  [[nodiscard]] Result<void> compare();
  void end_segment();

  std::vector<Checkpoint> checkpoints_;  ///< By the number of their record.
  const std::vector<PublicKey>& keys_;
  std::size_t next_ = 0;
  std::optional<Chain> chain_;
  std::uint64_t pending_ = 0;  ///< Included records behind the last signed checkpoint of the segment.
  std::uint64_t stored_ = 0;   ///< Of those, before a checkpoint that is not signed by a named key.
  RecordsReport report_;
};

/// Reads checkpoints.jsonl. Errors: invalid (names file and line; more than checkpoints_max), and those of reading.
[[nodiscard]] Result<std::vector<Checkpoint>> read_checkpoints(const std::filesystem::path& file);
/// Reads records.jsonl; what is wrong with its lines ends up in the report. Errors: those of opening it.
[[nodiscard]] Result<RecordsReport> check_records(const std::filesystem::path& file, std::vector<Checkpoint> checkpoints,
                                                  const std::vector<PublicKey>& keys);

}  // namespace hindsight::evidence
