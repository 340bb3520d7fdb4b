#include "whatif/arrivals.hpp"

#include <algorithm>
#include <variant>

#include "events/record.hpp"

namespace hindsight::whatif {
namespace {

/// A record that spans less says nothing of how jobs arrive.
constexpr Duration stretch_min = Duration::seconds(1);
constexpr Duration day = Duration::seconds(24 * 3600), stretch_max = Duration::seconds(3600);

}  // namespace

void Arrivals::see(const RecordView& record) {
  const Time now = record.envelope.time;
  if (!first_.is_set()) first_ = now;
  last_ = std::max(last_, now);
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return;
  if (const auto* gone = std::get_if<ObjectDeleted>(o)) {
    if (const auto it = seen_.find(gone->uid); it != seen_.end()) seen_.erase(it);  // no other object ever gets its uid
    return;
  }
  const ObjectMeta* meta = nullptr;
  Responses::Form form;
  if (const auto* job = std::get_if<JobObserved>(o); job != nullptr && job->owner_uid.empty() && job->managed) {
    meta = &job->meta;
    form = Responses::form_of(*job);
  } else if (const auto* w = std::get_if<WorkloadObserved>(o); w != nullptr && w->owner_uid.empty()) {
    meta = &w->meta;
    form = Responses::form_of(*w);
  }
  if (meta == nullptr || !seen_.emplace(meta->uid).second) return;
  const bool was_there = meta->created.is_set() && meta->created + Duration::seconds(60) < first_;
  if (was_there) return;  // it came before the record began
  arrivals_.push_back({now, form, events::encode(record)});
  if (arrivals_.size() <= kept_max) return;
  arrivals_.pop_front();
  first_ = std::max(first_, arrivals_.front().at);
}

Arrivals::Stretch Arrivals::draw(Time from, std::uint64_t number) const {
  if (!first_.is_set() || last_ - first_ < stretch_min) return {};
  const Duration span = last_ - first_;
  Stretch out;
  out.length = std::min(span, stretch_max);
  const std::int64_t room = span.micros - out.length.micros;
  Time begin = first_ + Duration{room == 0 ? 0 : static_cast<std::int64_t>(number % static_cast<std::uint64_t>(room + 1))};
  if (span > Duration{2 * day.micros}) {
    const std::int64_t ago = (from - first_).micros / day.micros;  // whole days that the record reaches back
    const std::int64_t days = 1 + static_cast<std::int64_t>(number % static_cast<std::uint64_t>(std::max<std::int64_t>(1, ago)));
    const Time same_hour = from - Duration{days * day.micros};
    if (same_hour >= first_ && same_hour + out.length <= last_) begin = same_hour;
  }
  const Time end = begin + out.length;
  auto it = std::ranges::lower_bound(arrivals_, begin, {}, &Arrival::at);
  for (; it != arrivals_.end() && it->at < end; ++it) out.arrivals.emplace_back(from + (it->at - begin), &*it);
  return out;
}

}  // namespace hindsight::whatif
