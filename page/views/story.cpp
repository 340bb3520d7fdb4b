#include "page/views/story.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "page/views/extra_state.hpp"
#include "page/views/records_about.hpp"
#include "page/views/refs.hpp"
#include "projections/format.hpp"
#include "projections/history_words.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::page {
namespace {

using projections::History;
using projections::HistoryEntry;
using projections::Mentions;
using projections::Target;

constexpr Duration clock_difference_max = Duration::seconds(60);
/// So often it is asked whether anybody still waits for the answer.
constexpr std::uint64_t records_between_questions = 4'096;
/// So many who stand in line are looked at for all points of a curve together.
constexpr std::size_t places_looked_at_max = 300'000;

/// The decisions about a Workload, in the words of a history.
class DecisionStory {
 public:
  explicit DecisionStory(const Target& target) : mentions_(target) {}

  void see(const events::StoredRecord& stored, const RecordView& record) {
    if (!mentions_.concerns(record)) return;
    const auto* d = std::get_if<Decisions>(&record.body);
    if (d == nullptr) return;
    for (const Event& event : d->events)
      if (mentions_.concerns(event)) tell(stored, record.envelope, d->base, event);
  }
  [[nodiscard]] const Mentions& mentions() const { return mentions_; }
  std::vector<HistoryEntry> entries;

 private:
  void tell(const events::StoredRecord& stored, const Envelope& envelope, std::uint64_t base, const Event& event) {
    const auto* p = std::get_if<WorkloadPreempted>(&event);
    const auto* r = std::get_if<SliceReplaced>(&event);
    const bool as_preemptor = p != nullptr && !mentions_.knows_workload(p->workload.uid);
    const bool as_replacement = r != nullptr && !mentions_.knows_workload(r->workload.uid);
    auto words = projections::words_for(event, as_preemptor || as_replacement);
    const WorkloadRef about = as_preemptor ? p->preemptor : as_replacement ? r->replacement : subject_of(event);
    HistoryEntry& entry = entries.emplace_back();
    entry.offset = stored.offset;
    entry.sequence = envelope.sequence;
    entry.epoch = envelope.epoch;
    entry.time = envelope.time;
    entry.decided = true;
    entry.cause = base;
    if (!about.name.empty()) entry.object = "Workload " + projections::full_name(about);
    entry.kind = std::move(words.kind);
    entry.text = std::move(words.text);
  }

  static WorkloadRef subject_of(const Event& event) {
    return std::visit(
        []<class E>(const E& e) {
          if constexpr (requires { e.workload; })
            return e.workload;
          else
            return WorkloadRef{};
        },
        event);
  }

  Mentions mentions_;
};

/// Looks on while records are folded, and keeps where a Workload stood in line at the ends of equal stretches of time.
class PlaceCurve {
 public:
  PlaceCurve(ViewCurve curve, std::string uid) : curve_(std::move(curve)), uid_(std::move(uid)) {}

  /// Nothing changes before `next`, the time of a record that is not applied yet.
  void before(Time next, const admission::StateView& state) {
    while (point_ < curve_.time.size() && curve_.time[point_] < next) note(state);
  }
  ViewCurve finish(const admission::StateView& state) {
    while (point_ < curve_.time.size()) note(state);
    return std::move(curve_);
  }

 private:
  void note(const admission::StateView& state) {
    const std::size_t point = point_++;
    const auto at = uid_.empty() ? projections::WorkloadAt{} : projections::find_by_uid(state, uid_);
    if (at.workload == nullptr || looked_at_ > places_looked_at_max) return;
    const auto place = projections::place_of(state, at);
    if (!place) return;
    looked_at_ += place->waiting;
    curve_.value[point] = static_cast<std::int64_t>(place->position);
  }

