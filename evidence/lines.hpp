#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evidence/chain.hpp"
#include "evidence/checkpoint.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::evidence {

// The lines of evidence files: one flat JSON object each (docs/log-format.md). What is written ends with a line feed; what is read has
// none.

/// Longer lines are no evidence: a record has at most 64 MiB, which base64 makes a third longer.
inline constexpr std::size_t line_bytes_max = std::size_t{100} << 20;
/// More fields are not read.
inline constexpr std::size_t line_fields_max = 64;

[[nodiscard]] std::string base64(std::string_view bytes);
/// Nothing: it is something else. No white space is allowed.
[[nodiscard]] std::optional<std::string> parse_base64(std::string_view text);

// ---- records.jsonl --------------------------------------------------------------------------------------------------------

/// A segment begins: the chain stood like this before the next line.
[[nodiscard]] std::string start_line(const Head& head);
/// A record that is part of the evidence. `number`: in the chain; `offset`: in the log that it was taken from.
[[nodiscard]] std::string record_line(std::uint64_t number, std::uint64_t offset, const Content& record);
/// One that is not: its hash c.
[[nodiscard]] std::string withheld_line(std::uint64_t number, const Digest& content);

struct StartLine {
  Head head;
};
struct RecordLine {
  std::uint64_t number = 0, offset = 0;
  std::string domain, bytes;
  std::uint64_t sequence = 0, epoch = 0;
  Time time;
  [[nodiscard]] Content content() const { return {domain, sequence, epoch, time, std::as_bytes(std::span(bytes))}; }
};
struct WithheldLine {
  std::uint64_t number = 0;
  Digest content{};
};
using Line = std::variant<StartLine, RecordLine, WithheldLine>;

/// Errors: invalid, with the field, what was found and what is allowed.
[[nodiscard]] Result<Line> read_line(std::string_view text);

// ---- checkpoints.jsonl ----------------------------------------------------------------------------------------------------

[[nodiscard]] std::string checkpoint_line(const Checkpoint& checkpoint);
[[nodiscard]] Result<Checkpoint> read_checkpoint_line(std::string_view text);

}  // namespace hindsight::evidence
