#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "admission/domain/domain.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "projections/tracks.hpp"
#include "replay/moment.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using projections::Phase;
using projections::TrackSpan;

struct ExportOptions {
  PastOptions past;
  std::string from, until = "latest", format = "csv", file;
};

std::string_view phase_text(Phase phase) {
  switch (phase) {
    case Phase::pending:
      return "waiting";
    case Phase::quota_reserved:
      return "reserved";
    case Phase::admitted:
      return "admitted";
    case Phase::evicted:
      return "evicted";
    case Phase::finished:
      return "finished";
    case Phase::inactive:
      return "inactive";
  }
  return "";
}

/// A field of RFC 4180: in quotes where it has to be. What a spreadsheet would take for a formula begins with an apostrophe.
std::string csv_field(const std::string& value) {
  std::string text(printable(value));
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) text.insert(text.begin(), '\'');
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

Json span_json(const TrackSpan& s) {
  Json out{{"namespace", s.namespace_}, {"workload", s.name}, {"phase", phase_text(s.phase)}};
  const auto put = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  put("job", s.job);
  put("clusterQueue", s.cluster_queue);
  put("chain", s.chain);
  put("reason", s.reason);
  out["priority"] = s.priority;
  out["begin"] = format_rfc3339_micro(s.begin);
  out["end"] = format_rfc3339_micro(s.end);
  out["seconds"] = static_cast<double>((s.end - s.begin).micros) / 1e6;
  if (s.open) out["open"] = true;
  return out;
}

/// Writes stretches as they come.
class Writer {
 public:
  Writer(std::ostream& out, std::string format) : out_(out), format_(std::move(format)) {
    if (format_ == "csv") out_ << "namespace,workload,job,cluster_queue,chain,priority,phase,reason,begin,end,seconds,open\n";
    if (format_ == "trace") out_ << "[";
  }

  void write(const TrackSpan& s) {
    if (format_ == "jsonl") {
      out_ << to_json_text(span_json(s)) << "\n";
    } else if (format_ == "csv") {
      out_ << csv_field(s.namespace_) << ',' << csv_field(s.name) << ',' << csv_field(s.job) << ',' << csv_field(s.cluster_queue) << ','
           << csv_field(s.chain) << ',' << s.priority << ',' << phase_text(s.phase) << ',' << csv_field(s.reason) << ','
           << format_rfc3339_micro(s.begin) << ',' << format_rfc3339_micro(s.end) << ','
           << Json(static_cast<double>((s.end - s.begin).micros) / 1e6).dump() << ',' << (s.open ? "true" : "false") << "\n";
    } else {
      trace(s);
    }
  }

  /// A stretch begins: only the counters of a trace tell of that.
  void opened(const TrackSpan& s) {
    if (format_ == "trace") count(s, s.begin, +1);
  }

  void finish() {
    if (format_ != "trace") return;
    tell_counts();
    out_ << "\n]\n";
  }

 private:
  using Counts = std::map<Phase, std::int64_t>;

  /// Number of the process that a ClusterQueue is.
  std::size_t process_of(const std::string& queue) {
    const auto [it, first] = queues_.try_emplace(queue, queues_.size() + 1);
    if (first)
      event({{"ph", "M"}, {"name", "process_name"}, {"pid", it->second}, {"args", {{"name", queue.empty() ? "(no queue)" : queue}}}});
    return it->second;
  }

  /// Trace Event Format, as Chrome and Perfetto read it: a ClusterQueue is a process with a counter, a Workload a thread. Slices of a job
  /// overlap, and stretches of one thread may not: each has a thread of its own, and those of a chain stand together.
  void trace(const TrackSpan& s) {
    const std::size_t queue = process_of(s.cluster_queue);
    const std::string origin = s.namespace_ + "/" + (s.chain.empty() ? s.name : s.chain);
    const auto [thread, new_thread] = threads_.try_emplace({queue, s.namespace_ + "/" + s.name}, threads_.size() + 1);
    if (new_thread) {
      auto& [place, members] = chains_.try_emplace({queue, origin}, chains_.size(), 0).first->second;
      const std::string name = s.chain.empty() || s.chain == s.name ? origin : origin + " " + s.name;
      event({{"ph", "M"}, {"name", "thread_name"}, {"pid", queue}, {"tid", thread->second}, {"args", {{"name", name}}}});
      event({{"ph", "M"},
             {"name", "thread_sort_index"},
             {"pid", queue},
             {"tid", thread->second},
             {"args", {{"sort_index", place * places_of_chain + std::min(members++, places_of_chain - 1)}}}});
    }
    event({{"ph", "X"},
           {"name", phase_text(s.phase)},
           {"cat", "workload"},
           {"pid", queue},
           {"tid", thread->second},
           {"ts", s.begin.micros},
           {"dur", (s.end - s.begin).micros},
           {"args", span_json(s)}});
    if (!s.open) count(s, s.end, -1);
  }