  ViewCurve curve_;
  std::string uid_;
  std::size_t point_ = 0, looked_at_ = 0;
};

/// Folds once more what the look has folded, and tells of it.
Result<void> fold_story(const Look& look, const Target& target, Position from, PlaceCurve& place, Story& out) {
  const auto turn = ExtraState::wait(look.is_over);
  if (!turn) return tl::unexpected(turn.error());
  replay::Past past(look.log, look.past.domain_name());
  if (auto there = ExtraState::go_to(past, from - 1, look.is_over); !there) return there;
  History history(target);
  past.look_on(
      [&](Position, const RecordView& record) {
        place.before(record.envelope.time, past.driver());
        history.before(record, past.driver());
      },
      [&](Position offset, const RecordView& record) { history.after(offset, record, past.driver()); });
  events::RecordReader reader;
  past.look_on_passed_over([&](const events::StoredRecord& stored) {
    if (const auto record = reader.read(stored.bytes); record) history.passed_over(stored.offset, **record);
  });
  while (past.position() < look.position()) {
    if (look.is_over()) return nobody_waits();
    if (auto ok = past.fold_to(std::min<Position>(look.position(), past.position() + records_between_questions)); !ok) return ok;
  }
  out.entries = history.entries();
  out.place = place.finish(past.driver());
  return {};
}

/// What a trail has to see: what is about its Workloads, who is given quota where one of them waits, as long as it is told by name, and
/// where its LocalQueue leads.
std::vector<timeline::Token> tokens_of_trail(const projections::Trail& trail) {
  auto out = tokens_of(trail.mentions());
  out.push_back(timeline::local_queues_token(trail.mentions().target().namespace_));
  for (const auto& waits : trail.waits_in())
    if (waits.names_wanted) out.push_back(timeline::grant_token(waits.cluster_queue));
  return out;
}

void leave_out(projections::Trail& trail, const timeline::Segment& segment) {
  std::set<std::string> queues;
  for (const auto& waits : trail.waits_in()) queues.insert(waits.cluster_queue);
  for (const auto& queue : queues) {
    const auto token = timeline::grant_token(queue);
    const auto at = std::ranges::lower_bound(segment.grants(), token, {}, &timeline::Grants::queue);
    if (at != segment.grants().end() && at->queue == token) trail.pass_by(queue, at->count);
  }
  const auto& stand = segment.stand();
  trail.leave_out(stand.sequence, stand.epoch, stand.decided_base, stand.now);
}

/// With an index of the log so much less is read that all of it can be searched.
bool is_indexed(const Look& look, Position from, Position to) {
  return look.objects != nullptr && look.objects->begin() < std::max<Position>(from, 1) + timeline::Segment::records &&
         look.objects->end() + absent_records_max >= to;
}

}  // namespace

Result<Position> begins_at(const Look& look, const projections::WorkloadAt& at) {
  const auto first = look.log.first();
  if (!first) return first;
  Time created = at.workload->created;
  for (const auto& w : at.parent->workloads())
    if (!w.created.is_set() || w.created < created) created = w.created;
  if (!created.is_set()) return *first;
  const auto from = look.log.seek(std::max(created - clock_difference_max, Time{0}));
  if (!from) return from;
  return std::clamp(*from, *first, std::max(*first, look.position() + 1));
}

Result<projections::Trail> read_trail(const Look& look, const Target& target, Position from) {
  projections::Trail trail(target);
  for (const auto& [key, queue] : look.past.driver().domain().catalog()->local_queues)
    trail.know_local_queue(key.first.text(), key.second.text(), queue.cluster_queue.text());
  const auto read = read_records_about(look, from, look.position(),
                                       {.wants = [&] { return tokens_of_trail(trail); },
                                        .see =
                                            [&](const auto& stored, const RecordView& record) {
                                              trail.add(stored.offset, record);
                                              return true;
                                            },
                                        .left_out = [&](const timeline::Segment& segment) { leave_out(trail, segment); }});
  if (!read) return tl::unexpected(read.error());
  return trail;
}

Result<Position> search_begins_at(const Look& look) {
  const auto first = look.log.first();
  if (!first) return first;
  if (is_indexed(look, *first, look.position())) return *first;
  return std::max(*first, look.position() > absent_records_max ? look.position() - absent_records_max : Position{1});
}

Result<std::optional<events::StoredRecord>> appears_at(const Look& look, const Target& target) {
  const auto last = look.log.last();
  if (!last) return tl::unexpected(last.error());
  std::optional<events::StoredRecord> out;
  Mentions mentions(target);
  const bool all = is_indexed(look, look.position() + 1, *last);
  const Position to = all ? *last : std::min(*last, look.position() + absent_records_max);
  const auto read = read_records_about(look, look.position() + 1, to,
                                       {.wants = [&] { return tokens_of(mentions); },
                                        .see =
                                            [&](const auto& stored, const RecordView& record) {
                                              if (!mentions.concerns(record)) return true;
                                              out = stored;
                                              out->bytes = {};  // they live as long as the batch that they were read in
                                              out->domain = {};
                                              return false;
                                            }});
  if (!read) return tl::unexpected(read.error());
  return out;
}

Result<Story> read_story(const Look& look, const Target& target, std::string_view uid, Position from, Time begins) {
  Story out;
  const Time now = look.past.driver().now();
  out.place = empty_curve(std::min(begins, now), now, place_points);
  const bool long_way = from <= look.position() && look.position() - from >= story_fold_records_max;
  if (!long_way && look.past.driver().domain().parent_count() <= story_fold_parents_max) {
    PlaceCurve place(out.place, std::string(uid));
    const auto folded = fold_story(look, target, from, place, out);
    if (folded) return out;
    // Of a log that was trimmed the state before the first record may be one that no snapshot helps to.
    if (folded.error().kind != ErrorKind::not_found) return tl::unexpected(folded.error());
  }
  out.whole = false;
  DecisionStory story(target);
  const auto read = read_records_about(look, from, look.position(),
                                       {.wants = [&] { return tokens_of(story.mentions()); },
                                        .see =
                                            [&](const auto& stored, const RecordView& record) {
                                              story.see(stored, record);
                                              return true;
                                            }});
  if (!read) return tl::unexpected(read.error());
  out.entries = std::move(story.entries);
  return out;
}

}  // namespace hindsight::page
