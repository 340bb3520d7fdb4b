#include "simulation/swf.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "vocabulary/limits.hpp"

namespace hindsight::simulation {
namespace {

constexpr std::size_t swf_fields = 18;

/// The fields that count here; the first field is number 1.
enum class Swf : std::size_t {
  job = 1,
  submit = 2,
  run_time = 4,
  allocated_processors = 5,
  used_memory = 7,
  requested_processors = 8,
  requested_memory = 10,
  user = 12,
  group = 13,
  partition = 16
};

constexpr std::array<std::pair<Swf, std::string_view>, 10> swf_names{{{Swf::job, "field 1 (job number)"},
                                                                      {Swf::submit, "field 2 (submit time)"},
                                                                      {Swf::run_time, "field 4 (run time)"},
                                                                      {Swf::allocated_processors, "field 5 (allocated processors)"},
                                                                      {Swf::used_memory, "field 7 (used memory)"},
                                                                      {Swf::requested_processors, "field 8 (requested processors)"},
                                                                      {Swf::requested_memory, "field 10 (requested memory)"},
                                                                      {Swf::user, "field 12 (user)"},
                                                                      {Swf::group, "field 13 (group)"},
                                                                      {Swf::partition, "field 16 (partition)"}}};

/// What one line says; −1: not known.
struct SwfLine {
  std::array<std::int64_t, swf_fields> values{};

  [[nodiscard]] std::int64_t operator[](Swf field) const { return values[static_cast<std::size_t>(field) - 1]; }
  [[nodiscard]] std::string named(std::string_view what, Swf field) const {
    const auto value = (*this)[field];
    return value < 0 ? std::string() : std::string(what) + "-" + std::to_string(value);
  }
};

/// False: the line was bad, and that was told.
bool read_swf_line(std::string_view line, TraceLines& lines, SwfLine& out) {
  const auto words = trace_words(line);
  if (words.size() != swf_fields) {
    lines.bad("the line", std::to_string(words.size()) + (words.size() == 1 ? " field" : " fields"), "18 fields");
    return false;
  }
  for (const auto& [field, name] : swf_names) {
    const auto at = static_cast<std::size_t>(field) - 1;
    const auto value = trace_number(words[at]);
    if (!value || *value < -1) {
      lines.bad(name, words[at], "a whole number, -1 if it is not known");
      return false;
    }
    out.values[at] = *value;
  }
  return true;
}

std::int64_t known_or(std::int64_t value, std::int64_t other) { return value > 0 ? value : other; }

}  // namespace

Result<TraceRead> read_swf(std::string_view text, const std::string& file) {
  constexpr std::int64_t seconds_max = load_span_max.micros / 1'000'000;
  constexpr std::int64_t kibibyte = 1024;
  TraceRead out;
  TraceLines lines(text, file);
  std::size_t never_ran = 0;
  while (const auto line = lines.next()) {
    const auto first = line->find_first_not_of(" \t");
    if (first == std::string_view::npos || (*line)[first] == ';') continue;
    SwfLine of;
    if (!read_swf_line(*line, lines, of)) continue;
    const std::int64_t pods = known_or(of[Swf::requested_processors], of[Swf::allocated_processors]);
    if (of[Swf::run_time] <= 0 || pods <= 0) {
      ++never_ran;
      continue;
    }
    if (of[Swf::submit] < 0 || of[Swf::submit] > std::numeric_limits<std::int64_t>::max() / 2) {
      lines.bad("field 2 (submit time)", std::to_string(of[Swf::submit]), "seconds since the start of the trace");
      continue;
    }
    if (of[Swf::run_time] > seconds_max) {
      lines.bad("field 4 (run time)", std::to_string(of[Swf::run_time]), "at most " + std::to_string(seconds_max) + " seconds");
      continue;
    }
    if (pods > load_pods_max) {
      lines.bad("field 8 (requested processors)", std::to_string(pods), "at most " + std::to_string(load_pods_max));
      continue;
    }
    const std::int64_t memory = std::max<std::int64_t>(known_or(of[Swf::requested_memory], of[Swf::used_memory]), 0);
    if (memory > limits::total_amount.most / kibibyte / pods) {
      lines.bad("field 10 (requested memory)", std::to_string(memory),
                "KiB for each processor, for all together at most " + std::to_string(limits::total_amount.most / kibibyte));
      continue;
    }
    TraceJob job;
    job.id = std::to_string(of[Swf::job]);
    job.submitted = of[Swf::submit];
    job.runs = of[Swf::run_time];
    job.cpus = job.nodes = pods;
    job.memory = memory * kibibyte * pods;
    job.partition = of.named("partition", Swf::partition);
    job.account = of.named("group", Swf::group);
    job.user = of.named("user", Swf::user);
    out.jobs.push_back(std::move(job));
    if (out.jobs.size() > load_jobs_max) break;  // the caller tells
  }
  return finished_trace(std::move(out), lines, file, never_ran, "no run time above 0, or no processors");
}

}  // namespace hindsight::simulation
