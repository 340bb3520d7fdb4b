#include "cli/short_values.hpp"

#include <nlohmann/json.hpp>
#include <span>

#include "projections/format.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::cli {
namespace {

constexpr std::string_view quota_lines = "/status/hindsight/quota", flavors_usage = "/status/flavorsUsage",
                           flavors_reservation = "/status/flavorsReservation";

constexpr ShortField queue_fields[] = {{"pending", "", "/status/pendingWorkloads"},
                                       {"reserving", "", "/status/reservingWorkloads"},
                                       {"admitted", "", "/status/admittedWorkloads"},
                                       {"share", "", "/status/fairSharing/weightedShare"},
                                       {"usage", flavors_usage, "total"},
                                       {"reservation", flavors_reservation, "total"},
                                       {"nominal", quota_lines, "nominal"},
                                       {"used", quota_lines, "used"},
                                       {"borrowed", quota_lines, "borrowed"},
                                       {"available", quota_lines, "available"}};
constexpr std::span<const ShortField> all_queue_fields = queue_fields;
constexpr ShortField cohort_fields[] = {{"share", "", "/status/fairSharing/weightedShare"},
                                        {"usage", quota_lines, "used"},
                                        {"nominal", quota_lines, "nominal"},
                                        {"used", quota_lines, "used"},
                                        {"borrowed", quota_lines, "borrowed"},
                                        {"available", quota_lines, "available"}};
constexpr ShortField local_queue_fields[] = {{"pending", "", "/status/pendingWorkloads"},
                                             {"reserving", "", "/status/reservingWorkloads"},
                                             {"admitted", "", "/status/admittedWorkloads"},
                                             {"usage", flavors_usage, "total"},
                                             {"reservation", flavors_reservation, "total"}};
constexpr ShortField workload_fields[] = {{"phase", "", "/status/hindsight/phase"},
                                          {"reason", "", "/status/hindsight/reason"},
                                          {"priority", "", "/status/hindsight/effectivePriority"}};

std::span<const ShortField> short_fields_of(std::string_view plural) {
  if (plural == "clusterqueues") return all_queue_fields;
  if (plural == "cohorts") return cohort_fields;
  if (plural == "localqueues") return local_queue_fields;
  if (plural == "workloads") return workload_fields;
  return {};
}

const Json* json_at(const Json& object, std::string_view pointer) {
  const Json::json_pointer p{std::string(pointer)};
  return object.contains(p) ? &object.at(p) : nullptr;
}

/// Lines of quota name their resource themselves; of usage each flavor has a list of them.
void add_amounts(const Json& line, const ShortValue& value, std::string_view of_resource, std::vector<std::string>& out) {
  if (const auto inner = line.find("resources"); inner != line.end()) {
    for (const Json& one : *inner) add_amounts(one, value, "name", out);
    return;
  }
  const auto resource = line.find(of_resource), amount = line.find(value.field->path);
  if (resource != line.end() && amount != line.end() && amount->is_string() && *resource == value.resource)
    out.push_back(amount->get<std::string>());
}

}  // namespace

std::vector<Json> ShortValue::in(const Json& whole) const {
  if (field->list.empty()) {
    const Json* found = json_at(whole, field->path);
    return found == nullptr ? std::vector<Json>{} : std::vector<Json>{*found};
  }
  std::vector<std::string> amounts;
  if (const Json* lines = json_at(whole, field->list))
    for (const Json& line : *lines) add_amounts(line, *this, "resource", amounts);
  if (amounts.empty()) return {};
  Amount sum = 0;
  for (const auto& text : amounts) sum = hindsight::add(sum, parse_quantity(text, resource).value_or(0));
  return {Json(projections::amount_text(sum, Symbol(resource)))};
}

std::optional<ShortValue> read_short_value(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const KnownKind* kind = find_kind(text.substr(0, slash));
  // What is no kind of these is one of jobs: the Workload of that job is meant.
  for (const ShortField& field : short_fields_of(kind == nullptr ? "workloads" : kind->plural)) {
    const std::string wanted = "." + std::string(field.name) + (field.list.empty() ? "" : ".");
    const auto begin =
        field.list.empty() ? (text.ends_with(wanted) ? text.size() - wanted.size() : std::string_view::npos) : text.find(wanted, slash);
    if (begin == std::string_view::npos || begin <= slash + 1) continue;
    ShortValue out{std::string(text.substr(0, begin)), &field, {}};
    if (!field.list.empty()) out.resource = text.substr(begin + wanted.size());
    if (field.list.empty() || !out.resource.empty()) return out;
  }
  return std::nullopt;
}

std::string short_fields_of(const KnownKind& kind) {
  std::string out;
  for (const ShortField& f : short_fields_of(kind.plural)) {
    if (!out.empty()) out += ", ";
    out += std::string(f.name) + (f.list.empty() ? "" : ".RESOURCE");
  }
  return out;
}

}  // namespace hindsight::cli
