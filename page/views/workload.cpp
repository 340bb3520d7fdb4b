#include "page/views/workload.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "admission/domain/domain.hpp"
#include "page/views/lanes.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "page/views/story.hpp"
#include "projections/history_short.hpp"
#include "projections/objects.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::page {
namespace {

using projections::Target;
using projections::WorkloadAt;

constexpr std::size_t story_lines_max = 500, pods_shown_max = 200, other_lanes_max = 64;

std::string_view pod_phase(const admission::PodState& pod) {
  if (pod.failing) return "Failing";
  if (pod.ended) return "Ended";
  if (pod.terminating) return "Terminating";
  if (pod.gated || pod.topology_gated) return "Gated";
  return pod.node.empty() ? "Ungated" : "Bound";
}

void put_pods(Json& out, const WorkloadAt& at) {
  const auto& pods = at.parent->pods();
  out["pods"] = Json::array();
  for (const auto& pod : pods) {
    if (out["pods"].size() == pods_shown_max) break;
    Json one{{"name", pod.name}, {"podSet", pod.pod_set.text()}, {"phase", pod_phase(pod)}};
    if (!pod.node.empty()) one["node"] = pod.node.text();
    out["pods"].push_back(std::move(one));
  }
  out["podsLeftOut"] = pods.size() - out["pods"].size();
}

/// `own`: the object whose name goes without saying.
void put_story(Json& out, const Story& story, const std::string& own) {
  const auto lines = projections::condensed(story.entries);
  const std::size_t left_out = lines.size() > story_lines_max ? lines.size() - story_lines_max : 0;
  out["story"] = Json::array();
  for (std::size_t i = left_out; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const auto& entry = line.entry;
    Json one{{"position", entry.offset}, {"time", format_rfc3339_micro(entry.time)}};
    one["text"] = entry.object.empty() || entry.object == own ? entry.text : entry.object + ": " + entry.text;
    one["source"] = entry.decided ? "decided" : entry.noted ? "noted" : "observed";
    one["kind"] = entry.kind;
    one["times"] = line.times;
    if (entry.decided && entry.cause != 0) one["base"] = entry.cause;
    out["story"].push_back(std::move(one));
  }
  out["storyLeftOut"] = left_out;
  out["storyIsWhole"] = story.whole;
  out["place"] = to_json(story.place);
}

/// Those beside it that belong to the same job: slices of an elastic job, Options of a family.
void put_other_lanes(Json& lanes, const WorkloadAt& at, const projections::Trail& trail, Time now) {
  std::size_t put = 0;
  for (const auto& w : at.parent->workloads()) {
    if (&w == at.workload || put == other_lanes_max) continue;
    const auto life = trail.life(w.uid, now);
    if (!life) continue;
    Json lane = whole_lane(*life, w.name, object_ref(w));
    if (lane.is_null()) continue;
    lanes.push_back(std::move(lane));
    ++put;
  }
}

/// Whose records are read: those of its job where several Workloads stand for one, else its own.
Target story_target(const WorkloadAt& at) {
  const auto& all = at.parent->workloads();
  const auto own = std::count_if(all.begin(), all.end(), [](const auto& w) { return !w.is_made_as_option(); });
  const auto& job = at.parent->job();
  if (!job || own < 2) return {"Workload", std::string(at.workload->namespace_.text()), at.workload->name.text()};
  return {lower(job->kind.text()), std::string(job->namespace_.text()), job->name.text()};
}

Result<Json> one_that_is_there(const Look& look, const WorkloadAt& at) {
  const auto& state = look.past.driver();
  const auto from = begins_at(look, at);
  if (!from) return tl::unexpected(from.error());
  const Target target = story_target(at);
  const auto trail = read_trail(look, target, *from);
  if (!trail) return tl::unexpected(trail.error());
  const auto life = trail->life(at.workload->uid, state.now());
  const Time begins = life ? life->created : at.workload->created;
  const auto story = read_story(look, target, at.workload->uid, *from, begins);
  if (!story) return tl::unexpected(story.error());

  Json out = taken_at(look);
  out["object"] = projections::workload_object(state, at, projections::Detail::whole);
  out["exists"] = "yes";
  out["lanes"] = life ? life_lanes(*life) : Json::array();
  put_other_lanes(out["lanes"], at, *trail, state.now());
  put_story(out, *story, "Workload " + std::string(at.workload->namespace_.text()) + "/" + at.workload->name.text());
  put_pods(out, at);
  return out;
}

void put_nothing(Json& out) {
  out["object"] = nullptr;
  out["exists"] = "notYet";
  out["lanes"] = out["story"] = out["pods"] = Json::array();
  out["place"] = to_json(ViewCurve{});
  out["podsLeftOut"] = 0;
}

Result<Json> one_that_is_not_there(const Look& look, const Target& target) {
  const auto from = search_begins_at(look);
  if (!from) return tl::unexpected(from.error());
  const auto trail = read_trail(look, target, *from);
  if (!trail) return tl::unexpected(trail.error());
  Json out = taken_at(look);
  put_nothing(out);
  if (trail->met()) {
    const auto* end = trail->last_end();
    const auto life = end == nullptr ? std::nullopt : trail->life(end->uid, look.past.driver().now());
    const auto story = read_story(look, target, {}, *from, life ? life->created : look.past.driver().now());
    if (!story) return tl::unexpected(story.error());
    out["exists"] = "gone";
    if (life) out["lanes"] = life_lanes(*life);
    put_story(out, *story, target.text());
    if (end != nullptr) out["ended"] = place_json(end->offset, end->time);
    return out;
  }
  const auto appears = appears_at(look, target);
  if (!appears) return tl::unexpected(appears.error());
  if (!*appears)
    return fail(ErrorKind::not_found,
                printable(target.text()) + " is not there at position " + std::to_string(look.position()) +
                    ", and no record that was searched before and behind it names it: all of the log where its index " + "is there, else " +
                    std::to_string(absent_records_max) + " on either side");
  out["appears"] = place_json((*appears)->offset, (*appears)->time);
  return out;
}

}  // namespace

Result<Json> workload_view(const Look& look, const Parameters& parameters) {
  const Target target{"Workload", parameters.of_path("namespace"), parameters.of_path("name")};
  const Sight sight(look.past.driver(), look.audience);
  if (!sight.sees(target.namespace_)) return not_for_you(target.namespace_);
  const auto at = projections::find_workload(look.past.driver(), target);
  auto out = at ? one_that_is_there(look, *at) : one_that_is_not_there(look, target);
  if (out) sight.veil(*out);
  return out;
}

}  // namespace hindsight::page
