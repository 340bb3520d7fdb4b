#include "simulation/trace.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <unordered_set>

#include "simulation/sacct.hpp"
#include "simulation/swf.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::simulation {
namespace {

constexpr std::size_t found_max = 60;    ///< Bytes of what was found that are told.
constexpr std::size_t label_bytes = 63;  ///< Of a DNS label,
constexpr std::size_t id_bytes = 50;     ///< and of one that a word comes before.
constexpr std::int64_t millis_a_unit = 1000;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Text of a trace as a DNS label: small letters, digits, and hyphens in place of all else; "default" where nothing is left.
std::string label_of(std::string_view text, std::size_t most = label_bytes) {
  std::string out;
  for (const char c : text) {
    if (out.size() == most) break;
    const char small = lower(c);
    const bool plain = is_digit(small) || (small >= 'a' && small <= 'z');
    if (plain)
      out += small;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "default" : out;
}

std::int64_t shared_by(std::int64_t all, std::int64_t pods) { return all / pods + (all % pods != 0 ? 1 : 0); }

std::string queue_of(const TraceJob& job, const TraceOptions& options) {
  switch (options.queue) {
    case TraceQueue::account:
      return label_of(job.account);
    case TraceQueue::user:
      return label_of(job.user);
    case TraceQueue::named:
      return options.queue_name;
    case TraceQueue::partition:
      break;
  }
  return label_of(job.partition);
}

LoadJob load_job(const TraceJob& job, std::int64_t earliest, std::string_view prefix, const TraceOptions& options) {
  LoadJob out;
  out.arrives = Duration::seconds(job.submitted - earliest);
  out.runs = Duration::seconds(job.runs);
  out.namespace_ = options.namespace_;
  out.name = std::string(prefix) + "-" + label_of(job.id, id_bytes);
  out.queue = queue_of(job, options);
  out.pods = static_cast<std::int32_t>(job.nodes);
  const std::int64_t millis = shared_by(job.cpus * millis_a_unit, job.nodes);
  out.requests.emplace_back("cpu", millis % millis_a_unit == 0 ? std::to_string(millis / millis_a_unit) : std::to_string(millis) + "m");
  if (job.memory > 0) out.requests.emplace_back("memory", std::to_string(shared_by(job.memory, job.nodes)));
  if (job.gpus > 0) out.requests.emplace_back("nvidia.com/gpu", std::to_string(shared_by(job.gpus, job.nodes)));
  return out;
}

/// Of a class that stands for a priority of the trace. Values have 31 bits.
std::int32_t class_value(std::int64_t priority) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(priority, 0, std::numeric_limits<std::int32_t>::max()));
}

TraceFormat format_of(std::string_view text) {
  TraceLines lines(text, {});
  while (const auto line = lines.next()) {
    const auto first = line->find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    if ((*line)[first] == ';') return TraceFormat::swf;
    if (line->find('|') != std::string_view::npos) return TraceFormat::sacct;
    return line->find_first_not_of("0123456789+-. \t") == std::string_view::npos ? TraceFormat::swf : TraceFormat::automatic;
  }
  return TraceFormat::automatic;
}

}  // namespace

std::optional<std::int64_t> trace_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> trace_fields(std::string_view line, char separator) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  for (;;) {
    const auto to = line.find(separator, from);
    if (to == std::string_view::npos) break;
    out.push_back(line.substr(from, to - from));
    from = to + 1;
  }
  out.push_back(line.substr(from));
  return out;
}

std::vector<std::string_view> trace_words(std::string_view line) {
  std::vector<std::string_view> out;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && is_blank(line[at])) ++at;
    const std::size_t from = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > from) out.push_back(line.substr(from, at - from));
  }
  return out;
}

// ---- lines ------------------------------------------------------------------------------------------------------------------------------

std::optional<std::string_view> TraceLines::next() {
  while (at_ < text_.size() && !too_many()) {
    ++line_;
    const auto end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() <= trace_line_max) return line;
    bad("the line", std::to_string(line.size()) + " bytes", "at most " + std::to_string(trace_line_max) + " bytes");
  }
  return std::nullopt;
}

std::string TraceLines::place() const { return file_ + ":" + std::to_string(line_) + ": "; }

void TraceLines::bad(std::string_view field, std::string_view found, std::string_view allowed) {
  if (++bad_ > load_told_max) return;
  told_.push_back(place() + std::string(field) + ": found \"" + printable(cut_message(found, found_max)) +
                  "\"; allowed: " + std::string(allowed) + "; the line is left out");
}

