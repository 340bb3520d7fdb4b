#include "projections/beside.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::projections {
namespace {

/// A note comes at most so many records after what it is based on, and so long a stretch that has ended is kept for it.
constexpr std::uint64_t notes_late_max = 200'000;
/// How many rules' worth of reasons one matter names.
constexpr std::size_t whys_max = 6;
constexpr std::string_view preempted_reason = "Preempted";
/// Between the time that Kueue and that Hindsight let pass before they try again (BA-59).
constexpr Duration other_batching_max = Duration::seconds(2);

std::string assignment_line(std::string_view pod_set, std::int32_t count, std::vector<std::string> flavors) {
  std::sort(flavors.begin(), flavors.end());
  return std::string(pod_set) + " x" + std::to_string(count) + ": " + joined(flavors);
}

std::vector<std::string> assignment_lines(List<PodSetAssignmentFacts> assignments) {
  std::vector<std::string> out;
  for (const auto& a : assignments) {
    std::vector<std::string> flavors;
    for (const auto& f : a.flavors) flavors.push_back(std::string(f.resource) + "=" + std::string(f.flavor));
    out.push_back(assignment_line(a.pod_set, a.count, std::move(flavors)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> assignment_lines(const admission::Admission& admission) {
  std::vector<std::string> out;
  for (const auto& a : admission.pod_sets) {
    std::vector<std::string> flavors;
    for (const auto& [resource, flavor] : a.flavors) flavors.push_back(std::string(resource.text()) + "=" + std::string(flavor.text()));
    out.push_back(assignment_line(a.pod_set.text(), a.count, std::move(flavors)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Of "Preempted to accommodate a workload (UID: X, JobUID: Y) due to ..." the X; empty: it is no such message.
std::string preemptor_in(std::string_view message) {
  constexpr std::string_view before = "(UID: ";
  const auto begin = message.find(before);
  if (begin == std::string_view::npos) return {};
  message.remove_prefix(begin + before.size());
  const auto end = message.find_first_of(",)");
  return end == std::string_view::npos ? std::string() : std::string(message.substr(0, end));
}

std::string name_list(const std::set<std::string>& names) { return joined(std::vector<std::string>(names.begin(), names.end())); }

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, verdicts> names{"Same",        "Earlier",       "OtherFlavors", "OtherVictims",
                                                         "OtherReason", "OnlyHindsight", "OnlyKueue",    "TakenBack",
                                                         "Open",        "BothWait",      "Unseen",       "NotLooked"};
  return names.at(static_cast<std::size_t>(verdict));
}

bool is_difference(Verdict verdict) {
  using enum Verdict;
  return verdict == earlier || verdict == other_flavors || verdict == other_victims || verdict == other_reason ||
         verdict == only_hindsight || verdict == only_kueue;
}

std::uint64_t Beside::differences() const {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < verdicts; ++i)
    if (is_difference(static_cast<Verdict>(i))) out += counts_[i];
  return out;
}

// ---- what happens ---------------------------------------------------------------------------------------------------------------------

void Beside::begin(const StateView& state) {
  sequence_ = state.domain().sequence();
  now_ = state.now();
  watched_ = state.domain().synced();
  for (const WorkloadAt& at : all_workloads(state)) {
    const WorkloadState& w = *at.workload;
    Course& course = courses_[std::string(w.uid)];
    course.name = full_name(w.namespace_.text(), w.name);
    course.queue = queue_of(state, w).text();
    course.evicted = w.evicted();
    course.phase = w.finished() ? Phase::over : w.reserved() ? Phase::holds : Phase::waits;
    if (course.phase != Phase::over) open(course, course.phase == Phase::holds);
  }
}

void Beside::after(std::uint64_t offset, const RecordView& record, const StateView& state) {
  if (state.domain().sequence() == sequence_) return;  // a record that does not count
  sequence_ = state.domain().sequence();
  now_ = state.now();
  if (moments_.empty()) first_moment_ = sequence_;
  moments_.push_back({offset, now_});
  if (moments_.size() > notes_late_max) {
    moments_.pop_front();
    ++first_moment_;
  }
  if (const auto* started = std::get_if<EpochStarted>(&record.body)) {
    watched_ = false;  // until all has been listed, what is seen happened while nobody looked on
    observed_ |= started->observes;
  } else if (const auto* n = std::get_if<DecisionsNoted>(&record.body)) {
    note(offset, *n, state);
  } else if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* synced = std::get_if<MirrorSynced>(o)) watched_ = !synced->pending;
    if (const auto* w = std::get_if<WorkloadObserved>(o)) see(offset, *w, state);
    if (const auto* gone = std::get_if<ObjectDeleted>(o); gone != nullptr && gone->kind == ObjectKind::workload)
      if (const auto it = courses_.find(std::string(gone->uid)); it != courses_.end())
        follow(it->first, it->second, nullptr, offset, state);
  }
  if (sequence_ > notes_late_max) settle(sequence_ - notes_late_max);
}

void Beside::see(std::uint64_t offset, const WorkloadObserved& o, const StateView& state) {
  const WorkloadState* w = find_by_uid(state, o.meta.uid).workload;
  if (w == nullptr) return;
  const auto [it, first] = courses_.try_emplace(std::string(o.meta.uid));
  Course& course = it->second;
  if (first) course.name = full_name(w->namespace_.text(), w->name);
  if (const Symbol queue = queue_of(state, *w); !queue.empty()) course.queue = queue.text();
  if (first && w->reserved()) ++counts_[static_cast<std::size_t>(Verdict::unseen)];
  follow(it->first, course, w, offset, state);
}

void Beside::open(Course& course, bool holds) {
  Stretch& s = course.stretches.emplace_back();
  s.holds = holds;
  s.begin = sequence_;
  s.since = now_;
}

void Beside::close(const std::string& uid, Course& course) {
  if (course.stretches.empty() || course.stretches.back().end != 0) return;
  Stretch& s = course.stretches.back();
  s.end = sequence_;
  s.ended = now_;
  s.watched = watched_;
  ended_.emplace_back(sequence_, uid);
}

/// What has become of it, from one state to the next.
void Beside::follow(const std::string& uid, Course& course, const WorkloadState* w, std::uint64_t offset, const StateView& state) {
  if (w != nullptr && w->evicted() && !course.evicted && course.phase == Phase::holds) evicted(uid, course, *w, offset);
  course.evicted = w != nullptr && w->evicted();
  const Phase now = w == nullptr || w->finished() ? Phase::over : w->reserved() ? Phase::holds : Phase::waits;
  if (now == course.phase) return;
  if (now == Phase::holds && course.phase == Phase::waits && !course.stretches.empty()) {
    Stretch& s = course.stretches.back();
    SideOfTwo& kueue = s.kueue.emplace();
    kueue.record = offset;
    kueue.time = now_;
    kueue.cluster_queue = w->admission->cluster_queue.text();
    kueue.assignments = assignment_lines(*w->admission);
    s.why = known_causes(state, *w);
  }
  close(uid, course);
  course.phase = now;
  if (now != Phase::over) open(course, now == Phase::holds);
}

void Beside::evicted(const std::string& uid, Course& course, const WorkloadState& w, std::uint64_t offset) {
  const auto* condition = w.find(ConditionType::evicted);
  if (condition == nullptr) return;
  if (condition->reason.text() == preempted_reason) {
    const auto* preempted = w.find(ConditionType::preempted);
    const std::string by = preemptor_in(preempted == nullptr ? std::string_view(condition->message) : std::string_view(preempted->message));
    if (Stretch* s = stretch_at(by, sequence_, false)) s->preempted.insert(course.name);
    if (Stretch* s = stretch_at(uid, sequence_, true)) s->preempted_for = by;
    return;
  }
  if (Stretch* s = stretch_at(uid, sequence_, true); s != nullptr && !s->kueue) {
    SideOfTwo& kueue = s->kueue.emplace();
    kueue.record = offset;
    kueue.time = now_;
    kueue.cluster_queue = course.queue;
    kueue.reason = condition->reason.text();
    s->watched = watched_;
  }
}

// ---- what is noted --------------------------------------------------------------------------------------------------------------------

Beside::MomentOf Beside::moment_of(std::uint64_t sequence) const {
  if (sequence < first_moment_ || sequence - first_moment_ >= moments_.size()) return {0, now_};
  return moments_[static_cast<std::size_t>(sequence - first_moment_)];
}

/// The stretch of this kind that was under way after this record.
Beside::Stretch* Beside::stretch_at(std::string_view uid, std::uint64_t sequence, bool holds) {
  const auto it = courses_.find(std::string(uid));
  if (it == courses_.end()) return nullptr;
  auto& all = it->second.stretches;
  for (auto s = all.rbegin(); s != all.rend(); ++s)
    if (s->holds == holds && s->begin <= sequence && (s->end == 0 || sequence < s->end)) return &*s;
  return nullptr;
}

void Beside::note(std::uint64_t offset, const DecisionsNoted& n, const StateView& state) {
  ++notes_;
  SideOfTwo when;
  when.record = offset;
  when.time = moment_of(n.base).time;  // that it was written later is no merit of the other one
  for (const Event& e : n.events) {
    ++noted_[std::visit([]<class E>(const E&) { return std::string(events::Fields<E>::table); }, e)];
    note_event(e, n.base, when, state);
  }
  for (const WorkloadRef& w : n.withdrawn)
    if (Stretch* s = stretch_at(w.uid, n.base, false)) s->withdrawn = when.time;
  for (const WorkloadRef& w : n.would_not) looked(w, n.base);
}

void Beside::looked(const WorkloadRef& w, std::uint64_t base) {
  if (Stretch* s = stretch_at(w.uid, base, false)) s->looked = true;
  Stretch* held = stretch_at(w.uid, base, true);
  if (held == nullptr) return;
  held->looked = true;
  if (Stretch* s = stretch_at(held->preempted_for, base, false)) s->looked_at.insert(full_name(w));
}

void Beside::note_event(const Event& event, std::uint64_t base, const SideOfTwo& when, const StateView& state) {
  if (const auto* q = std::get_if<QuotaReserved>(&event)) {
    Stretch* s = stretch_at(q->workload.uid, base, false);
    if (s == nullptr) return;
    if (!s->hindsight) s->hindsight = when;
    s->hindsight->cluster_queue = q->cluster_queue;  // of several notes the newest is what it would do now; the first says since when
    s->hindsight->assignments = assignment_lines(q->assignments);
    s->withdrawn = Time::never();
  } else if (const auto* p = std::get_if<WorkloadPreempted>(&event)) {
    Stretch* s = stretch_at(p->preemptor.uid, base, false);
    if (s == nullptr) return;
    s->would_preempt.insert(full_name(p->workload));
    if (!s->first_preemption) s->first_preemption = when;
  } else if (const auto* r = std::get_if<EntryRequeued>(&event)) {
    if (Stretch* s = stretch_at(r->workload.uid, base, false))
      s->waits_for = std::string(r->reason) + (r->message.empty() ? "" : ": " + std::string(r->message));
  } else if (const auto* e = std::get_if<WorkloadEvicted>(&event); e != nullptr && e->reason != preempted_reason) {
    Stretch* s = stretch_at(e->workload.uid, base, true);
    if (s == nullptr || s->hindsight) return;
    s->hindsight = when;
    s->hindsight->reason = e->reason;
    if (const WorkloadState* w = find_by_uid(state, e->workload.uid).workload) s->why = known_causes(state, *w);
  }
}

// ---- judgement ------------------------------------------------------------------------------------------------------------------------

/// Stretches that ended before this: nothing will be said of them any more.
void Beside::settle(std::uint64_t before) {
  while (!ended_.empty() && ended_.front().first < before) {
    const auto it = courses_.find(ended_.front().second);
    ended_.pop_front();
    if (it == courses_.end() || it->second.stretches.empty()) continue;
    judge(it->second, it->second.stretches.front());
    it->second.stretches.pop_front();
    if (it->second.stretches.empty() && it->second.phase == Phase::over) courses_.erase(it);
  }
}

void Beside::finish(const StateView& state) {
  now_ = state.now();
  for (auto& [uid, course] : courses_)
    for (Stretch& s : course.stretches) {
      const bool would = s.hindsight || !s.would_preempt.empty();
      if (const WorkloadState* w = would && s.why.empty() ? find_by_uid(state, uid).workload : nullptr) s.why = known_causes(state, *w);
      judge(course, s);
    }
  courses_.clear();
  ended_.clear();
  std::stable_sort(matters_.begin(), matters_.end(), [](const Matter& a, const Matter& b) {
    const auto moment = [](const Matter& m) {
      const std::uint64_t one = m.hindsight ? m.hindsight->record : 0, other = m.kueue ? m.kueue->record : 0;
      return one == 0 ? other : other == 0 ? one : std::min(one, other);
    };
    return std::tuple(moment(a), a.workload) < std::tuple(moment(b), b.workload);
  });
}

void Beside::judge(const Course& course, const Stretch& s) {
  using enum Verdict;
  if (s.holds && !s.hindsight && !s.kueue) return;  // it kept its quota, and nobody would have had it otherwise
  Matter m;
  m.workload = course.name;
  m.cluster_queue = course.queue;
  m.eviction = s.holds;
  m.since = s.since;
  m.hindsight = s.hindsight;
  m.kueue = s.kueue;
  if (m.kueue && m.kueue->cluster_queue.empty()) m.kueue->cluster_queue = course.queue;
  if (s.holds)
    judge_holding(m, s);
  else
    judge_waiting(m, s);
  if (m.verdict == not_looked) m.why.push_back({"", "nobody found out what Hindsight would have done at that moment"});
  ++counts_[static_cast<std::size_t>(m.verdict)];
  if (!options_.keep_same && !is_difference(m.verdict)) return;
  if (matters_.size() >= options_.matters_max) {
    ++left_out_;
    return;
  }
  if (is_difference(m.verdict))
    for (const auto& why : s.why)
      if (m.why.size() < whys_max) m.why.push_back(why);
  matters_.push_back(std::move(m));
}

void Beside::judge_waiting(Matter& m, const Stretch& s) const {
  using enum Verdict;
  if (!m.hindsight && s.first_preemption) {
    m.hindsight = s.first_preemption;  // it would have begun to make room
    m.hindsight->cluster_queue = m.cluster_queue;
  }
  if (m.hindsight) m.hindsight->victims = s.would_preempt;
  if (m.kueue) m.kueue->victims = s.preempted;
  const Time end = s.end == 0 ? now_ : s.ended;
  if (m.kueue && m.hindsight) {
    m.difference = m.kueue->time - m.hindsight->time;
    const bool would_have_admitted = s.hindsight.has_value();
    const bool all_looked_at = std::all_of(s.preempted.begin(), s.preempted.end(), [&](const std::string& victim) {
      return s.would_preempt.contains(victim) || s.looked_at.contains(victim);
    });
    const Verdict about_victims = all_looked_at ? other_victims : not_looked;
    if (!would_have_admitted && s.would_preempt != s.preempted) {
      m.verdict = about_victims;
    } else if (!would_have_admitted) {  // both made the same room, and only one has used it by now
      m.verdict = m.difference <= options_.tolerance ? same : s.looked ? only_kueue : not_looked;
    } else if (m.hindsight->assignments != m.kueue->assignments || m.hindsight->cluster_queue != m.kueue->cluster_queue) {
      m.verdict = s.looked ? other_flavors : not_looked;
    } else if (s.would_preempt != s.preempted) {
      m.verdict = about_victims;
    } else {
      m.verdict = m.difference > options_.tolerance ? earlier : same;
    }
    if (m.verdict == earlier && m.difference <= other_batching_max)
      m.why.push_back({"BA-59", "quota that becomes free is given away here after 100 ms, and by Kueue after 1 s"});
  } else if (m.kueue) {
    m.verdict = !s.watched ? unseen : s.looked ? only_kueue : not_looked;
    if (m.verdict == not_looked) {
      // what an older look said is not about this moment
    } else if (!s.waits_for.empty()) {
      m.why.push_back({"", "Hindsight would have let it wait: " + s.waits_for});
    } else {
      m.why.push_back({"", "others of its ClusterQueue or cohort would have gone first"});
    }
  } else if (m.hindsight) {
    const bool ended = s.withdrawn.is_set() || s.end != 0;
    const Duration lasted = (s.withdrawn.is_set() ? s.withdrawn : end) - m.hindsight->time;
    m.verdict = lasted > options_.tolerance ? only_hindsight : ended ? taken_back : open;
    if (!s.preempted.empty()) m.why.push_back({"", "Kueue has preempted for it: " + name_list(s.preempted)});
    if (s.withdrawn.is_set()) m.why.push_back({"", "Hindsight would have until " + format_rfc3339_micro(s.withdrawn)});
  } else {
    m.verdict = both_wait;
    return;
  }
  if (m.hindsight && m.hindsight->victims != (m.kueue ? m.kueue->victims : std::set<std::string>()))
    m.why.push_back({"", "Hindsight would preempt " + (s.would_preempt.empty() ? std::string("nobody") : name_list(s.would_preempt))});
}

void Beside::judge_holding(Matter& m, const Stretch& s) const {
  using enum Verdict;
  if (m.hindsight) m.hindsight->cluster_queue = m.cluster_queue;
  if (m.hindsight && m.kueue) {
    m.difference = m.kueue->time - m.hindsight->time;
    m.verdict = m.hindsight->reason != m.kueue->reason ? other_reason : m.difference > options_.tolerance ? earlier : same;
  } else if (m.kueue) {
    m.verdict = !s.watched ? unseen : s.looked ? only_kueue : not_looked;
  } else {
    const Duration lasted = (s.end == 0 ? now_ : s.ended) - m.hindsight->time;
    m.verdict = lasted > options_.tolerance ? only_hindsight : s.end != 0 ? taken_back : open;
  }
}

// ---- words ----------------------------------------------------------------------------------------------------------------------------

Json to_json(const Matter& m) {
  const auto side = [&](const SideOfTwo& s) {
    Json out{{"record", s.record}, {"time", format_rfc3339_micro(s.time)}};
    if (!m.eviction) {
      if (!s.assignments.empty()) out["clusterQueue"] = s.cluster_queue;
      out["assignments"] = s.assignments;
      out["preempts"] = s.victims;
    }
    if (!s.reason.empty()) out["reason"] = s.reason;
    return out;
  };
  Json out{{"workload", m.workload},
           {"clusterQueue", m.cluster_queue},
           {"matter", m.eviction ? "Eviction" : "Admission"},
           {"verdict", name_of(m.verdict)}};
  if (m.since.is_set()) out["since"] = format_rfc3339_micro(m.since);
  if (m.hindsight) out["hindsight"] = side(*m.hindsight);
  if (m.kueue) out["kueue"] = side(*m.kueue);
  if (m.hindsight && m.kueue) out["earlierBySeconds"] = static_cast<double>(m.difference.micros) / 1e6;
  Json why = Json::array();
  for (const auto& w : m.why) {
    Json one{{"text", w.text}};
    if (!w.rule.empty()) one["rule"] = w.rule;
    why.push_back(std::move(one));
  }
  out["why"] = std::move(why);
  return out;
}

}  // namespace hindsight::projections
