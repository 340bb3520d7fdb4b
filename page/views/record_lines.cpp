#include "page/views/record_lines.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "events/decision_fields.hpp"
#include "events/json.hpp"
#include "page/views/sight.hpp"
#include "projections/record_filter.hpp"
#include "vocabulary/record_order.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

/// The record of a decision's base is looked for so far back: what several domains wrote between the two.
constexpr Position base_within = 1024;

/// Null: it is about none, or about several.
Json object_of(const Observation& observation) {
  return std::visit(
      []<class T>(const T& o) -> Json {
        std::string_view kind = events::Fields<T>::table;
        if (kind.ends_with("Observed")) kind.remove_suffix(std::string_view("Observed").size());
        if constexpr (std::is_same_v<T, JobObserved>) kind = o.kind;
        if constexpr (std::is_same_v<T, ObjectDeleted> || std::is_same_v<T, WriteRefused>) kind = events::api_name(o.kind);
        if constexpr (std::is_same_v<T, ObjectQuarantined>) kind = o.api_kind;
        if constexpr (std::is_same_v<T, NodeUsageObserved>) return object_ref("Node", {}, o.node);
        if constexpr (requires { o.meta; }) return object_ref(kind, o.meta.namespace_, o.meta.name);
        if constexpr (requires { o.namespace_; }) return object_ref(kind, o.namespace_, o.name);
        return {};
      },
      observation);
}

Json object_of(const Event& event) {
  return std::visit(
      []<class T>(const T& e) -> Json {
        if constexpr (requires { e.workload; })
          if (!e.workload.name.empty()) return object_ref("Workload", e.workload.namespace_, e.workload.name);
        if constexpr (requires { e.job; })
          if (!e.job.name.empty()) return object_ref(e.job.kind, e.job.namespace_, e.job.name);
        return {};
      },
      event);
}

Json object_of(const Decisions& decisions) {
  Json out;
  for (const Event& e : decisions.events) {
    Json one = object_of(e);
    if (out.is_null())
      out = std::move(one);
    else if (one != out)
      return {};
  }
  return out;
}

}  // namespace

Json place_json(Position position, Time time) {
  Json out{{"position", position}};
  if (time.micros > 0) out["time"] = format_rfc3339_micro(time);
  return out;
}

Result<Json> place_at(const events::Log& log, Position position) {
  if (position == 0) return place_json(0, Time::never());
  events::RecordBatch batch;
  if (auto ok = log.read(position, {.records = 1}, batch); !ok) return tl::unexpected(ok.error());
  if (batch.empty()) {
    const auto last = log.last();
    if (!last) return tl::unexpected(last.error());
    return fail(ErrorKind::not_found, "found record " + std::to_string(position) + ", which is not in the log " + std::string(log.name()) +
                                          "; its last one is " + std::to_string(*last));
  }
  return place_json(position, batch[0].time);
}

Json object_ref(std::string_view kind, std::string_view namespace_, std::string_view name) {
  Json out{{"kind", valid_utf8(kind)}};
  if (!namespace_.empty()) out["namespace"] = valid_utf8(namespace_);
  out["name"] = valid_utf8(name);
  return out;
}

Json object_ref_for(const Audience& audience, std::string_view kind, std::string_view namespace_, std::string_view name) {
  if (namespace_.empty() || audience.may_see(namespace_)) return object_ref(kind, namespace_, name);
  return {{"kind", valid_utf8(kind)}, {"name", hidden_name}, {"hidden", true}};
}

Position position_of(const events::Log& log, std::string_view domain, std::uint64_t sequence, const events::StoredRecord& before) {
  if (before.sequence == numbered_by_reader || sequence == 0 || sequence >= before.sequence) return 0;
  const std::uint64_t back = before.sequence - sequence;
  if (back >= before.offset) return 0;
  // In a log of one domain it stands exactly so far back; where others write between, further.
  events::RecordBatch batch;
  if (!log.read(before.offset - back, {.records = 1}, batch) || batch.empty()) return 0;
  if (batch[0].domain == domain && batch[0].sequence == sequence) return batch[0].offset;
  const auto first = log.first();
  if (!first) return 0;
  const Position begin = std::max(*first, before.offset > base_within ? before.offset - base_within : 1);
  for (Position at = begin; at < before.offset;) {
    if (!log.read(at, {}, batch) || batch.empty()) return 0;
    for (const auto& stored : batch) {
      at = stored.offset + 1;
      if (stored.offset >= before.offset) return 0;
      if (stored.domain == domain && stored.sequence == sequence) return stored.offset;
    }
  }
  return 0;
}

Json record_line(const events::Log& log, const events::StoredRecord& stored, const RecordView& record, bool set_aside) {
  Json out = place_json(stored.offset, stored.time);
  out["kind"] = projections::kind_of(record);
  out["source"] = projections::source_of(record);
  const auto* decisions = std::get_if<Decisions>(&record.body);
  const auto* observation = std::get_if<Observation>(&record.body);
  if (Json object = decisions != nullptr     ? object_of(*decisions)
                    : observation != nullptr ? object_of(*observation)
                                             : Json();
      !object.is_null())
    out["object"] = std::move(object);
  out["text"] = valid_utf8(events::to_line(record, record_text_bytes_max));
  if (decisions != nullptr)
    if (const Position base = position_of(log, stored.domain, decisions->base, stored); base != 0) out["base"] = base;
  out["bytes"] = stored.bytes.size();
  if (set_aside) out["setAside"] = true;
  return out;
}

Json unreadable_line(const events::StoredRecord& stored, const Error& why) {
  Json out = place_json(stored.offset, stored.time);
  out["kind"] = "Unreadable";
  out["source"] = "log";
  out["text"] = valid_utf8(cut_message("This record cannot be read: " + why.message, record_text_bytes_max));
  out["bytes"] = stored.bytes.size();
  out["setAside"] = true;
  return out;
}

}  // namespace hindsight::page
