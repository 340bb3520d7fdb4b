#include "cli/migrate/finding.hpp"

#include <algorithm>
#include <utility>

#include "vocabulary/text.hpp"

namespace hindsight::cli::migrate {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::blocks:
      return "blocks";
    case Severity::differs:
      return "differs";
    case Severity::note:
      return "note";
  }
  return "note";
}

void Findings::add(const Rule& rule, std::string object, std::string field, std::string found, std::string happens) {
  ++counts_[rule.severity];
  if (told_[rule.id] >= told_max) {
    ++left_out_[rule.id];
    return;
  }
  ++told_[rule.id];
  if (found.size() > found_bytes_max) found = std::string(cut_text(found, found_bytes_max)) + " ...";
  if (happens.empty()) happens = std::string(rule.happens);
  findings_.push_back({&rule, std::move(object), std::move(field), std::move(found), std::move(happens)});
}

std::vector<Finding> Findings::sorted() const {
  auto out = findings_;
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) { return a.rule->severity < b.rule->severity; });
  return out;
}

std::size_t Findings::count(Severity severity) const {
  const auto it = counts_.find(severity);
  return it == counts_.end() ? 0 : it->second;
}

}  // namespace hindsight::cli::migrate
