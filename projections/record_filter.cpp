#include "projections/record_filter.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "events/decision_fields.hpp"
#include "events/json.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::projections {
namespace {

using hindsight::events::Fields;

template <class Variant, std::size_t... I>
void names_of(std::vector<std::string_view>& out, std::index_sequence<I...>) {
  (out.push_back(Fields<std::variant_alternative_t<I, Variant>>::table), ...);
}

bool is_object(const std::string& wanted, Text namespace_, Text name, Text uid) {
  if (wanted == name || (!uid.empty() && wanted == uid)) return true;
  return wanted.size() == namespace_.size() + 1 + name.size() && wanted.starts_with(namespace_) && wanted[namespace_.size()] == '/' &&
         wanted.ends_with(name);
}

/// Does an observation or event name the object in any of its parts?
template <class T>
bool names(const T& e, const std::string& wanted) {
  bool out = false;
  if constexpr (requires { e.meta; }) out = out || is_object(wanted, e.meta.namespace_, e.meta.name, e.meta.uid);
  if constexpr (requires { e.workload; }) out = out || is_object(wanted, e.workload.namespace_, e.workload.name, e.workload.uid);
  if constexpr (requires { e.preemptor; }) out = out || is_object(wanted, e.preemptor.namespace_, e.preemptor.name, e.preemptor.uid);
  if constexpr (requires { e.job; }) out = out || is_object(wanted, e.job.namespace_, e.job.name, e.job.uid);
  if constexpr (requires { e.owner_uid; }) out = out || (!e.owner_uid.empty() && wanted == e.owner_uid);
  if constexpr (requires { e.cluster_queue; }) out = out || wanted == e.cluster_queue;
  if constexpr (requires { e.queue_name; }) out = out || wanted == e.queue_name;
  if constexpr (requires { e.root; }) out = out || wanted == e.root;
  if constexpr (std::is_same_v<T, ObjectDeleted> || std::is_same_v<T, WriteRefused> || std::is_same_v<T, ObjectQuarantined>)
    out = out || is_object(wanted, e.namespace_, e.name, e.uid);
  return out;
}

/// Decided, or noted as what would be.
List<Event> events_in(const RecordView& record) {
  if (const auto* d = std::get_if<Decisions>(&record.body)) return d->events;
  if (const auto* n = std::get_if<DecisionsNoted>(&record.body)) return n->events;
  return {};
}

bool names_object(const RecordView& record, const std::string& wanted) {
  if (const auto* o = std::get_if<Observation>(&record.body)) return std::visit([&](const auto& x) { return names(x, wanted); }, *o);
  if (const auto* n = std::get_if<DecisionsNoted>(&record.body))
    for (const auto& list : {n->withdrawn, n->would_not})
      for (const WorkloadRef& w : list)
        if (is_object(wanted, w.namespace_, w.name, w.uid)) return true;
  const auto list = events_in(record);
  return std::any_of(list.begin(), list.end(),
                     [&](const Event& e) { return std::visit([&](const auto& x) { return names(x, wanted); }, e); });
}

bool has_event(const RecordView& record, const std::string& wanted) {
  const auto list = events_in(record);
  return std::any_of(list.begin(), list.end(),
                     [&](const Event& e) { return std::visit([&]<class T>(const T&) { return Fields<T>::table == wanted; }, e); });
}

bool has_kind(const RecordView& record, const std::string& wanted) { return kind_of(record) == wanted || has_event(record, wanted); }

bool contains_text(std::string_view line, std::string_view wanted) {
  return std::search(line.begin(), line.end(), wanted.begin(), wanted.end(),
                     [](char a, char b) { return hindsight::lower(a) == hindsight::lower(b); }) != line.end();
}

std::vector<std::string> names_of_events() {
  std::vector<std::string_view> all;
  names_of<Event>(all, std::make_index_sequence<std::variant_size_v<Event>>{});
  return {all.begin(), all.end()};
}

/// Refuses a value that is none of `allowed`.
Result<void> check_value(std::string_view word, std::string_view value, const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return {};
  return fail(ErrorKind::invalid,
              "filter: found \"" + printable(word) + "\"" + did_you_mean(value, allowed) + "; allowed: " + joined(allowed, ", "));
}

}  // namespace

