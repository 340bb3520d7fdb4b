#include "admission/scheduling/repeated_preemptions.hpp"

#include <algorithm>

namespace hindsight::admission {
namespace {

std::uint64_t in_all_limit(std::uint64_t limit) { return limit * RepeatedPreemptions::in_all_factor; }

}  // namespace

void RepeatedPreemptions::note(std::string_view preemptor, std::string_view victim, std::uint64_t sequence, std::uint32_t limit) {
  if (limit == 0) return;
  auto found = counts_.find(preemptor);
  if (found == counts_.end()) found = counts_.emplace(std::string(preemptor), std::vector<Count>{}).first;
  auto& list = found->second;
  auto c = std::find_if(list.begin(), list.end(), [&](const Count& x) { return x.victim == victim; });
  if (c == list.end()) {
    if (list.size() == victims_max) {  // whoever was preempted longest ago is no part of a circle, or will be seen again
      const auto oldest = std::min_element(list.begin(), list.end(), [](const Count& a, const Count& b) { return a.last < b.last; });
      left_alone_ -= oldest->left_alone ? 1 : 0;
      list.erase(oldest);
    }
    c = list.insert(list.end(), Count{std::string(victim)});
  }
  if (c->last < news_) c->in_a_row = 0;
  ++c->in_a_row;
  ++c->in_all;
  c->last = sequence;
  if (!c->left_alone && (c->in_a_row >= limit || c->in_all >= in_all_limit(limit))) {
    c->left_alone = true;
    ++left_alone_;
  }
}

bool RepeatedPreemptions::news(std::uint64_t sequence, std::uint32_t limit) {
  news_ = sequence;
  if (left_alone_ == 0) return false;
  const std::size_t before = left_alone_;
  for (auto& [preemptor, list] : counts_)
    for (auto& c : list)
      if (c.left_alone && c.in_all < in_all_limit(limit)) {
        c.left_alone = false;
        --left_alone_;
      }
  return left_alone_ != before;
}

bool RepeatedPreemptions::forget(std::string_view preemptor) {
  const auto it = counts_.find(preemptor);
  if (it == counts_.end()) return false;
  const auto gone = std::count_if(it->second.begin(), it->second.end(), [](const Count& c) { return c.left_alone; });
  left_alone_ -= static_cast<std::size_t>(gone);
  counts_.erase(it);
  return gone != 0;
}

void RepeatedPreemptions::derive() {
  left_alone_ = 0;
  for (const auto& [preemptor, list] : counts_)
    left_alone_ += static_cast<std::size_t>(std::count_if(list.begin(), list.end(), [](const Count& c) { return c.left_alone; }));
}

bool RepeatedPreemptions::clear() {
  counts_.clear();
  return std::exchange(left_alone_, 0) != 0;
}

std::vector<const RepeatedPreemptions::Count*> RepeatedPreemptions::left_alone_by(std::string_view preemptor) const {
  std::vector<const Count*> out;
  if (left_alone_ == 0) return out;
  if (const auto it = counts_.find(preemptor); it != counts_.end())
    for (const auto& c : it->second)
      if (c.left_alone) out.push_back(&c);
  return out;
}

bool RepeatedPreemptions::leaves_alone(std::string_view preemptor, std::string_view victim) const {
  if (left_alone_ == 0) return false;
  const auto it = counts_.find(preemptor);
  return it != counts_.end() &&
         std::any_of(it->second.begin(), it->second.end(), [&](const Count& c) { return c.left_alone && c.victim == victim; });
}

void RepeatedPreemptions::add_to(StateHash& h) const {
  if (counts_.empty()) return;
  h.add(news_);
  for (const auto& [preemptor, list] : counts_) {
    h.add(std::string_view(preemptor));
    for (const auto& c : list) {
      h.add(std::string_view(c.victim));
      h.add(static_cast<std::uint64_t>(c.in_a_row));
      h.add(static_cast<std::uint64_t>(c.in_all));
      h.add(c.last);
      h.add(c.left_alone);
    }
  }
}

}  // namespace hindsight::admission
