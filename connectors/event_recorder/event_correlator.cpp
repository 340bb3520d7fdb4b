#include "connectors/event_recorder/event_correlator.hpp"

#include <algorithm>
#include <utility>

#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

std::string key_of(const kubernetes::KubernetesEvent& event) {
  std::string key(event.type->kind);
  // Neither of the parts can hold a zero byte: they are names, or text that the API takes.
  for (const std::string* part : {&event.namespace_, &event.name, &event.uid, &event.reason, &event.component, &event.message})
    key.append(1, '\0').append(*part);
  key += event.is_warning ? 'W' : 'N';
  return key;
}

}  // namespace

EventCorrelator::KubernetesEvent EventCorrelator::show(Entry& entry, Time now) const {
  entry.shown = entry.event.count;
  entry.window_end = now + options_.window;
  return entry.event;
}

void EventCorrelator::forget(Entries::iterator it) {
  if (it->second.event.count > it->second.shown) leftover_.push_back(std::move(it->second.event));
  by_silence_.erase(it->second.place);
  entries_.erase(it);
}

std::optional<EventCorrelator::KubernetesEvent> EventCorrelator::offer(KubernetesEvent event, Time now) {
  // Messages are equal when they look equal to readers.
  event.message = cut_message(event.message, limits::event_message.size());
  std::string key = key_of(event);
  auto it = entries_.find(key);
  if (it != entries_.end() && now - it->second.event.last >= options_.forget_after) {
    forget(it);
    it = entries_.end();
  }
  if (it == entries_.end()) {
    if (entries_.size() >= std::max<std::size_t>(1, options_.remembered_max)) forget(entries_.find(by_silence_.front()));
    by_silence_.push_back(key);
    Entry entry{.event = std::move(event), .shown = 0, .window_end = Time::never(), .place = std::prev(by_silence_.end())};
    it = entries_.emplace(std::move(key), std::move(entry)).first;
    return show(it->second, now);
  }
  Entry& entry = it->second;
  by_silence_.splice(by_silence_.end(), by_silence_, entry.place);
  entry.event.count += event.count;
  entry.event.last = std::max(entry.event.last, event.last);
  if (now >= entry.window_end) return show(entry, now);
  ++merged_;
  return std::nullopt;
}

std::vector<EventCorrelator::KubernetesEvent> EventCorrelator::due(Time now) {
  while (!by_silence_.empty()) {
    const auto it = entries_.find(by_silence_.front());
    if (now - it->second.event.last < options_.forget_after) break;
    forget(it);
  }
  std::vector<KubernetesEvent> out = std::exchange(leftover_, {});
  for (auto& [key, entry] : entries_)
    if (entry.event.count > entry.shown && now >= entry.window_end) out.push_back(show(entry, now));
  return out;
}

}  // namespace hindsight::connectors
