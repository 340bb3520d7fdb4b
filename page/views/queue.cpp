#include "page/views/queue.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "page/views/amounts.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "projections/families.hpp"
#include "projections/objects.hpp"
#include "projections/queue_members.hpp"
#include "projections/quota_line.hpp"
#include "projections/wait_words.hpp"

namespace hindsight::page {
namespace {

using admission::Reservation;
using admission::WorkloadInfo;
using projections::InLine;
using projections::WorkloadAt;

/// Are two that stand side by side equal in all that counts?
bool are_alike(const InLine& a, const InLine& b) {
  const WorkloadInfo &x = *a.waiting.workload, &y = *b.waiting.workload;
  return a.waiting.parked == b.waiting.parked && x.namespace_ == y.namespace_ && x.local_queue == y.local_queue &&
         x.priority == y.priority && x.option == nullptr && y.option == nullptr && x.evicted == y.evicted &&
         x.equivalence_hash == y.equivalence_hash && x.pod_sets == y.pod_sets;
}

/// Its Workload; of an Option that of its Parent, which stands for the family.
WorkloadAt standing_for(const admission::StateView& state, const WorkloadInfo& w) {
  return projections::find_by_uid(state, w.option == nullptr ? w.uid.view() : w.option->family.view());
}

Json ref_of_info(const WorkloadInfo& w) {
  return object_ref("Workload", w.namespace_.text(), w.option == nullptr ? w.name.view() : w.option->parent_name.view());
}

/// So many places from one on are one row.
struct FoldedRow {
  std::size_t first = 0, count = 1;
};

/// From place `offset` on; rows that may not be seen are counted and take no room.
std::vector<FoldedRow> folded_rows(const std::vector<InLine>& line, std::size_t offset, std::size_t limit, const Sight& sight,
                                   std::size_t& hidden) {
  std::vector<FoldedRow> out;
  for (std::size_t i = offset; i < line.size() && out.size() < limit;) {
    std::size_t end = i + 1;
    while (end < line.size() && are_alike(line[i], line[end])) ++end;
    if (sight.sees(line[i].waiting.workload->namespace_.text()))
      out.push_back({i, end - i});
    else
      hidden += end - i;
    i = end;
  }
  return out;
}

Json asks_of(const WorkloadInfo& w) {
  ResourceSums sums;
  for (const auto& pod_set : *w.pod_sets)
    for (const auto& request : pod_set.requests) sums.add(request.resource, multiply(request.amount, pod_set.count));
  return sums.json();
}

Json waiting_rows(const admission::StateView& state, const Symbol& queue, std::vector<admission::ClusterQueue::Waiting> all,
                  const std::vector<InLine>& line, const std::vector<FoldedRow>& rows) {
  std::vector<WorkloadAt> whom;
  for (const auto& row : rows) {
    const WorkloadAt at = standing_for(state, *line[row.first].waiting.workload);
    if (at.workload != nullptr) whom.push_back(at);
  }
  const auto waiters = projections::waiters_among(state, whom, queue, std::move(all));
  std::unordered_map<const admission::WorkloadState*, const projections::Waiter*> found;
  for (const auto& x : waiters.all) found.emplace(x.at.workload, &x);

  Json out = Json::array();
  for (const auto& row : rows) {
    const auto& standing = line[row.first];
    const WorkloadInfo& w = *standing.waiting.workload;
    const WorkloadAt at = standing_for(state, w);
    const auto it = found.find(at.workload);
    const projections::WaitReason none;
    const auto& reason = it == found.end() ? none : waiters.reasons[it->second->reason];
    Json one{{"workload", ref_of_info(w)}};
    if (at.parent != nullptr) put_job_ref(one, *at.parent);
    one["localQueue"] = w.local_queue.text();
    one["place"] = standing.position;
    one["priority"] = w.priority;
    put_time(one, "since", it == found.end() ? w.queue_time : it->second->since);
    one["asks"] = asks_of(w);
    one["reason"] = reason.reason;
    one["sentence"] = projections::wait_sentence(reason, {.ahead = standing.position, .parked = standing.waiting.parked});
    one["parked"] = standing.waiting.parked;
    if (row.count > 1) one["alike"] = row.count - 1;
    out.push_back(std::move(one));
  }
  return out;
}

/// Who holds quota, whoever has had it longest first.
void put_users(Json& out, const admission::StateView& state, const admission::ClusterQueue& queue, const Sight& sight) {
  auto holders = queue.reservations();
  const std::size_t all = holders.size();
  std::erase_if(holders, [&](const auto& r) { return !sight.sees(r->workload->namespace_.text()); });
  const std::size_t hidden = all - holders.size(), shown = std::min(holders.size(), users_shown_max);
  const auto earlier = [](const std::shared_ptr<const Reservation>& a, const std::shared_ptr<const Reservation>& b) {
    const WorkloadInfo &x = *a->workload, &y = *b->workload;
    return x.reserved_at != y.reserved_at ? x.reserved_at < y.reserved_at : x.uid < y.uid;
  };
  std::partial_sort(holders.begin(), holders.begin() + static_cast<std::ptrdiff_t>(shown), holders.end(), earlier);
  out["users"] = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const Reservation& r = *holders[i];
    const WorkloadInfo& w = *r.workload;
    const WorkloadAt at = standing_for(state, w);
    Json one{{"workload", ref_of_info(w)}};
    if (at.parent != nullptr) put_job_ref(one, *at.parent);
    one["localQueue"] = w.local_queue.text();
    one["place"] = i;
    one["priority"] = w.priority;
    put_time(one, "since", w.reserved_at);
    ResourceSums charged;
    for (const auto& c : r.charges) charged.add(c.resource, c.amount);
    one["asks"] = charged.json();
    one["reason"] = at.workload == nullptr ? std::string() : projections::reason_of(*at.workload);
    one["sentence"] = projections::holding_sentence(r);
    one["parked"] = false;
    out["users"].push_back(std::move(one));
  }
  out["usersLeftOut"] = holders.size() - shown;
  out["usersHidden"] = hidden;
}

}  // namespace

