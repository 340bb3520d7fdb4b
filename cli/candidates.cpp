#include "cli/candidates.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "admission/domain/domain.hpp"
#include "cli/kinds.hpp"
#include "cli/log_options.hpp"
#include "cli/naming.hpp"
#include "cli/past_options.hpp"
#include "cli/selectors.hpp"
#include "projections/lookup.hpp"
#include "projections/quota_report.hpp"
#include "projections/record_filter.hpp"
#include "projections/tables.hpp"

namespace hindsight::cli {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() != 0 && option.nonpositional(); }

/// The values that an option or argument is one of, as its help says; empty: others.
std::vector<std::string> enumerated(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::vector<std::string> out;
  const auto begin = type.find(":{");
  const auto end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return out;
  for (std::size_t at = begin + 2; at < end;) {
    const auto comma = std::min(type.find(',', at), end);
    out.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

bool is_one_word(const std::string& text) {
  constexpr std::string_view others = "-_./:,=@%+";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.find(c) != std::string_view::npos;
  });
}

/// What stands on the line before the word that is completed.
struct Line {
  const CLI::App* command = nullptr;
  std::string path;                     ///< "get", "log cat"; empty: no command yet.
  std::vector<std::string> arguments;   ///< Words that are no commands, options or their values.
  const CLI::Option* option = nullptr;  ///< The one whose value is completed.
  std::string log, log_config, domain, namespace_ = "default";
  std::string last;
};

/// The option that a word means; null: none.
const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  for (const auto* option : command.get_options())
    if (option->check_name(word.substr(0, word.find('=')))) return option;
  return nullptr;
}

void note_value(Line& line, const CLI::Option& option, const std::string& value) {
  for (const auto& [name, field] : std::initializer_list<std::pair<const char*, std::string*>>{
           {"--log", &line.log}, {"--log-config", &line.log_config}, {"--domain", &line.domain}, {"--namespace", &line.namespace_}})
    if (option.check_name(name)) *field = value;
}

/// Bash takes "--output=json" for three words.
std::vector<std::string> with_values_joined(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool sign = words[i] == "=" && !out.empty() && out.back().starts_with("--");
    if (!sign) {
      out.push_back(words[i]);
      continue;
    }
    if (i + 1 == words.size()) {
      out.emplace_back();  // the value begins
    } else {
      out.push_back(words[++i]);
    }
  }
  return out;
}

Line read_line(const CLI::App& app, const std::vector<std::string>& given) {
  Line line;
  line.command = &app;
  if (const char* log = std::getenv("HINDSIGHT_LOG")) line.log = log;
  if (const char* config = std::getenv("HINDSIGHT_LOG_CONFIG")) line.log_config = config;
  const auto words = with_values_joined(given);
  if (words.empty()) return line;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (const auto* option = option_of(*line.command, word)) {
      if (!takes_value(*option)) continue;
      if (const auto sign = word.find('='); sign != std::string::npos) {
        note_value(line, *option, word.substr(sign + 1));
      } else if (i + 2 == words.size()) {
        line.option = option;
      } else {
        note_value(line, *option, words[++i]);
      }
      continue;
    }
    const auto parts = subcommands_of(*line.command);
    const auto sub = std::find_if(parts.begin(), parts.end(), [&](const CLI::App* c) { return c->check_name(word); });
    if (sub != parts.end() && line.arguments.empty()) {
      line.command = *sub;
      line.path += (line.path.empty() ? "" : " ") + (*sub)->get_name();
    } else if (!word.starts_with("-")) {
      line.arguments.push_back(word);
    }
  }
  line.last = words.back();
  return line;
}

