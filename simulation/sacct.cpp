#include "simulation/sacct.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "vocabulary/ascii.hpp"
#include "vocabulary/limits.hpp"

namespace hindsight::simulation {
namespace {

__extension__ using WideBytes = unsigned __int128;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t slurm_seconds_max = load_span_max.micros / 1'000'000;

enum class Column : std::size_t {
  job_id,
  submit,
  start,
  end,
  elapsed_raw,
  elapsed,
  alloc_cpus,
  req_cpus,
  ncpus,
  nnodes,
  req_mem,
  req_tres,
  alloc_tres,
  partition,
  account,
  user,
  priority,
  state,
  count
};
constexpr std::array<std::string_view, static_cast<std::size_t>(Column::count)> column_names{
    "JobID",  "Submit", "Start",   "End",       "ElapsedRaw", "Elapsed", "AllocCPUS", "ReqCPUS",  "NCPUS",
    "NNodes", "ReqMem", "ReqTRES", "AllocTRES", "Partition",  "Account", "User",      "Priority", "State"};

constexpr std::size_t no_column = std::numeric_limits<std::size_t>::max();

/// Where the columns stand.
struct Header {
  std::array<std::size_t, static_cast<std::size_t>(Column::count)> at{};
  std::size_t width = 0;

  static Header of(std::string_view line) {
    Header out;
    out.at.fill(no_column);
    const auto names = trace_fields(line, '|');
    out.width = names.size();
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t c = 0; c < column_names.size(); ++c)
        if (out.at[c] == no_column && lower(names[i]) == lower(column_names[c])) out.at[c] = i;
    return out;
  }

  [[nodiscard]] bool has(Column c) const { return at[static_cast<std::size_t>(c)] != no_column; }
  [[nodiscard]] std::string missing() const {
    if (!has(Column::job_id)) return "JobID";
    if (!has(Column::submit)) return "Submit";
    if (!has(Column::elapsed_raw) && !has(Column::elapsed) && !(has(Column::start) && has(Column::end)))
      return "ElapsedRaw, Elapsed, or Start and End";
    for (const auto c : {Column::alloc_cpus, Column::req_cpus, Column::ncpus, Column::alloc_tres, Column::req_tres})
      if (has(c)) return {};
    return "AllocCPUS, ReqCPUS, NCPUS, AllocTRES or ReqTRES";
  }
};

/// One line by its columns; a column that is not there is empty.
struct Row {
  const Header& header;
  std::vector<std::string_view> fields;

  [[nodiscard]] std::string_view operator[](Column c) const {
    const auto at = header.at[static_cast<std::size_t>(c)];
    return at == no_column ? std::string_view() : fields[at];
  }
};

bool is_no_time(std::string_view text) { return text.empty() || text == "Unknown" || text == "None"; }

/// "2026-01-31T12:00:00", or seconds since 1970 (SLURM_TIME_FORMAT=%s).
std::optional<std::int64_t> slurm_time(std::string_view text) {
  if (const auto seconds = trace_number(text)) return *seconds >= 0 && *seconds <= 253'402'300'799 ? seconds : std::nullopt;
  const auto read = parse_rfc3339(std::string(text) + "Z");
  return read && read->is_set() ? std::optional(read->floor_seconds()) : std::nullopt;
}

/// The value of "cpu" in "billing=8,cpu=8,gres/gpu=2,mem=32G,node=1"; empty: there is none.
std::string_view tres(std::string_view list, std::string_view name) {
  for (const auto entry : trace_fields(list, ','))
    if (const auto equals = entry.find('='); equals != std::string_view::npos && entry.substr(0, equals) == name)
      return entry.substr(equals + 1);
  return {};
}

/// All of them, or where Slurm tells only models apart the sum over these; nothing: not a number.
std::optional<std::int64_t> gpus_of(std::string_view list) {
  if (const auto all = tres(list, "gres/gpu"); !all.empty()) return trace_number(all);
  std::int64_t sum = 0;
  for (const auto entry : trace_fields(list, ',')) {
    if (!entry.starts_with("gres/gpu:")) continue;
    const auto equals = entry.find('=');
    const auto value = equals == std::string_view::npos ? std::nullopt : trace_number(entry.substr(equals + 1));
    if (!value || *value < 0 || *value > load_pods_max) return std::nullopt;
    sum += *value;
  }
  return sum;
}

/// The first that is there and above 0; of a field that is no number nothing.
struct Amounts {
  std::int64_t value = 0;
  std::string_view bad;

  void offer(std::string_view text) {
    if (value > 0 || !bad.empty() || text.empty()) return;
    const auto read = trace_number(text);
    if (!read || *read < 0)
      bad = text;
    else
      value = *read;
  }
};

/// Reads one line after the other.
class SacctReader {
 public:
  SacctReader(const Header& header, TraceLines& lines, TraceRead& out) : header_(header), lines_(lines), out_(out) {}

