#include "cli/naming.hpp"

#include <algorithm>

#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

constexpr const char* name_forms = "; allowed: KIND NAME, KIND/NAME, KIND/NAMESPACE/NAME";

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0;;) {
    const auto next = text.find(separator, at);
    out.push_back(text.substr(at, next == std::string::npos ? next : next - at));
    if (next == std::string::npos) return out;
    at = next + 1;
  }
}

bool is_workloads(const KnownKind& kind) { return kind.plural == "workloads"; }

/// The kind of job that a word means; empty: none.
std::string job_kind_of(const std::string& word) {
  std::string kind = projections::target_kind(word);
  return kind == "Workload" ? std::string() : kind;
}

/// NAME or NAMESPACE/NAME of a kind. `whole`: as it was given, for errors.
Result<WantedName> name_of_kind(const KnownKind& kind, const std::vector<std::string>& parts, const std::string& whole) {
  const bool empty = std::any_of(parts.begin(), parts.end(), [](const auto& p) { return p.empty(); });
  if (empty || parts.empty() || parts.size() > (kind.namespaced ? 2U : 1U))
    return fail(ErrorKind::invalid,
                "found \"" + whole + "\" for " + std::string(kind.names.front()) +
                    (kind.namespaced ? "; allowed: NAME, NAMESPACE/NAME" : "; allowed: NAME, because it is in no namespace"));
  WantedName out;
  out.name = parts.back();
  if (parts.size() == 2) out.namespace_ = parts.front();
  return out;
}

/// A name behind its kind: NAME, NAMESPACE/NAME, of Workloads also job/NAME.
Result<WantedName> read_name(const KnownKind& kind, const std::string& word) {
  auto parts = split_at(word, '/');
  if (!is_workloads(kind) || parts.size() == 1) return name_of_kind(kind, parts, word);
  const std::string meant = projections::target_kind(parts.front());
  if (meant.empty()) {
    if (parts.size() > 2) {
      const auto wrong = projections::parse_target(word, "default");
      return tl::unexpected(wrong ? Error{ErrorKind::invalid, std::string("found \"") + word + "\"" + name_forms} : wrong.error());
    }
    return name_of_kind(kind, parts, word);
  }
  parts.erase(parts.begin());
  auto out = name_of_kind(kind, parts, word);
  if (out && meant != "Workload") out->job_kind = meant;
  return out;
}

/// KIND/NAME or KIND/NAMESPACE/NAME.
Result<std::pair<const KnownKind*, WantedName>> read_whole_name(const std::string& word) {
  auto parts = split_at(word, '/');
  if (parts.size() < 2) return fail(ErrorKind::invalid, "found \"" + word + "\" beside KIND/NAME" + name_forms);
  const std::string job = job_kind_of(parts.front());
  const KnownKind* kind = find_kind(job.empty() ? parts.front() : "workloads");
  if (kind == nullptr) {
    Error error = unknown_kind(parts.front());
    error.message += ", and for Workloads by their jobs: job, jobset, raycluster, rayjob";
    return tl::unexpected(std::move(error));
  }
  parts.erase(parts.begin());
  auto name = name_of_kind(*kind, parts, word);
  if (!name) return tl::unexpected(name.error());
  name->job_kind = job;
  return std::pair(kind, std::move(*name));
}

/// The namespace that a name carries, whatever kind it stands behind; empty: it carries none, or is wrong.
std::string own_namespace(const std::string& word) {
  const auto parts = split_at(word, '/');
  if (parts.size() == 3) return parts[1];
  const bool of_kind = parts.size() == 2 && (find_kind(parts[0]) != nullptr || !projections::target_kind(parts[0]).empty());
  return parts.size() == 2 && !of_kind ? parts[0] : std::string();
}

}  // namespace

CLI::Validator in_namespace_of(const CLI::Option* namespace_option) {
  return {[namespace_option](std::string& word) {
            if (namespace_option->count() == 0) return std::string();
            const std::string own = own_namespace(word), given = namespace_option->results().back();
            if (own.empty() || own == given) return std::string();
            return "-n: found " + printable(given) + ", but " + printable(word) + " names namespace " + printable(own) +
                   "; allowed: one of them, or the same in both";
          },
          ""};
}

Result<std::vector<WantedKind>> read_wanted(const std::vector<std::string>& words) {
  std::vector<WantedKind> out;
  if (words.empty()) return fail(ErrorKind::invalid, std::string("kind is required") + name_forms);
  if (words.front().find('/') != std::string::npos) {
    for (const auto& word : words) {
      auto named = read_whole_name(word);
      if (!named) return tl::unexpected(named.error());
      const auto it = std::find_if(out.begin(), out.end(), [&](const WantedKind& w) { return w.kind == named->first; });
      if (it != out.end())
        it->names.push_back(std::move(named->second));
      else
        out.push_back({named->first, {std::move(named->second)}});
    }
    return out;
  }
  for (const auto& word : split_at(words.front(), ',')) {
    const KnownKind* kind = find_kind(word);
    const std::string job = kind == nullptr ? job_kind_of(word) : std::string();
    if (kind == nullptr && job.empty()) return tl::unexpected(unknown_kind(word));
    if (kind == nullptr && words.size() == 1)
      return fail(ErrorKind::invalid, "kind: found \"" + word + "\" without a name; allowed: " + job +
                                          "/NAME, for the Workload of that job, or workloads for all");
    if (kind == nullptr) kind = find_kind("workloads");
    if (std::any_of(out.begin(), out.end(), [&](const WantedKind& w) { return w.kind == kind; })) continue;
    WantedKind wanted{kind, {}};
    for (std::size_t i = 1; i < words.size(); ++i) {
      auto name = read_name(*kind, words[i]);
      if (!name) return tl::unexpected(name.error());
      if (name->job_kind.empty()) name->job_kind = job;
      wanted.names.push_back(std::move(*name));
    }
    out.push_back(std::move(wanted));
  }
  return out;
}

Result<WantedKind> read_one_wanted(const std::vector<std::string>& words) {
  auto all = read_wanted(words);
  if (!all) return tl::unexpected(all.error());
  if (all->size() != 1) return fail(ErrorKind::invalid, "found " + std::to_string(all->size()) + " kinds; allowed: one");
  if (all->front().names.empty())
    return fail(ErrorKind::invalid, "name is required" + std::string(name_forms) + "; 'hindsight get " +
                                        std::string(all->front().kind->plural) + "' lists what there is");
  if (all->front().names.size() != 1)
    return fail(ErrorKind::invalid, "found " + std::to_string(all->front().names.size()) + " names; allowed: one");
  return std::move(all->front());
}

projections::Target target_of(const WantedName& name, const std::string& default_namespace) {
  return {name.job_kind.empty() ? "Workload" : name.job_kind, name.namespace_.value_or(default_namespace), name.name};
}

}  // namespace hindsight::cli
