#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/load.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::simulation {

inline constexpr std::size_t trace_bytes_max = std::size_t{256} << 20U;  ///< Of a file.
inline constexpr std::size_t trace_line_max = std::size_t{64} << 10U;    ///< Bytes of a line.
inline constexpr std::size_t trace_bad_lines_max = 1000;                 ///< More lines that cannot be read: it is no trace.
inline constexpr std::size_t trace_priorities_max = 1000;                ///< Different priorities of one trace.

enum class TraceFormat : std::uint8_t { automatic, swf, sacct };
enum class TraceQueue : std::uint8_t { partition, account, user, named };

/// What becomes of the jobs of a trace.
struct TraceOptions {
  TraceFormat format = TraceFormat::automatic;  ///< automatic: as the text looks.
  std::string namespace_ = "default";
  TraceQueue queue = TraceQueue::partition;  ///< After what their LocalQueue is called.
  std::string queue_name;                    ///< named: so.
  bool priorities = false;                   ///< Each priority of the trace becomes a WorkloadPriorityClass.
};

/// One job of a trace, of whatever format.
struct TraceJob {
  std::string id;              ///< "17", "17_3".
  std::int64_t submitted = 0;  ///< Seconds, since some moment.
  std::int64_t runs = 0;       ///< Seconds.
  std::int64_t cpus = 1;
  std::int64_t nodes = 1;   ///< So many pods share what it requests.
  std::int64_t memory = 0;  ///< Bytes, of the whole job; 0: not known.
  std::int64_t gpus = 0;
  std::string partition, account, user;  ///< Empty: not known.
  std::optional<std::int64_t> priority;
};

/// What a reader of one format hands over.
struct TraceRead {
  std::vector<TraceJob> jobs;        ///< In the order of the lines.
  std::vector<std::string> notices;  ///< Of lines that cannot be read, and of jobs that were left out.
};

/// Reads a trace of the Standard Workload Format or of `sacct -P` (docs/generate.md). The earliest submission is moment 0. Lines that
/// cannot be read are left out and told with file, line, what was found and what is allowed; so are jobs that never started. Errors:
/// invalid (a format that is not known, columns that are missing, no job at all, more than a bound above or in load.hpp).
[[nodiscard]] Result<Load> read_trace(std::string_view text, const std::string& file, const TraceOptions& options);

/// The bytes of a file, at most trace_bytes_max. Errors: io, invalid (too long).
[[nodiscard]] Result<std::string> read_load_file(const std::string& path);

// ---- for the readers of formats -----------------------------------------------------------------------------------------------------

/// The lines of a text with their numbers, and what is wrong with them.
class TraceLines {
 public:
  TraceLines(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  /// The next line, without its end; nothing: there is none, or too many were bad.
  [[nodiscard]] std::optional<std::string_view> next();
  /// The line that came last cannot be read. `field`: as people know it; `found` is shortened.
  void bad(std::string_view field, std::string_view found, std::string_view allowed);
  [[nodiscard]] bool too_many() const { return bad_ > trace_bad_lines_max; }
  [[nodiscard]] std::size_t bad_lines() const { return bad_; }
  /// What was told of bad lines.
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }
  /// "trace.txt:12: ", of the line that came last.
  [[nodiscard]] std::string place() const;

 private:
  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0, line_ = 0, bad_ = 0;
  std::vector<std::string> told_;
};

/// What a reader hands over at the end: with what `lines` told, and that `left_out` jobs were left out, and `why`. Errors: invalid, too
/// many bad lines.
[[nodiscard]] Result<TraceRead> finished_trace(TraceRead read, const TraceLines& lines, const std::string& file, std::size_t left_out,
                                               const std::string& why);

/// A whole number in all of the text; nothing: it is none, or too large.
[[nodiscard]] std::optional<std::int64_t> trace_number(std::string_view text);
/// Parts between separators; of white space any number of characters separates.
[[nodiscard]] std::vector<std::string_view> trace_fields(std::string_view line, char separator);
[[nodiscard]] std::vector<std::string_view> trace_words(std::string_view line);

}  // namespace hindsight::simulation
