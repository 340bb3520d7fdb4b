#include "projections/queue_members.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "projections/families.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {
namespace {

using admission::Reservation;
using admission::WorkloadInfo;

bool comes_from(const WorkloadInfo& w, const admission::LocalQueueConfig* only) {
  return only == nullptr || (w.namespace_ == only->namespace_ && w.local_queue == only->name);
}

/// By what they are of, as people read it.
class NamedSums {
 public:
  void add(const std::string& name, Symbol resource, Amount amount) {
    auto& sum = sums_.try_emplace(name, resource, Amount{0}).first->second;
    sum.second = hindsight::add(sum.second, amount);
  }
  [[nodiscard]] std::string words() const {
    std::vector<std::string> parts;
    for (const auto& [name, sum] : sums_)
      if (sum.second != 0) parts.push_back(name + " " + amount_text(sum.second, sum.first));
    return joined(parts);
  }

 private:
  std::map<std::string, std::pair<Symbol, Amount>> sums_;
};

}  // namespace

std::vector<std::shared_ptr<const Reservation>> holders_in(const admission::ClusterQueue& queue, const admission::LocalQueueConfig* only) {
  auto out = queue.reservations();
  std::erase_if(out, [&](const auto& r) { return !comes_from(*r->workload, only); });
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::pair(a->workload->namespace_.text(), std::string_view(a->workload->name)) <
           std::pair(b->workload->namespace_.text(), std::string_view(b->workload->name));
  });
  return out;
}

std::vector<InLine> waiting_in(const StateView& state, const admission::ClusterQueue& queue, const admission::LocalQueueConfig* only) {
  std::vector<InLine> out;
  std::size_t position = 0;
  for (auto& x : waiting_once(state, queue)) {
    if (comes_from(*x.workload, only)) out.push_back({position, std::move(x)});
    ++position;
  }
  return out;
}

std::vector<InLine> waiting_in(const StateView& state, std::vector<admission::ClusterQueue::Waiting> all) {
  std::vector<InLine> out;
  for (auto& x : waiting_once(state, std::move(all))) {
    const std::size_t position = out.size();
    out.push_back({position, std::move(x)});
  }
  return out;
}

std::string charged_from(const std::vector<std::shared_ptr<const Reservation>>& holders, std::size_t first) {
  NamedSums sums;
  for (std::size_t i = first; i < holders.size(); ++i)
    for (const auto& c : holders[i]->charges) sums.add(text(c.flavor) + "/" + text(c.resource), c.resource, c.amount);
  return sums.words();
}

std::string asked_from(const std::vector<InLine>& line, std::size_t first) {
  NamedSums sums;
  for (std::size_t i = first; i < line.size(); ++i)
    for (const auto& p : line[i].waiting.workload->pod_sets.value())
      for (const auto& r : p.requests) sums.add(text(r.resource), r.resource, multiply(r.amount, p.count));
  return sums.words();
}

}  // namespace hindsight::projections