/// The log at its end, as far as it could be read in time.
class CandidateLog {
 public:
  explicit CandidateLog(const Line& line) {
    auto log = open_for_reading(line.log, line.log_config);
    if (!log) return;
    log_ = std::move(*log);
    const auto last = log_->last();
    const auto domain = replay::choose_domain(*log_, line.domain);
    if (!last || !domain) return;
    past_ = std::make_unique<replay::Past>(*log_, *domain);
    const auto until = std::chrono::steady_clock::now() + candidates_patience;
    // What cannot be read any further is as good as its end here.
    (void)past_->go_to(*last, [&] { return std::chrono::steady_clock::now() < until; });
  }

  [[nodiscard]] const events::Log* log() const { return log_.get(); }
  [[nodiscard]] const admission::StateView* state() const { return past_ ? &past_->driver() : nullptr; }

 private:
  std::unique_ptr<events::Log> log_;
  std::unique_ptr<replay::Past> past_;
};

using Words = std::vector<std::string>;

/// Names of a kind: of those in namespaces NAME for that of the line, and NAMESPACE/NAME for all.
Words names_of_kind(const admission::StateView& state, std::string_view plural, const std::string& namespace_) {
  Words out;
  const auto& catalog = *state.domain().catalog();
  const auto add = [&](std::string_view in, std::string_view name) {
    if (in == namespace_) out.emplace_back(name);
    out.push_back(std::string(in) + "/" + std::string(name));
  };
  const auto keys = [&](const auto& map) {
    for (const auto& [name, config] : map) out.emplace_back(name.text());
  };
  if (plural == "workloads")
    for (const auto& at : projections::all_workloads(state)) add(at.workload->namespace_.text(), at.workload->name.text());
  if (plural == "localqueues")
    for (const auto* queue : projections::select_local_queues(state, {})) add(queue->namespace_.text(), queue->name.text());
  if (plural == "clusterqueues") keys(catalog.queues);
  if (plural == "cohorts")
    for (const Symbol& name : projections::all_cohorts(state)) out.emplace_back(name.text());
  if (plural == "resourceflavors") keys(catalog.flavors);
  if (plural == "topologies") keys(catalog.topologies);
  if (plural == "nodes") keys(state.domain().nodes());
  if (plural == "admissionchecks") keys(catalog.checks);
  if (plural == "workloadpriorityclasses") keys(catalog.workload_priority_classes);
  return out;
}

/// "job/train", "job/team-a/train".
Words names_of_jobs(const admission::StateView& state, const std::string& namespace_) {
  Words out;
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr || !parent->job()) continue;
    std::string kind(parent->job()->kind.text());
    for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (projections::target_kind(kind).empty()) continue;
    const std::string name(parent->job()->name.text()), in(parent->job()->namespace_.text());
    if (in == namespace_) out.push_back(kind + "/" + name);
    out.push_back(kind + "/" + in + "/" + name);
  }
  return out;
}

Words workloads_and_jobs(const admission::StateView& state, const std::string& namespace_) {
  Words out = names_of_kind(state, "workloads", namespace_);
  const Words jobs = names_of_jobs(state, namespace_);
  out.insert(out.end(), jobs.begin(), jobs.end());
  return out;
}

Words namespaces_in(const admission::StateView& state) {
  std::set<std::string> out;
  for (const auto* queue : projections::select_local_queues(state, {})) out.emplace(queue->namespace_.text());
  for (const auto& at : projections::all_workloads(state)) out.emplace(at.workload->namespace_.text());
  return {out.begin(), out.end()};
}

/// What the line so far lets follow. `of_log`: calls what it is given with the state, if there is one.
class Completion {
 public:
  explicit Completion(Line line) : line_(std::move(line)) {}

  Candidates find() {
    if (line_.option != nullptr) {
      value_of(*line_.option, "");
    } else if (const auto sign = line_.last.find('='); line_.last.starts_with("--") && sign != std::string::npos) {
      const auto* option = option_of(*line_.command, line_.last);
      if (option != nullptr) value_of(*option, line_.last.substr(0, sign + 1));
    } else if (line_.last.starts_with("-")) {
      options();
    } else if (const auto parts = subcommands_of(*line_.command); !parts.empty()) {
      for (const auto* sub : parts) all_.push_back(sub->get_name());
    } else {
      arguments();
    }
    Candidates out;
    out.files = files_;
    for (auto& word : all_)
      if (word.starts_with(line_.last) && is_one_word(word) && out.words.size() < candidates_max) out.words.push_back(std::move(word));
    return out;
  }

