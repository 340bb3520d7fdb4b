#include <algorithm>
#include <cctype>

#include "connectors/objects/plan.hpp"

namespace hindsight::connectors {
namespace {

/// "3 more needed" and "1500m more needed": the same words, of which those that begin with a digit may be others.
bool differ_in_amounts(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& rest) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
  };
  const auto is_amount = [](std::string_view word) { return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0; };
  while (!a.empty() && !b.empty()) {
    const auto x = next(a), y = next(b);
    if (x != y && !(is_amount(x) && is_amount(y))) return false;
  }
  return a.empty() && b.empty();
}

bool is_reworded_condition(const Json& before, const Json& after) {
  return text_member(after, "type") == "QuotaReserved" && text_member(after, "status") == "False" &&
         is_told_each_cycle(text_member(after, "reason")) && text_member(before, "reason") == text_member(after, "reason");
}

bool is_reworded_option(const Json& before, const Json& after) {
  return text_member(after, "state") == "Pending" && differ_in_amounts(text_member(before, "message"), text_member(after, "message"));
}

/// The same entries in the same order, each as it was but for messages that may be other ones.
bool differs_in_messages(const Json& now, const Json& wanted, bool (*is_reworded)(const Json&, const Json&)) {
  if (!wanted.is_array() || wanted.size() != now.size()) return false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == wanted[i]) continue;
    if (!now[i].is_object() || !wanted[i].is_object() || !is_reworded(now[i], wanted[i])) return false;
    Json before = now[i], after = wanted[i];
    before.erase("message");
    after.erase("message");
    if (before != after) return false;
  }
  return true;
}

}  // namespace

bool is_told_each_cycle(std::string_view reason) {
  return reason == "WaitingForQuota" || reason == "WaitingForPreemptedWorkloads" || reason == "TopologyPlacementFailed";
}

bool only_rewords(const Write& write, const Json& workload) {
  if (write.verb != Write::Verb::merge_patch || write.subresource != "status") return false;
  const Json body = from_text(write.body);
  const Json& status = object_or_empty(workload, "status");
  const Json& patch = object_or_empty(body, "status");
  for (const auto& [part, wanted] : patch.items()) {
    const Json& now = list_or_empty(status, part);
    const bool reworded = part == "conditions" ? differs_in_messages(now, wanted, &is_reworded_condition)
                          : part == "options"  ? differs_in_messages(now, wanted, &is_reworded_option)
                                               : false;
    if (!reworded) return false;
  }
  return !patch.empty();
}

}  // namespace hindsight::connectors
