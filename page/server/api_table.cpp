#include "page/server/api_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "projections/format.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

constexpr std::size_t repeated_of_query = 80;

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  for (;;) {
    const auto slash = path.find('/');
    out.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    path.remove_prefix(slash + 1);
  }
}

bool is_brace(const std::string& segment) { return segment.size() > 2 && segment.front() == '{' && segment.back() == '}'; }

std::string without_names(const ApiEntry& entry) {
  std::string out = entry.method;
  for (const auto& segment : entry.segments) out += "/" + (is_brace(segment) ? std::string("{}") : segment);
  return out;
}

/// Fixed segments; nothing: it does not fit.
std::optional<std::size_t> fixed_segments(const ApiEntry& entry, const std::vector<std::string>& asked) {
  if (entry.segments.size() != asked.size()) return std::nullopt;
  std::size_t fixed = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (is_brace(entry.segments[i])) {
      if (asked[i].empty()) return std::nullopt;
      continue;
    }
    if (entry.segments[i] != asked[i]) return std::nullopt;
    ++fixed;
  }
  return fixed;
}

}  // namespace

const std::vector<std::string>& parameters_of_views() {
  static const std::vector<std::string> names{"at", "domain", "branch"};
  return names;
}

ApiTable::ApiTable(const std::vector<ViewRoute>& views, const std::vector<ApiRoute>& routes) {
  for (const auto& view : views) {
    ApiEntry entry{.method = "GET",
                   .path = view.path,
                   .summary = view.summary,
                   .parameters = parameters_of_views(),
                   .only_for_all = view.only_for_all,
                   .view = &view};
    for (const auto& name : view.parameters)
      if (std::find(entry.parameters.begin(), entry.parameters.end(), name) == entry.parameters.end()) entry.parameters.push_back(name);
    entries_.push_back(std::move(entry));
  }
  for (const auto& route : routes)
    entries_.push_back({.method = route.method,
                        .path = route.path,
                        .summary = route.summary,
                        .parameters = route.parameters,
                        .only_for_all = route.only_for_all,
                        .route = &route});
  for (auto& entry : entries_) entry.segments = segments_of(entry.path);
  std::sort(entries_.begin(), entries_.end(),
            [](const ApiEntry& a, const ApiEntry& b) { return a.path != b.path ? a.path < b.path : a.method < b.method; });
  std::map<std::string, std::string> seen;
  for (const auto& entry : entries_)
    if (const auto [it, added] = seen.emplace(without_names(entry), entry.path); !added)
      throw std::logic_error("two routes of the page: " + entry.method + " " + it->second + " and " + entry.path);
}

ApiTable::Match ApiTable::find(std::string_view method, std::string_view rest) const {
  const auto asked = segments_of(rest);
  Match out;
  std::size_t most = 0;
  for (const auto& entry : entries_) {
    const auto fixed = fixed_segments(entry, asked);
    if (!fixed) continue;
    out.allowed.push_back(entry.method);
    if (entry.method != method || (out.entry != nullptr && *fixed <= most)) continue;
    out.entry = &entry;
    most = *fixed;
  }
  if (out.entry == nullptr) return out;
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (const auto& segment = out.entry->segments[i]; is_brace(segment)) out.path[segment.substr(1, segment.size() - 2)] = asked[i];
  return out;
}

Result<void> check_parameters(const ApiEntry& entry, const std::multimap<std::string, std::string>& query) {
  for (const auto& [name, value] : query)
    if (std::find(entry.parameters.begin(), entry.parameters.end(), name) == entry.parameters.end())
      return fail(ErrorKind::invalid, "query: found parameter \"" + printable(cut_text(name, repeated_of_query)) + "\"; allowed: " +
                                          (entry.parameters.empty() ? std::string("none") : projections::joined(entry.parameters)));
  return {};
}

}  // namespace hindsight::page