  /// How many stand in each phase is told once for each moment.
  void count(const TrackSpan& s, Time when, std::int64_t change) {
    if (when != counted_at_) tell_counts();
    counted_at_ = when;
    counts_[s.cluster_queue][s.phase] += change;
    changed_.insert(s.cluster_queue);
  }
  void tell_counts() {
    for (const auto& queue : changed_) {
      const Counts& counts = counts_[queue];
      Json args = Json::object();
      for (const Phase phase : {Phase::pending, Phase::quota_reserved, Phase::admitted, Phase::evicted}) {
        const auto it = counts.find(phase);
        args[std::string(phase_text(phase))] = it == counts.end() ? 0 : it->second;
      }
      event({{"ph", "C"}, {"name", "workloads"}, {"pid", process_of(queue)}, {"ts", counted_at_.micros}, {"args", args}});
    }
    changed_.clear();
  }

  void event(const Json& e) {
    out_ << (first_ ? "\n" : ",\n") << to_json_text(e);
    first_ = false;
  }

  std::ostream& out_;
  std::string format_;
  bool first_ = true;
  static constexpr std::int64_t places_of_chain = 1'000;
  std::map<std::string, std::size_t> queues_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> threads_;
  /// Of a chain of slices, or a Workload alone: its place among the others, and how many threads it has.
  std::map<std::pair<std::size_t, std::string>, std::pair<std::int64_t, std::int64_t>> chains_;
  std::map<std::string, Counts> counts_;  ///< By ClusterQueue.
  std::set<std::string> changed_;         ///< Of these, since `counted_at_`.
  Time counted_at_;
};

Result<int> run_export(const Session& session, const ExportOptions& o) {
  const auto log = open_for_reading(o.past);
  if (!log) return tl::unexpected(log.error());
  const auto domain = replay::choose_domain(**log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  const auto until = replay::resolve(**log, o.until);
  if (!until) return tl::unexpected(until.error());
  ProgressBar bar(session, "folding");
  replay::Past past(**log, *domain, {.progress = bar.callback()});
  if (o.from.empty()) {
    if (auto ok = fold_to_beginning(session, **log, past); !ok) return tl::unexpected(ok.error());
    if (past.position() > *until)
      return fail(ErrorKind::not_found, "--until: found " + o.until + ", which is before record " + std::to_string(past.position()) +
                                            ", behind which log " + std::string((*log)->name()) +
                                            " begins; allowed: a moment from there on");
  } else {
    const auto from = replay::resolve(**log, o.from);
    if (!from) return tl::unexpected(from.error());
    if (*from > *until)
      return fail(ErrorKind::invalid, "--from: found " + o.from + ", which is behind --until " + o.until + "; allowed: a moment before it");
    if (auto ok = fold(past, *from); !ok) return tl::unexpected(ok.error());
  }
  std::ofstream file;
  if (!o.file.empty()) {
    file.open(o.file, std::ios::binary | std::ios::trunc);
    if (!file) return fail(ErrorKind::io, "--file: " + o.file + " cannot be written");
  }
  std::ostream& out = o.file.empty() ? session.out : file;
  Writer writer(out, o.format);
  projections::Tracks tracks([&](const TrackSpan& s) { writer.write(s); }, [&](const TrackSpan& s) { writer.opened(s); });
  tracks.begin(past.driver());
  past.look_on({}, [&](replay::Position, const RecordView& r) { tracks.see(r, past.driver()); });
  if (auto ok = fold_on(past, *until); !ok) return tl::unexpected(ok.error());
  tracks.end(past.driver().domain().now());
  writer.finish();
  bar.clear();
  tell_notices(session, past);
  out.flush();
  // Of standard output the application says what is wrong, and says nothing where its reader has only gone.
  if (!out && !o.file.empty()) return fail(ErrorKind::io, "--file: " + o.file + " could not be written whole");
  return exit_ok;
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  const auto o = std::make_shared<ExportOptions>();
  auto* c = add_command(app, session, "export", "How long every workload waited, ran and was evicted, for spreadsheets and trace viewers",
                        "  hindsight export > workloads.csv\n  hindsight export --from -1d --format trace --file trace.json",
                        [o, &session] { return run_export(session, *o); });
  c->add_option("--from", o->from, "From this moment on")->check(is_moment())->default_str("the beginning");
  c->add_option("--until", o->until, "Up to this moment")->check(is_moment())->default_str("latest");
  add_time_zone(*c);
  c->add_option("--format", o->format, "csv; jsonl: JSON, one stretch a line; trace: Trace Event Format, for Perfetto and Chrome")
      ->check(CLI::IsMember({"csv", "jsonl", "trace"}))
      ->capture_default_str();
  c->add_option("--file", o->file, "Write to this file, in place of standard output")->type_name("FILE");
  add_past_options(*c, o->past, false);
}

}  // namespace hindsight::cli