 private:
  void add(const Words& words, const std::string& before = "") {
    for (const auto& word : words) all_.push_back(before + word);
  }
  const admission::StateView* state() {
    if (!log_) log_.emplace(line_);
    return log_->state();
  }
  void from_state(const std::function<Words(const admission::StateView&)>& names, const std::string& before = "") {
    if (const auto* at = state()) add(names(*at), before);
  }
  void of_kind(std::string_view plural, const std::string& before = "") {
    from_state([&](const auto& at) { return names_of_kind(at, plural, line_.namespace_); }, before);
  }

  void options() {
    for (const auto* option : line_.command->get_options()) {
      for (const auto& name : option->get_lnames()) all_.push_back("--" + name);
      for (const auto& name : option->get_snames()) all_.push_back("-" + name);
    }
    std::sort(all_.begin(), all_.end());
  }

  /// `before`: what of the word is no value yet, "--output=".
  void value_of(const CLI::Option& option, const std::string& before) {
    const auto is = [&](std::initializer_list<const char*> names) {
      return std::any_of(names.begin(), names.end(), [&](const char* name) { return option.check_name(name); });
    };
    Words known = enumerated(option);
    for (auto& value : known)
      if (const auto sign = value.find('='); sign != std::string::npos) value.erase(sign + 1);  // "jsonpath=TEMPLATE"
    if (!known.empty()) return add(known, before);
    if (is({"--log", "--log-config", "--config", "--kubeconfig", "--quickstart", "--webhook-client-ca"}) ||
        option.get_type_name() == "DIR" || option.get_type_name() == "FILE") {
      files_ = before.empty();
    } else if (is({"--namespace"})) {
      from_state(namespaces_in, before);
    } else if (is({"--clusterqueue"})) {
      of_kind("clusterqueues", before);
    } else if (is({"--localqueue"})) {
      from_state(
          [&](const auto& at) {
            Words names = names_of_kind(at, "localqueues", line_.namespace_);
            std::erase_if(names, [](const auto& name) { return name.find('/') != std::string::npos; });
            return names;
          },
          before);
    } else if (is({"--topology"})) {
      of_kind("topologies", before);
    } else if (is({"--domain"}) && line_.path != "run") {
      (void)state();
      if (log_->log() == nullptr) return;
      if (const auto domains = log_->log()->domains())
        for (const auto& tail : *domains) all_.push_back(before + tail.domain);
    } else if (is({"--kind"})) {
      for (const auto kind : projections::all_kinds()) all_.push_back(before + std::string(kind));
    } else if (is({"--at", "--from", "--to", "--before", "--since"})) {
      add({"latest", "-5m", "-1h", "-1d"}, before);
    } else if (is({"--object"}) || (is({"--for"}) && (line_.path == "plan defrag" || line_.path == "evidence"))) {
      from_state([&](const auto& at) { return workloads_and_jobs(at, line_.namespace_); }, before);
    } else if (is({"--for"}) && line_.path == "get") {
      from_state([&](const auto& at) { return names_of_kind(at, "workloads", line_.namespace_); }, before + "workload/");
      from_state([&](const auto& at) { return names_of_jobs(at, line_.namespace_); }, before);
    } else if (is({"--sort-by"})) {
      add({".metadata.name", ".metadata.creationTimestamp", ".spec.priority"}, before);
    } else if (is({"--field-selector"}) && !line_.arguments.empty()) {
      if (const auto* kind = find_kind(line_.arguments.front()))
        for (const auto& field : selectable_fields(*kind)) all_.push_back(before + field + "=");
    }
  }