std::string_view kind_of(const RecordView& record) {
  if (const auto* o = std::get_if<Observation>(&record.body)) return std::visit([]<class T>(const T&) { return Fields<T>::table; }, *o);
  if (std::holds_alternative<DecisionsNoted>(record.body)) return "DecisionsNoted";
  return std::holds_alternative<Decisions>(record.body) ? std::string_view("Decisions") : Fields<EpochStarted>::table;
}

std::vector<std::string_view> all_kinds() {
  std::vector<std::string_view> out;
  names_of<Observation>(out, std::make_index_sequence<std::variant_size_v<Observation>>{});
  out.emplace_back("Decisions");
  names_of<Event>(out, std::make_index_sequence<std::variant_size_v<Event>>{});
  out.push_back(Fields<EpochStarted>::table);
  out.emplace_back("DecisionsNoted");
  return out;
}

std::string_view source_of(const RecordView& record) {
  if (std::holds_alternative<Observation>(record.body)) return "observed";
  if (std::holds_alternative<DecisionsNoted>(record.body)) return "noted";
  return std::holds_alternative<Decisions>(record.body) ? "decided" : "log";
}

bool RecordFilter::matches(const RecordView& record) const {
  const auto any = [&](const std::vector<std::string>& list, const auto& test) {
    return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& wanted) { return test(record, wanted); });
  };
  const auto has_source = [](const RecordView& r, const std::string& wanted) { return source_of(r) == wanted; };
  if (!any(sources, has_source) || !any(kinds, has_kind) || !any(events, has_event) || !any(objects, names_object)) return false;
  if (texts.empty()) return true;
  const std::string line = hindsight::events::to_line(record, text_bytes_max);
  return std::all_of(texts.begin(), texts.end(), [&](const std::string& wanted) { return contains_text(line, wanted); });
}

Result<RecordFilter> parse_record_filter(std::string_view words) {
  constexpr std::string_view blanks = " \t\n\r";
  RecordFilter out;
  std::size_t count = 0;
  for (std::size_t at = words.find_first_not_of(blanks); at != std::string_view::npos; at = words.find_first_not_of(blanks, at)) {
    const std::size_t end = std::min(words.find_first_of(blanks, at), words.size());
    const std::string_view word = words.substr(at, end - at);
    at = end;
    if (++count > RecordFilter::words_max)
      return fail(ErrorKind::invalid, "filter: found more words; allowed: at most " + std::to_string(RecordFilter::words_max));
    if (word.size() > RecordFilter::word_bytes_max)
      return fail(ErrorKind::invalid, "filter: found a word of " + std::to_string(word.size()) + " bytes; allowed: at most " +
                                          std::to_string(RecordFilter::word_bytes_max));
    const std::size_t colon = word.find(':');
    const std::string_view name = colon == std::string_view::npos ? std::string_view() : word.substr(0, colon);
    const std::string value(colon == std::string_view::npos ? word : word.substr(colon + 1));
    const bool known = name == "kind" || name == "object" || name == "event" || name == "source" || name == "text";
    if (known && value.empty())
      return fail(ErrorKind::invalid, "filter: found \"" + printable(word) +
                                          "\" without a value; allowed: kind:KIND, object:NAME, "
                                          "event:EVENT, source:SOURCE, text:TEXT");
    if (name == "kind") {
      const auto all = all_kinds();
      if (auto ok = check_value(word, value, {all.begin(), all.end()}); !ok) return tl::unexpected(ok.error());
      out.kinds.push_back(value);
    } else if (name == "event") {
      if (auto ok = check_value(word, value, names_of_events()); !ok) return tl::unexpected(ok.error());
      out.events.push_back(value);
    } else if (name == "source") {
      if (auto ok = check_value(word, value, {"observed", "decided", "noted", "log"}); !ok) return tl::unexpected(ok.error());
      out.sources.push_back(value);
    } else if (name == "object") {
      out.objects.push_back(value);
    } else {
      out.texts.emplace_back(known ? value : std::string(word));
    }
  }
  return out;
}

}  // namespace hindsight::projections
