// A trace as JSON; docs/debugger.md says what is what.

#include <nlohmann/json.hpp>

#include "admission/scheduling/outcome_text.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/how.hpp"

namespace hindsight::projections {
/// These files are joined into few, and others have helpers of the same names.
namespace how_in_json {
namespace {

using namespace admission;
using events::api_name;

std::string step_name(PreemptionStep::Kind kind) {
  using Kind = PreemptionStep::Kind;
  switch (kind) {
    case Kind::begins:
      return "Begins";
    case Kind::taken:
      return "Taken";
    case Kind::spared:
      return "Spared";
    case Kind::exhausted:
      return "Exhausted";
    case Kind::put_back:
      return "PutBack";
    case Kind::passed_over:
    case Kind::queue_passed:
      return "PassedOver";
  }
  return {};
}

std::string with_name(TracedAttempt::With with) {
  return with == TracedAttempt::With::all ? "AllPods" : with == TracedAttempt::With::fewer_pods ? "FewerPods" : "OtherSizes";
}

std::string on_name(TracedNomination::On on) {
  return on == TracedNomination::On::present ? "Present" : on == TracedNomination::On::projected ? "AfterPreemptions" : "OtherPlaces";
}

std::string verdict_name(TracedFlavor::Verdict v) {
  using Verdict = TracedFlavor::Verdict;
  return v == Verdict::ruled_out ? "RuledOut" : v == Verdict::worse ? "NotBetter" : v == Verdict::better ? "BestSoFar" : "Taken";
}

void put(Json& out, const char* key, const std::string& value) {
  if (!value.empty()) out[key] = value;
}
void put_if(Json& out, const char* key, bool is_so) {
  if (is_so) out[key] = true;
}

/// A list under a key, with how many were left out beside it.
template <class T, class F>
void put_list(Json& out, const std::string& key, const Cut<T>& cut, F&& each) {
  out[key] = Json::array();
  for (const T& one : cut.list) out[key].push_back(each(one));
  if (cut.left_out != 0) out[key + "LeftOut"] = cut.left_out;
}

Json share_json(const Share& s) { return s.infinite() ? Json("infinite") : Json(s.value()); }

Json amount_json(const TracedAmount& a) {
  return {{"flavor", text(a.flavor)}, {"resource", text(a.resource)}, {"amount", amount_text(a.amount, a.resource)}};
}

Json candidate_json(const TracedCandidate& c) {
  Json out{{"step", step_name(c.kind)}};
  if (c.kind == PreemptionStep::Kind::begins) {
    out["mayBorrow"] = c.borrowing;
    return out;
  }
  out["workload"] = c.workload;
  out["clusterQueue"] = text(c.queue);
  out["priority"] = c.priority;
  put_if(out, "evictedAlready", c.evicted);
  if (c.kind == PreemptionStep::Kind::exhausted) out["because"] = c.unusable ? "BorrowWithinCohort" : "WithinNominalQuota";
  if (c.victim) out["victim"] = text(reason_symbol(*c.victim));
  if (c.shares) {
    out["shares"] = {{"strategy", name_of(c.shares->strategy)},
                     {"preemptor", c.shares->preemptor},
                     {"preemptorAfter", share_json(c.shares->preemptor_new)},
                     {"other", c.shares->other},
                     {"otherBefore", share_json(c.shares->other_old)}};
    if (c.shares->other_new) out["shares"]["otherAfter"] = share_json(*c.shares->other_new);
  }
  return out;
}

Json passed_json(const TracedPassed& p) {
  Json out{{"where", p.where}, {"because", name_of(p.why)}};
  if (p.workloads != 0) out["workloads"] = p.workloads;
  put(out, "first", p.first);
  return out;
}

Json search_json(const TracedSearch& s) {
  Json out{{"victims", s.victims}, {"asked", Json::array()}, {"needed", Json::array()}};
  for (const auto& a : s.asked) out["asked"].push_back(amount_json(a));
  for (const auto& a : s.need) out["needed"].push_back(amount_json(a));
  put_if(out, "withPlaces", s.with_places);
  put_list(out, "steps", s.candidates, candidate_json);
  put_list(out, "passedOver", s.passed, passed_json);
  return out;
}

Json flavor_json(const TracedFlavor& f) {
  Json out{{"flavor", text(f.flavor)}, {"verdict", verdict_name(f.verdict)}, {"mode", name_of(f.mode)}, {"borrowingLevel", f.level}};
  put(out, "because", f.why);
  out["resources"] = Json::array();
  for (const auto& r : f.resources) {
    Json one{{"resource", text(r.resource)},
             {"asked", amount_text(r.asked, r.resource)},
             {"free", amount_text(r.offered, r.resource)},
             {"maximum", amount_text(r.potential, r.resource)},
             {"mode", name_of(r.mode)},
             {"borrowingLevel", r.level}};
    put(one, "because", r.finding);
    out["resources"].push_back(std::move(one));
  }
  return out;
}

Json scan_json(const TracedScan& s) {
  Json out{{"podSets", Json::array()}};
  for (const Symbol& p : s.pod_sets) out["podSets"].push_back(text(p));
  put(out, "resumesBehind", text(s.resumes_behind));
  put_list(out, "flavors", s.flavors, flavor_json);
  put(out, "chosen", text(s.chosen));
  return out;
}

Json attempt_json(const TracedAttempt& a) {
  Json out{{"with", with_name(a.with)}, {"mode", name_of(a.mode)}, {"borrowingLevel", a.level}, {"counts", Json::object()}};
  for (const auto& [pod_set, n] : a.counts) out["counts"][text(pod_set)] = n;
  put(out, "message", a.message);
  out["scans"] = Json::array();
  for (const auto& s : a.scans) out["scans"].push_back(scan_json(s));
  put_list(out, "searches", a.searches, search_json);
  for (const auto& p : a.places) {
    Json one{{"podSet", text(p.pod_set)}, {"flavor", text(p.flavor)}};
    put_list(one, "domains", p.domains, [](const auto& d) { return Json{{"domain", d.first}, {"pods", d.second}}; });
    out["places"].push_back(std::move(one));
  }
  return out;
}

Json order_json(const TracedEntry& e) {
  Json out = Json::object();
  put(out, "before", e.next);
  put(out, "by", std::string(name_of(e.by)));
  for (const auto& r : e.rounds) {
    Json one{{"node", r.node}, {"share", share_json(r.share)}, {"borrows", r.borrows}, {"others", r.others}};
    if (!r.next_node.empty()) {
      one["before"] = r.next_node;
      put(one, "beforeWorkload", r.next_workload);
      one["beforeShare"] = share_json(r.next_share);
      one["by"] = name_of(r.by);
    }
    out["rounds"].push_back(std::move(one));
  }
  return out;
}

Json entry_json(const TracedEntry& e) {
  Json out{{"workload", e.workload},     {"uid", e.uid},           {"clusterQueue", text(e.queue)}, {"priority", e.priority},
           {"outcome", name_of(e.kind)}, {"recorded", e.recorded}, {"detailed", e.detailed}};
  if (e.queue_time.is_set()) out["queuedAt"] = format_rfc3339_micro(e.queue_time);
  put_if(out, "preemptor", e.preemptor);
  put(out, "family", e.family);
  put_if(out, "standsForFamily", e.for_family);
  put_if(out, "followsSibling", e.follows);
  if (e.had_turn) out["order"] = order_json(e);
  out["nominations"] = Json::array();
  for (const auto& n : e.nominations) {
    Json one{{"on", on_name(n.on)}, {"mode", name_of(n.mode)}, {"borrowingLevel", n.level}, {"victims", n.victims}};
    put_list(one, "attempts", n.attempts, attempt_json);
    out["nominations"].push_back(std::move(one));
  }
  if (e.kind == Outcome::Kind::requeue || e.kind == Outcome::Kind::migrate) {
    out["requeueReason"] = api_name(e.requeue_reason);
    out["triedAgain"] = e.to_heap;
    if (e.parked_with != 0) out["parkedWith"] = e.parked_with;
  }
  put(out, "reason", text(e.reason));
  put(out, "message", e.message);
  out["borrowingLevel"] = e.level;
  put(out, "recomputed", std::string(api_name(e.recomputed)));
  put_if(out, "postponed", e.postponed);
  for (std::size_t i = 0; i < e.lacks.size(); ++i) {
    Json one = amount_json(e.lacks[i]);
    one["free"] = amount_text(e.lacks_offered[i], e.lacks[i].resource);
    out["lacks"].push_back(std::move(one));
  }
  for (const auto& c : e.charged) out["takes"].push_back(amount_json(c));
  if (!e.shared_victims.list.empty())
    put_list(out, "victimsOfOthers", e.shared_victims, [](const std::string& name) { return Json(name); });
  put(out, "givesWayTo", e.gives_way_to);
  put(out, "withheldFor", e.withheld_for);
  if (!e.victims.list.empty())
    put_list(out, "victims", e.victims, [](const auto& v) { return Json{{"workload", v.first}, {"reason", text(v.second)}}; });
  return out;
}

Json tree_json(const Decided& d, const TracedTree& t, const HowFilter& filter) {
  Json out{{"root", text(t.root)}, {"events", t.events}, {"recorded", t.recorded}};
  put_if(out, "blocked", t.blocked);
  put(out, "whyNotRecorded", why_not_recorded(d, t));
  if (!t.second_passes.list.empty())
    put_list(out, "secondPasses", t.second_passes, [](const TracedSecondPass& p) {
      Json one{{"workload", p.workload}, {"failedNodes", p.failed_nodes}, {"placed", p.placed}};
      put(one, "message", p.message);
      return one;
    });
  out["rounds"] = Json::array();
  for (const auto& r : t.rounds) {
    Json round{{"heads", r.heads}, {"entries", Json::array()}};
    std::size_t left_out = r.left_out;
    for (const auto& e : r.entries) {
      if (!filter.is_set() || filter.matches(e))
        round["entries"].push_back(entry_json(e));
      else
        ++left_out;
    }
    if (left_out != 0) round["leftOut"] = left_out;
    out["rounds"].push_back(std::move(round));
  }
  return out;
}

}  // namespace
}  // namespace how_in_json

Json how_otherwise_json(const Decided& d, const MadeOtherwise& difference) {
  return {{"position", d.position},
          {"time", format_rfc3339_micro(d.time)},
          {"epoch", d.epoch},
          {"rules", d.rules},
          {"base", {{"position", d.base}, {"record", d.base_record}}},
          {"step", events::api_name(d.kind)},
          {"events", d.recorded_events},
          {"asRecorded", false},
          {"difference",
           {{"event", difference.event},
            {"eventKind", difference.event_kind},
            {"field", difference.field},
            {"recorded", difference.recorded},
            {"madeAgain", difference.made_again}}},
          {"because", why_otherwise(d)}};
}

Json how_json(const Decided& d, const HowFilter& filter) {
  Json out{{"position", d.position},
           {"time", format_rfc3339_micro(d.time)},
           {"epoch", d.epoch},
           {"rules", d.rules},
           {"base", {{"position", d.base}, {"record", d.base_record}}},
           {"step", events::api_name(d.kind)},
           {"events", d.events.size()},
           {"asRecorded", true},
           {"trees", Json::array()}};
  how_in_json::put_if(out, "cut", d.trace->is_cut());
  if (d.kind != StepKind::cycle) return out;
  for (const auto& t : d.trace->trees())
    if (t.events != 0 || filter.is_set()) out["trees"].push_back(how_in_json::tree_json(d, t, filter));
  if (d.trace->trees_left_out() != 0) out["treesLeftOut"] = d.trace->trees_left_out();
  return out;
}

}  // namespace hindsight::projections
