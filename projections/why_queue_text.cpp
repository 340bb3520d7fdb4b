#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "projections/format.hpp"
#include "projections/table.hpp"
#include "projections/why_queue.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::projections {
namespace {

using TrialVerdict = FlavorTrial::Verdict;

constexpr std::size_t largest_shown = 3;  // holders of one queue

void add_queue_line(const std::string& line, std::string& out) { out.append(printable(line)).append("\n"); }

std::string trial_text(const FlavorTrial& t) {
  switch (t.verdict) {
    case TrialVerdict::fits:
      return "fits";
    case TrialVerdict::fits_borrowing:
      return "fits by borrowing";
    case TrialVerdict::short_now:
      return amount_text(t.missing, t.resource) + " short: " + t.blocked_by;
    case TrialVerdict::exceeds_maximum:
      return "more than can ever be had: " + t.blocked_by;
    case TrialVerdict::no_match:
      return "no match: " + t.mismatch;
  }
  return {};
}

std::string flavor_and_resource(const Symbol& flavor, const Symbol& resource) { return text(flavor) + "/" + text(resource); }

void write_head(const QueueHead& head, Time now, bool colour, std::string& out) {
  std::string line = "Head: " + head.name + ", priority " + std::to_string(head.priority);
  if (head.since.is_set()) line += ", waits for " + age(head.since, now);
  if (head.parked) line += ", parked until something in the tree changes";
  if (!head.reason.reason.empty()) line += "; " + text_of(head.reason);
  add_queue_line(line, out);
  Table t;
  t.columns = {{"POD SET"}, {"QUOTA"}, {"ASKED", false, true}, {"AVAILABLE", false, true}, {"VERDICT"}};
  for (const auto& x : head.trials) {
    const auto amount = [&](Amount a) { return amount_text(a, x.resource); };
    t.rows.push_back({x.pod_set, flavor_and_resource(x.flavor, x.resource),
                      amount(x.requested) + (x.earlier == 0 ? "" : " after " + amount(x.earlier)),
                      amount(std::max<Amount>(0, x.quota.figures.available)), trial_text(x)});
  }
  if (!t.rows.empty()) out += render(t, {.colour = colour, .indent = "  "});
}

void write_quota(const QueueWhy& why, bool colour, std::string& out) {
  add_queue_line("Quota of " + why.quota_of + ":", out);
  Table t;
  t.columns = {{"QUOTA"},
               {"USED", false, true},
               {"NOMINAL", false, true},
               {"BORROWED", false, true},
               {"AVAILABLE", false, true},
               {"MAXIMUM", false, true}};
  for (const auto& q : why.quota) {
    const auto amount = [&](Amount a) { return amount_text(a, q.resource); };
    t.rows.push_back({flavor_and_resource(q.flavor, q.resource), amount(q.used), amount(q.nominal), amount(q.borrowed), amount(q.available),
                      amount(q.maximum)});
  }
  out += render(t, {.colour = colour, .indent = "  "});
}

std::string largest_text(const QueueUse& use, const Symbol& resource) {
  std::vector<std::string> names;
  Amount rest = 0;
  for (const auto& h : use.holders) {
    if (names.size() == largest_shown) {
      rest = add(rest, h.amount);
      continue;
    }
    names.push_back(full_name(h.namespace_, h.name) + " " + amount_text(h.amount, resource) + (h.evicted ? " (evicted)" : ""));
  }
  if (use.holders.size() > largest_shown)
    names.push_back("and " + std::to_string(use.holders.size() - largest_shown) + " more with " + amount_text(rest, resource));
  return joined(names);
}

void write_users_of(const ScarcePair& pair, bool colour, std::string& out) {
  add_queue_line("Who uses " + flavor_and_resource(pair.flavor, pair.resource) + ", " + amount_text(pair.total, pair.resource) + " in all:",
                 out);
  Table t;
  t.columns = {{"CLUSTERQUEUE"},          {"USED", false, true},      {"NOMINAL", false, true},
               {"BORROWED", false, true}, {"WORKLOADS", false, true}, {"LARGEST"}};
  const auto put = [&](const QueueUse& use) {
    const auto amount = [&](Amount a) { return amount_text(a, pair.resource); };
    t.rows.push_back({text(use.queue), amount(use.used), amount(use.nominal), amount(use.borrowed), std::to_string(use.holders.size()),
                      largest_text(use, pair.resource)});
  };
  if (pair.own) put(*pair.own);
  for (const auto& other : pair.others) put(other);
  out += render(t, {.colour = colour, .indent = "  "});
  if (pair.queues_left_out > 0)
    add_queue_line(
        "  and " + counted(pair.queues_left_out, "more ClusterQueue") + " with " + amount_text(pair.amount_left_out, pair.resource), out);
}

Json use_json(const QueueUse& use, const Symbol& resource) {
  Json out{{"clusterQueue", use.queue.text()},
           {"used", amount_text(use.used, resource)},
           {"nominal", amount_text(use.nominal, resource)},
           {"borrowed", amount_text(use.borrowed, resource)},
           {"workloads", Json::array()}};
  for (const auto& h : use.holders) {
    Json one{{"workload", full_name(h.namespace_, h.name)}, {"priority", h.priority}, {"amount", amount_text(h.amount, resource)}};
    if (h.evicted) one["evicted"] = true;
    if (h.kept) one["keptForMigration"] = true;
    out["workloads"].push_back(std::move(one));
  }
  return out;
}

Json head_json(const QueueHead& head, Time now) {
  Json out{{"workload", head.name}, {"priority", head.priority}, {"position", head.position}, {"parked", head.parked}};
  if (head.since.is_set()) out["waitMilliseconds"] = (now - head.since).micros / 1'000;
  if (!head.reason.reason.empty()) out["reason"] = head.reason.reason;
  if (!head.reason.detail.empty()) out["detail"] = head.reason.detail;
  out["fits"] = head.fits;
  out["asks"] = Json::array();
  for (const auto& t : head.trials) {
    const auto amount = [&](Amount a) { return amount_text(a, t.resource); };
    Json one{{"podSet", t.pod_set},
             {"flavor", t.flavor.text()},
             {"resource", t.resource.text()},
             {"requested", amount(t.requested)},
             {"available", amount(std::max<Amount>(0, t.quota.figures.available))}};
    if (t.missing != 0) one["missing"] = amount(t.missing);
    if (!t.blocked_by.empty()) one["blockedBy"] = t.blocked_by;
    if (!t.mismatch.empty()) one["mismatch"] = t.mismatch;
    out["asks"].push_back(std::move(one));
  }
  out["preemption"] = head.preemption;
  return out;
}

}  // namespace