  void read(std::string_view line) {
    const Row row{header_, trace_fields(line, '|')};
    if (row.fields.size() != header_.width) {
      const auto n = row.fields.size();
      return lines_.bad("the line", std::to_string(n) + (n == 1 ? " field" : " fields"),
                        std::to_string(header_.width) + " as in the first line");
    }
    const auto id = row[Column::job_id];
    if (id.find('.') != std::string_view::npos) return;  // a step: what it uses is of its job
    if (id.empty()) return lines_.bad("JobID", id, "the number of a job");
    TraceJob job;
    job.id = id;
    if (!read_times(row, job) || !read_sizes(row, job)) return;
    const auto partitions = trace_fields(row[Column::partition], ',');
    job.partition = partitions.front();
    job.account = row[Column::account];
    job.user = row[Column::user];
    if (const auto priority = row[Column::priority]; !priority.empty()) {
      job.priority = trace_number(priority);
      if (!job.priority) return lines_.bad("Priority", priority, "a whole number");
    }
    out_.jobs.push_back(std::move(job));
  }

  [[nodiscard]] std::size_t never_started() const { return never_started_; }
  [[nodiscard]] std::size_t running() const { return running_; }

 private:
  /// False: the job is left out, and that was told or counted.
  bool read_times(const Row& row, TraceJob& job) {
    const auto state = row[Column::state];
    const auto start = row[Column::start];
    const bool told_start = header_.has(Column::start);
    if (state.starts_with("PENDING") || (told_start && is_no_time(start))) return leave_out();
    const auto submitted = slurm_time(row[Column::submit]);
    if (!submitted) return complain("Submit", row[Column::submit], "a time as 2026-01-31T12:00:00, or seconds since 1970");
    job.submitted = *submitted;
    std::optional<std::int64_t> runs;
    if (const auto raw = row[Column::elapsed_raw]; !raw.empty()) {
      runs = trace_number(raw);
      if (!runs || *runs < 0 || *runs > slurm_seconds_max)
        return complain("ElapsedRaw", raw, "seconds, at most " + std::to_string(slurm_seconds_max));
    } else if (const auto elapsed = row[Column::elapsed]; !elapsed.empty()) {
      runs = slurm_seconds(elapsed);
      if (!runs || *runs > slurm_seconds_max)
        return complain("Elapsed", elapsed, "[days-]hours:minutes:seconds, at most " + std::to_string(slurm_seconds_max) + " seconds");
    } else {
      const auto from = slurm_time(start), to = slurm_time(row[Column::end]);
      if (!from) return complain("Start", start, "a time as 2026-01-31T12:00:00");
      if (!to || *to < *from || *to - *from > slurm_seconds_max)
        return complain("End", row[Column::end], "a time that is not before Start, or ElapsedRaw or Elapsed");
      runs = *to - *from;
    }
    if (*runs == 0) return leave_out();
    if (state.starts_with("RUNNING")) ++running_;
    job.runs = *runs;
    return true;
  }

  bool read_sizes(const Row& row, TraceJob& job) {
    const auto allocated = row[Column::alloc_tres], requested = row[Column::req_tres];
    Amounts cpus;
    for (const auto text :
         {row[Column::alloc_cpus], row[Column::req_cpus], row[Column::ncpus], tres(allocated, "cpu"), tres(requested, "cpu")})
      cpus.offer(text);
    if (!cpus.bad.empty() || cpus.value <= 0 || cpus.value > load_pods_max)
      return complain(
          "AllocCPUS", cpus.bad.empty() ? std::to_string(cpus.value) : std::string(cpus.bad),
          "a whole number from 1 to " + std::to_string(load_pods_max) + ", here, in ReqCPUS, NCPUS or cpu= of AllocTRES or ReqTRES");
    job.cpus = cpus.value;
    Amounts nodes;
    for (const auto text : {row[Column::nnodes], tres(allocated, "node"), tres(requested, "node")}) nodes.offer(text);
    if (!nodes.bad.empty()) return complain("NNodes", nodes.bad, "a whole number");
    job.nodes = std::clamp<std::int64_t>(nodes.value, 1, job.cpus);
    const auto gpus = gpus_of(gpus_of(allocated).value_or(1) != 0 ? allocated : requested);
    if (!gpus || *gpus < 0 || *gpus > load_pods_max)
      return complain("AllocTRES", allocated, "gres/gpu= with a whole number of at most " + std::to_string(load_pods_max));
    job.gpus = *gpus;
    return read_memory(row, job);
  }

