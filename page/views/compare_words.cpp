#include "page/views/compare_words.hpp"

#include <algorithm>
#include <string_view>

#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using FieldTexts = replay::Picture::FieldTexts;
using Kind = replay::ObjectChange::Kind;

constexpr std::size_t fields_in_a_sentence = 3;
constexpr std::size_t value_bytes_in_a_sentence = 120;

/// Where a Workload stands, as its fields say.
struct Standing {
  enum class Phase { absent, pending, quota_reserved, admitted, evicted, finished, inactive } phase = Phase::absent;
  std::string reason, queue;

  [[nodiscard]] bool holds_quota() const { return phase == Phase::quota_reserved || phase == Phase::admitted || phase == Phase::evicted; }
};

std::string_view field_of(const FieldTexts& fields, const std::string& name) {
  const auto it = fields.find(name);
  return it == fields.end() ? std::string_view() : std::string_view(it->second);
}

bool is_condition_true(const FieldTexts& fields, const std::string& type) {
  return field_of(fields, "status.conditions[" + type + "]").starts_with("True");
}

/// "False WaitingForQuota: couldn't …" → "WaitingForQuota".
std::string reason_in(const FieldTexts& fields, const std::string& type) {
  std::string_view text = field_of(fields, "status.conditions[" + type + "]");
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return {};
  text.remove_prefix(blank + 1);
  return std::string(text.substr(0, text.find(':')));
}

Standing standing_of(const FieldTexts* fields) {
  using Phase = Standing::Phase;
  if (fields == nullptr) return {};
  const std::string queue(field_of(*fields, "status.admission.clusterQueue"));
  if (is_condition_true(*fields, "Finished")) return {Phase::finished, reason_in(*fields, "Finished"), queue};
  if (is_condition_true(*fields, "QuotaReserved") && !queue.empty()) {
    if (is_condition_true(*fields, "Evicted")) return {Phase::evicted, reason_in(*fields, "Evicted"), queue};
    if (is_condition_true(*fields, "Admitted")) return {Phase::admitted, {}, queue};
    return {Phase::quota_reserved, {}, queue};
  }
  if (field_of(*fields, "spec.active") == "false") return {Phase::inactive, reason_in(*fields, "Evicted"), {}};
  return {Phase::pending, reason_in(*fields, "QuotaReserved"), {}};
}

std::string in_words(const Standing& s) {
  using Phase = Standing::Phase;
  const std::string because = s.reason.empty() ? std::string() : " (" + s.reason + ")";
  switch (s.phase) {
    case Phase::absent:
      return "is not there";
    case Phase::pending:
      return "waits" + because;
    case Phase::quota_reserved:
      return "holds quota of " + s.queue + " and waits for admission checks";
    case Phase::admitted:
      return "is admitted to " + s.queue;
    case Phase::evicted:
      return "is being evicted" + because;
    case Phase::finished:
      return "has finished" + because;
    case Phase::inactive:
      return "is inactive" + because;
  }
  return {};
}

int effect_on_workload(const replay::ObjectChange& change, const Standing& a, const Standing& b) {
  using Phase = Standing::Phase;
  if ((a.phase == Phase::admitted) != (b.phase == Phase::admitted)) return effects::admission;
  if ((a.phase == Phase::finished) != (b.phase == Phase::finished)) return effects::end;
  if (a.holds_quota() != b.holds_quota()) return effects::quota;
  if (a.phase == Phase::absent || b.phase == Phase::absent) return effects::presence;
  if (a.phase != b.phase) return effects::phase;
  const auto moved = [](const replay::FieldChange& f) { return f.field.starts_with("status.admission."); };
  if (a.holds_quota() && std::any_of(change.fields.begin(), change.fields.end(), moved)) return effects::place;
  return a.reason != b.reason ? effects::reason : effects::workload;
}

std::string value_in_words(const std::string& value) {
  return value.empty() ? std::string("not set") : cut_message(value, value_bytes_in_a_sentence);
}

/// "spec.quota[default/cpu].nominalQuota is 4 at A and 8 at B; and 2 other fields differ", those that matter first.
std::string fields_in_words(const replay::ObjectChange& change) {
  std::vector<const replay::FieldChange*> order;
  for (const auto& f : change.fields) order.push_back(&f);
  const auto rank = [](const replay::FieldChange* f) {
    if (f->field == "status.conditions[Active]") return 0;
    return f->field.starts_with("status.") || f->field.starts_with("metadata.") ? 2 : 1;
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* x, const auto* y) { return rank(x) < rank(y); });
  std::string out;
  const std::size_t told = std::min(order.size(), fields_in_a_sentence);
  for (std::size_t i = 0; i < told; ++i)
    out += (i == 0 ? "" : "; ") + order[i]->field + " is " + value_in_words(order[i]->before) + " at A and " +
           value_in_words(order[i]->after) + " at B";
  if (const std::size_t rest = order.size() - told; rest != 0)
    out += "; and " + std::to_string(rest) + (rest == 1 ? " other field differs" : " other fields differ");
  return out;
}

int effect_on_configuration(const replay::ObjectChange& change) {
  if (change.kind != Kind::changed) return effects::configuration;
  const auto is_activity = [](const replay::FieldChange& f) { return f.field == "status.conditions[Active]"; };
  // Of the same verdict another message says less.
  const auto other_verdict = [&](const replay::FieldChange& f) {
    return is_activity(f) && f.before.starts_with("True") != f.after.starts_with("True");
  };
  if (std::any_of(change.fields.begin(), change.fields.end(), other_verdict)) return effects::activity;
  const auto is_status = [](const replay::FieldChange& f) { return f.field.starts_with("status."); };
  return std::all_of(change.fields.begin(), change.fields.end(), is_status) ? effects::counters : effects::configuration;
}

bool is_configuration(const std::string& kind) {
  for (const auto* known : {"ClusterQueue", "Cohort", "ResourceFlavor", "LocalQueue", "Namespace", "AdmissionCheck", "Topology",
                            "WorkloadPriorityClass", "PriorityClass", "Configuration"})
    if (kind == known) return true;
  return false;
}

}  // namespace

EffectOfChange effect_of(const replay::ObjectChange& change, const FieldTexts* before, const FieldTexts* after) {
  if (change.object.kind == "Workload") {
    const Standing a = standing_of(before), b = standing_of(after);
    const int effect = effect_on_workload(change, a, b);
    if (effect <= effects::place && effect != effects::reason) return {effect, in_words(a) + " at both; " + fields_in_words(change)};
    return {effect, in_words(a) + " at A, and " + in_words(b) + " at B"};
  }
  const int effect = is_configuration(change.object.kind) ? effect_on_configuration(change) : effects::job;
  if (change.kind == Kind::appeared) return {effect, "is not there at A, and is at B"};
  if (change.kind == Kind::gone) return {effect, "is there at A, and is not at B"};
  return {effect, fields_in_words(change)};
}

}  // namespace hindsight::page