std::string to_text(const QueueWhy& why, bool colour) {
  std::string out;
  add_queue_line(why.object + (why.place.empty() ? "" : ", " + why.place) + ": " + (why.active ? "active" : "not active"), out);
  add_queue_line(why.headline, out);
  for (const auto& f : why.facts) add_queue_line("- " + f, out);
  if (why.head) write_head(*why.head, why.now, colour, out);
  if (!why.quota.empty()) write_quota(why, colour, out);
  for (const auto& pair : why.scarce) write_users_of(pair, colour, out);
  if (why.head && !why.head->preemption.empty()) {
    out += "Preemption for its head:\n";
    for (const auto& line : why.head->preemption) add_queue_line("  " + line, out);
  }
  if (why.reasons.empty()) {
    out += "Nobody waits.\n";
    return out;
  }
  add_queue_line("Waiting: " + counted_by_phase(why.waiters, [](const Waiter&) { return true; }), out);
  out += render(reasons_table(why.waiters, why.reasons, why.now, why.by_queue, std::numeric_limits<std::size_t>::max()),
                {.colour = colour, .indent = "  "});
  return out;
}

Json to_json(const QueueWhy& why) {
  Json out{{"object", why.object}, {"active", why.active}, {"headline", why.headline}, {"facts", why.facts}};
  if (why.head) out["head"] = head_json(*why.head, why.now);
  out["quotaOf"] = why.quota_of;
  out["quota"] = Json::array();
  for (const auto& q : why.quota) {
    const auto amount = [&](Amount a) { return amount_text(a, q.resource); };
    out["quota"].push_back({{"flavor", q.flavor.text()},
                            {"resource", q.resource.text()},
                            {"used", amount(q.used)},
                            {"nominal", amount(q.nominal)},
                            {"borrowed", amount(q.borrowed)},
                            {"available", amount(q.available)},
                            {"maximum", amount(q.maximum)}});
  }
  out["scarce"] = Json::array();
  for (const auto& pair : why.scarce) {
    Json one{{"flavor", pair.flavor.text()}, {"resource", pair.resource.text()}, {"used", amount_text(pair.total, pair.resource)}};
    if (pair.own) one["own"] = use_json(*pair.own, pair.resource);
    one["others"] = Json::array();
    for (const auto& other : pair.others) one["others"].push_back(use_json(other, pair.resource));
    if (pair.queues_left_out > 0)
      one["leftOut"] = {{"clusterQueues", pair.queues_left_out}, {"used", amount_text(pair.amount_left_out, pair.resource)}};
    if (pair.own) one["ownHeldByOthers"] = amount_text(pair.held_by_others, pair.resource);
    out["scarce"].push_back(std::move(one));
  }
  out["waiting"] = waiting_json(why.waiters, [](const Waiter&) { return true; });
  out["waiting"]["reasons"] = reasons_json(why.waiters, why.reasons, why.now, why.by_queue);
  return out;
}

}  // namespace hindsight::projections
