#include "page/views/overview.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "admission/domain/domain.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "projections/attention.hpp"
#include "projections/families.hpp"
#include "projections/quota_totals.hpp"

namespace hindsight::page {
namespace {

using projections::Attention;
using projections::Phase;
using projections::Waiter;

/// "quarantined": a record that every reader passes over; it is only told to who sees all, since its object is not known.
Result<void> put_quarantined_records(Json& items, const Look& look, std::size_t& left_out) {
  const auto all = look.log.quarantined();
  if (!all) return tl::unexpected(all.error());
  for (const auto& q : *all) {
    if (q.domain != look.past.domain_name() || q.position > look.position()) continue;
    if (!look.audience.sees_all() || items.size() >= attention_shown_max) {
      ++left_out;
      continue;
    }
    items.push_back(
        {{"kind", "quarantined"},
         {"sentence", "Record " + std::to_string(q.position) + " was set aside because no entity could take it; it has no effect"},
         {"objects", Json::array()}});
  }
  return {};
}

Result<void> put_attention(Json& out, const Look& look, const projections::Waiters& waiters, const Sight& sight) {
  std::size_t left_out = 0;
  const auto shown = [&](const Symbol& namespace_) { return sight.sees(namespace_.text()); };
  const auto all = projections::attention_of(look.past.driver(), waiters, shown, left_out);
  Json items = Json::array();
  for (const Attention& item : all) {
    if (items.size() == attention_shown_max) break;
    Json one{{"kind", projections::name_of(item.kind)}, {"sentence", sight.told(item.sentence)}, {"objects", Json::array()}};
    for (const auto& object : item.objects) one["objects"].push_back(object_ref(object.kind, object.namespace_, object.name));
    put_time(one, "since", item.since);
    items.push_back(std::move(one));
  }
  left_out += all.size() - items.size();
  if (auto ok = put_quarantined_records(items, look, left_out); !ok) return ok;
  out["attention"] = std::move(items);
  out["attentionLeftOut"] = left_out;
  return {};
}

/// How many Workloads there are in each phase; one that is evicted still holds quota, and counts as admitted.
Json phases_json(const admission::StateView& state) {
  std::array<std::size_t, 6> by_phase{};
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      ++total;
      ++by_phase.at(static_cast<std::size_t>(projections::phase_of(w)));
    }
  }
  const auto count = [&](Phase phase) { return by_phase.at(static_cast<std::size_t>(phase)); };
  return {{"total", total},
          {"pending", count(Phase::pending)},
          {"reserved", count(Phase::quota_reserved)},
          {"admitted", count(Phase::admitted) + count(Phase::evicted)},
          {"finished", count(Phase::finished)},
          {"inactive", count(Phase::inactive)}};
}

/// Whoever has waited longest for quota; null: nobody waits.
const Waiter* longest_waiter(const projections::Waiters& waiters) {
  const Waiter* out = nullptr;
  for (const auto& x : waiters.all)
    if (x.phase == Phase::pending && x.since.is_set() && (out == nullptr || x.since < out->since)) out = &x;
  return out;
}

}  // namespace

Result<Json> overview_view(const Look& look, const HourSource& hour_source) {
  const auto& state = look.past.driver();
  const Sight sight(state, look.audience);
  const auto waiters = projections::waiters_of(state);
  const auto totals = projections::quota_totals(state);
  const auto* most = projections::most_used(totals);
  const auto hour = hour_source(look, most == nullptr ? Symbol() : most->flavor, most == nullptr ? Symbol() : most->resource);
  if (!hour) return tl::unexpected(hour.error());

  Json out = taken_at(look);
  const auto pending = std::count_if(waiters.all.begin(), waiters.all.end(), [](const Waiter& x) { return x.phase == Phase::pending; });
  out["waiting"] = {{"count", pending}, {"curve", to_json(hour->waiting)}};
  const Waiter* oldest = longest_waiter(waiters);
  Json& wait = out["oldestWait"];
  wait["milliseconds"] = oldest == nullptr ? 0 : std::max<std::int64_t>(0, (state.now() - oldest->since).micros / 1'000);
  if (oldest != nullptr && sight.sees(oldest->at.workload->namespace_.text())) wait["workload"] = object_ref(*oldest->at.workload);
  wait["curve"] = to_json(hour->oldest_wait);
  out["used"] = {{"perMille", most == nullptr ? 0 : *projections::use_in_thousandths(*most)},
                 {"resource", most == nullptr ? std::string_view() : most->resource.text()},
                 {"flavor", most == nullptr ? std::string_view() : most->flavor.text()},
                 {"curve", to_json(hour->used)}};
  out["evicted"] = {{"lastHour", hour->evicted_in_all ? Json(*hour->evicted_in_all) : Json(nullptr)}, {"curve", to_json(hour->evicted)}};
  if (auto ok = put_attention(out, look, waiters, sight); !ok) return tl::unexpected(ok.error());
  out["queues"] = state.domain().catalog()->queues.size();
  out["workloads"] = phases_json(state);
  return out;
}

}  // namespace hindsight::page