Result<Json> queue_view(const Look& look, const Parameters& parameters) {
  constexpr std::uint64_t limit_max = 1'000, limit_default = 200, offset_max = 10'000'000;
  const auto limit = parameters.number("limit", limit_default, 1, limit_max);
  if (!limit) return tl::unexpected(limit.error());
  const auto offset = parameters.number("offset", 0, 0, offset_max);
  if (!offset) return tl::unexpected(offset.error());
  const auto& state = look.past.driver();
  const auto* config = find_cluster_queue(state, parameters.of_path("name"));
  if (config == nullptr) return not_there(look, "ClusterQueue", parameters.of_path("name"));
  const auto* queue = state.queue(config->name);
  const Sight sight(state, look.audience);

  Json out = taken_at(look);
  out["object"] = projections::cluster_queue_object(state, *config);
  auto all = queue == nullptr ? std::vector<admission::ClusterQueue::Waiting>() : queue->waiting();
  const auto line = projections::waiting_in(state, all);
  out["waiting"] = line.size();
  std::size_t hidden = 0;
  const auto rows = folded_rows(line, *offset, *limit, sight, hidden);
  out["rows"] = waiting_rows(state, config->name, std::move(all), line, rows);
  out["hidden"] = hidden;
  if (const auto end = projections::quota_ends_after(state, config->name, line, quota_tried_max)) out["quotaEndsAfter"] = *end;
  if (queue != nullptr) {
    put_users(out, state, *queue, sight);
  } else {
    out["users"] = Json::array();
    out["usersLeftOut"] = out["usersHidden"] = 0;
  }
  sight.veil(out);
  return out;
}

}  // namespace hindsight::page