  bool read_memory(const Row& row, TraceJob& job) {
    const auto bad = [&](std::string_view column, std::string_view found) {
      return complain(column, found,
                      "bytes with K, M, G, T or P, of all pods together at most " + std::to_string(limits::total_amount.most));
    };
    for (const auto column : {Column::alloc_tres, Column::req_tres})
      if (const auto text = tres(row[column], "mem"); !text.empty()) {
        const auto bytes = slurm_bytes(text, 1);
        if (!bytes || *bytes > limits::total_amount.most) return bad(column == Column::alloc_tres ? "AllocTRES" : "ReqTRES", text);
        job.memory = *bytes;
        return true;
      }
    std::string_view text = row[Column::req_mem];
    if (text.empty() || text == "?") return true;
    // Up to Slurm 20 it is of each CPU or node, and says so.
    const char last = text.back();
    const std::int64_t times = last == 'c' ? job.cpus : last == 'n' ? job.nodes : 1;
    if (last == 'c' || last == 'n') text.remove_suffix(1);
    const auto bytes = slurm_bytes(text, mebibyte);
    if (!bytes || *bytes > limits::total_amount.most / times) return bad("ReqMem", row[Column::req_mem]);
    job.memory = *bytes * times;
    return true;
  }

  bool complain(std::string_view column, std::string_view found, std::string_view allowed) {
    lines_.bad(column, found, allowed);
    return false;
  }
  bool leave_out() {
    ++never_started_;
    return false;
  }

  const Header& header_;
  TraceLines& lines_;
  TraceRead& out_;
  std::size_t never_started_ = 0, running_ = 0;
};

}  // namespace

std::optional<std::int64_t> slurm_seconds(std::string_view text) {
  std::int64_t days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto read = trace_number(text.substr(0, dash));
    if (!read || *read < 0 || *read > 1'000'000) return std::nullopt;
    days = *read;
    text.remove_prefix(dash + 1);
  }
  if (const auto dot = text.find('.'); dot != std::string_view::npos) {
    const auto fraction = text.substr(dot + 1);
    if (fraction.empty() || !std::all_of(fraction.begin(), fraction.end(), is_digit)) return std::nullopt;
    text = text.substr(0, dot);
  }
  const auto parts = trace_fields(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  std::int64_t seconds = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto read = trace_number(parts[i]);
    const bool leads = i == 0;  // hours, or minutes where there are none, may be more than fit into a day
    if (!read || *read < 0 || *read > (leads ? 1'000'000 : 59)) return std::nullopt;
    seconds = seconds * 60 + *read;
  }
  return days * 86'400 + seconds;
}

std::optional<std::int64_t> slurm_bytes(std::string_view text, std::int64_t unit) {
  constexpr std::string_view letters = "KMGTPE";
  if (text.empty()) return std::nullopt;
  if (const auto letter = letters.find(text.back()); letter != std::string_view::npos) {
    unit = std::int64_t{1} << (10 * (letter + 1));
    text.remove_suffix(1);
  }
  const auto dot = text.find('.');
  const auto whole = text.substr(0, dot);
  const auto fraction = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  constexpr std::size_t digits_max = 9;
  const bool digits = std::all_of(whole.begin(), whole.end(), is_digit) && std::all_of(fraction.begin(), fraction.end(), is_digit);
  if (!digits || whole.empty() || fraction.size() > digits_max || (dot != std::string_view::npos && fraction.empty())) return std::nullopt;
  const auto read = trace_number(whole);
  if (!read) return std::nullopt;
  WideBytes scale = 1, below_one = 0;
  for (const char c : fraction) {
    below_one = below_one * 10 + static_cast<unsigned>(c - '0');
    scale *= 10;
  }
  const auto factor = static_cast<WideBytes>(unit);
  const WideBytes bytes = static_cast<WideBytes>(*read) * factor + below_one * factor / scale;
  if (bytes > static_cast<WideBytes>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

Result<TraceRead> read_sacct(std::string_view text, const std::string& file) {
  TraceLines lines(text, file);
  auto first = lines.next();
  while (first && first->find_first_not_of(" \t") == std::string_view::npos) first = lines.next();
  const Header header = Header::of(first.value_or(std::string_view()));
  if (const auto missing = header.missing(); !missing.empty())
    return fail(ErrorKind::invalid,
                (first ? lines.place() : file + ": ") + "the first line has no column " + missing +
                    "; allowed: sacct -P -o JobID,Submit,Start,End,ElapsedRaw,AllocCPUS,AllocTRES,Partition,Account,User,Priority,State");
  TraceRead out;
  SacctReader reader(header, lines, out);
  while (const auto line = lines.next()) {
    if (line->find_first_not_of(" \t") == std::string_view::npos) continue;
    reader.read(*line);
    if (out.jobs.size() > load_jobs_max) break;  // the caller tells
  }
  auto finished = finished_trace(std::move(out), lines, file, reader.never_started(), "they never started, or ran for less than a second");
  if (finished && reader.running() > 0)
    finished->notices.push_back(file + ": " + std::to_string(reader.running()) + (reader.running() == 1 ? " job was" : " jobs were") +
                                " still running: what it had run by then is taken for its run time");
  return finished;
}

}  // namespace hindsight::simulation
