#include "admission/workload/repeated_steps.hpp"

#include <algorithm>

#include "admission/model/event_parts.hpp"

namespace hindsight::admission {
namespace {

/// Adds everything that an event consists of.
class Adder {
 public:
  [[nodiscard]] std::uint64_t value() const { return hash_.value(); }

  template <class T>
  void value(const T& x) {
    hash_.add(x);
  }
  void list(std::uint64_t length) { hash_.add(length); }
  void part() {}

 private:
  StateHash hash_;
};

/// Of the events so far and one more.
std::uint64_t with(std::uint64_t hash, const Event& event) {
  Adder adder;
  adder.value(hash);
  adder.value(static_cast<std::uint64_t>(event.index()));
  EventParts(adder).walk(event);
  return adder.value();
}

}  // namespace

std::uint64_t events_hash(const std::vector<Event>& events) {
  std::uint64_t hash = 0;
  for (const auto& event : events) hash = with(hash, event);
  return hash;
}

void RepeatedSteps::forget(std::uint64_t sequence) {
  steps_.clear();
  if (sequence != 0) last_ = sequence;
}

void RepeatedSteps::applied(const Event& event, std::uint64_t sequence, std::uint64_t base, std::uint64_t configured) {
  if (configured > last_) steps_.clear();
  if (steps_.empty() && base < std::max(last_, configured)) return;
  if (sequence != last_ || steps_.empty()) {
    if (!steps_.empty() && std::find(steps_.begin(), steps_.end() - 1, steps_.back()) != steps_.end() - 1) steps_.pop_back();
    if (steps_.size() < steps_max) steps_.push_back(0);
    last_ = sequence;
  }
  steps_.back() = with(steps_.back(), event);
}

bool RepeatedSteps::repeats(const std::vector<Event>& events, std::uint64_t configured) const {
  if (steps_.empty() || configured > last_) return false;
  return steps_.size() >= steps_max || std::find(steps_.begin(), steps_.end(), events_hash(events)) != steps_.end();
}

}  // namespace hindsight::admission