Result<TraceRead> finished_trace(TraceRead read, const TraceLines& lines, const std::string& file, std::size_t left_out,
                                 const std::string& why) {
  if (lines.too_many()) {
    std::string text = file + ": more than " + std::to_string(trace_bad_lines_max) + " lines cannot be read; allowed: at most so many";
    for (const auto& told : lines.told()) text += "\n" + told;
    return fail(ErrorKind::invalid, std::move(text));
  }
  read.notices = lines.told();
  if (lines.bad_lines() > load_told_max)
    read.notices.push_back(file + ": " + std::to_string(lines.bad_lines() - load_told_max) + " more lines cannot be read and are left out");
  if (left_out > 0)
    read.notices.push_back(file + ": " + std::to_string(left_out) + (left_out == 1 ? " job is" : " jobs are") + " left out: " + why);
  return read;
}

// ---- from jobs of a trace to jobs of a simulation
// -----------------------------------------------------------------------------------------

Result<Load> read_trace(std::string_view text, const std::string& path, const TraceOptions& options) {
  const std::string file = printable(path);
  const TraceFormat format = options.format == TraceFormat::automatic ? format_of(text) : options.format;
  if (format == TraceFormat::automatic)
    return fail(ErrorKind::invalid, file +
                                        ": of no format that is known; allowed: Standard Workload Format (lines of 18 numbers) and "
                                        "sacct -P (a first line of columns with | between them)");
  auto read = format == TraceFormat::swf ? read_swf(text, file) : read_sacct(text, file);
  if (!read) return tl::unexpected(read.error());
  Load out;
  out.notices = std::move(read->notices);
  if (read->jobs.empty()) {
    std::string why;
    for (const auto& notice : out.notices) why += "\n" + notice;
    return fail(ErrorKind::invalid, file + ": holds no job that started" + why);
  }
  if (read->jobs.size() > load_jobs_max)
    return fail(ErrorKind::invalid,
                file + ": holds more than " + std::to_string(load_jobs_max) + " jobs that started; allowed: at most so many");

  std::stable_sort(read->jobs.begin(), read->jobs.end(), [](const TraceJob& a, const TraceJob& b) { return a.submitted < b.submitted; });
  const std::int64_t earliest = read->jobs.front().submitted;
  if (const std::int64_t span = read->jobs.back().submitted - earliest; span > load_span_max.micros / 1'000'000)
    return fail(ErrorKind::invalid, file + ": " + std::to_string(span) +
                                        " s lie between the first submission and the last; allowed: at most " +
                                        std::to_string(load_span_max.micros / 1'000'000));
  std::unordered_set<std::string> names;
  std::set<std::int32_t> priorities;
  std::size_t again = 0;
  for (const auto& job : read->jobs) {
    LoadJob made = load_job(job, earliest, format == TraceFormat::swf ? "swf" : "slurm", options);
    if (!names.insert(made.name).second) {
      ++again;  // a job that was requeued is listed once for each time
      continue;
    }
    if (options.priorities && job.priority) {
      const std::int32_t value = class_value(*job.priority);
      priorities.insert(value);
      made.priority_class = "trace-priority-" + std::to_string(value);
    }
    out.jobs.push_back(std::move(made));
  }
  if (again > 0)
    out.notices.push_back(file + ": " + std::to_string(again) + (again == 1 ? " job is" : " jobs are") +
                          " listed again under a number that came before; the first counts");
  if (priorities.size() > trace_priorities_max)
    return fail(ErrorKind::invalid, file + ": has " + std::to_string(priorities.size()) + " different priorities; allowed: at most " +
                                        std::to_string(trace_priorities_max));
  for (const auto value : priorities) out.priority_classes.emplace_back("trace-priority-" + std::to_string(value), value);
  return out;
}

Result<std::string> read_load_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return fail(ErrorKind::invalid, printable(path) + ": is a folder; allowed: a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail(ErrorKind::io, printable(path) + ": cannot be opened");
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20U);
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > trace_bytes_max)
      return fail(ErrorKind::invalid,
                  printable(path) + ": is longer than " + std::to_string(trace_bytes_max) + " bytes; allowed: at most so many");
  }
  if (stream.bad()) return fail(ErrorKind::io, printable(path) + ": cannot be read");
  return text;
}

}  // namespace hindsight::simulation