  void arguments() {
    const std::string& path = line_.path;
    if (path == "get" || path == "describe") return line_.arguments.empty() ? kinds() : names();
    if (path == "why" || path == "history" || path == "eta") {
      if (line_.arguments.empty()) from_state([&](const auto& at) { return workloads_and_jobs(at, line_.namespace_); });
      if (line_.arguments.empty() && path == "why") of_kind("clusterqueues", "clusterqueue/");
      return;
    }
    if (path == "how") {
      if (line_.arguments.empty()) return add({"latest"});
      if (line_.arguments.size() > 1) return;
      from_state([&](const auto& at) { return workloads_and_jobs(at, line_.namespace_); });
      of_kind("clusterqueues", "clusterqueue/");
      return;
    }
    if (path == "top") return add({"clusterqueues", "cohorts", "localqueues", "resourceflavors"});
    if (path == "blame") return line_.arguments.empty() ? kinds() : void();
    if (path == "diff") return add({"latest", "-5m", "-1h", "-1d"});
    if (path == "help") return words_of_help();
    if (path == "simulate" || path == "log copy") {
      files_ = true;
      return;
    }
    std::size_t place = line_.arguments.size();
    for (const auto* option : line_.command->get_options()) {
      if (!option->get_positional()) continue;
      if (place == 0 || option->get_expected_max() > 1) return add(enumerated(*option));
      --place;
    }
  }

  /// KIND, KIND,KIND or KIND/NAME.
  void kinds() {
    const auto slash = line_.last.find('/');
    if (slash != std::string::npos) {
      const std::string before = line_.last.substr(0, slash + 1), word = line_.last.substr(0, slash);
      if (const auto* kind = find_kind(word)) return of_kind(kind->plural, before);
      return from_state([&](const auto& at) { return names_of_jobs(at, line_.namespace_); });
    }
    const auto comma = line_.last.rfind(',');
    const std::string before = comma == std::string::npos || line_.path != "get" ? "" : line_.last.substr(0, comma + 1);
    for (const auto& kind : known_kinds()) all_.push_back(before + std::string(line_.path == "get" ? kind.plural : kind.names.front()));
    if (before.empty()) add({"job/", "jobset/", "raycluster/", "rayjob/"});
  }

  void names() {
    const std::string& first = line_.arguments.front();
    if (line_.path == "describe" && line_.arguments.size() > 1) return;
    const auto wanted = read_wanted({first});
    if (!wanted || first.find('/') != std::string::npos) return;
    for (const auto& one : *wanted) of_kind(one.kind->plural);
    if (wanted->size() == 1 && wanted->front().kind->plural == "workloads")
      from_state([&](const auto& at) { return names_of_jobs(at, line_.namespace_); });
  }

  void words_of_help() {
    const CLI::App* at = line_.command->get_parent();
    for (const auto& word : line_.arguments) {
      const auto parts = subcommands_of(*at);
      const auto it = std::find_if(parts.begin(), parts.end(), [&](const CLI::App* sub) { return sub->check_name(word); });
      if (it == parts.end()) return;
      at = *it;
    }
    for (const auto* sub : subcommands_of(*at)) all_.push_back(sub->get_name());
  }

  Line line_;
  std::optional<CandidateLog> log_;
  Words all_;
  bool files_ = false;
};

}  // namespace

Candidates find_candidates(const CLI::App& app, const std::vector<std::string>& words) { return Completion(read_line(app, words)).find(); }

int print_candidates(const Session& session, const CLI::App& app, const std::vector<std::string>& words) {
  const Candidates found = find_candidates(app, words);
  for (const auto& word : found.words) session.out << word << "\n";
  session.out << (found.files ? ":files\n" : ":end\n");
  session.out.flush();
  return exit_ok;
}

void end_soon() {
  std::signal(SIGALRM, [](int) { _exit(0); });
  alarm(candidates_end_seconds);
}

}  // namespace hindsight::cli
