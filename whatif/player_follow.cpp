// What is on record of jobs and Workloads, played as it was or, for those that fare otherwise, as far as it is their users' doing.

#include <algorithm>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/jobs_again.hpp"
#include "whatif/object_key.hpp"
#include "whatif/player.hpp"
#include "whatif/subject.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

constexpr std::size_t contested_max = 1'000;

}  // namespace

void Player::follow(const std::string& subject, const Observation& o, const RecordView& r) {
  Followed& followed = followed_[subject];
  if (followed.dropped) return;
  if (!world_->answers_for(subject) &&
      (options_.model_all || followed.course.has_left(now_) || (followed.course.differs() && otherwise_))) {
    const bool known = past_.driver().domain().find_parent(subject).has_value();
    if (known) leave(subject, !options_.model_all);  // of one that is not there yet, this is its arrival
  }
  if (world_->answers_for(subject)) return follow_modelled(subject, o);
  if (const auto* w = std::get_if<WorkloadObserved>(&o)) follow_user(subject, followed, *w);
  if (const auto* job = std::get_if<JobObserved>(&o); job != nullptr && job->meta.uid == subject) {
    follow_user(subject, followed, *job);
    auto copy = *job;
    copy.start_settled = own_sequence(job->start_settled);
    append(Observation{copy}, r.envelope.epoch, own_sequence(r.envelope.cause));
    return;
  }
  if (const auto* refused = std::get_if<WriteRefused>(&o)) {
    auto copy = *refused;
    copy.decision_sequence = own_sequence(refused->decision_sequence);
    append(Observation{copy}, r.envelope.epoch, own_sequence(r.envelope.cause));
    return;
  }
  append(o, r.envelope.epoch, own_sequence(r.envelope.cause));
}

/// Of what is on record about one for whom the model answers, its user's doings are carried out.
void Player::follow_modelled(const std::string& subject, const Observation& o) {
  Followed& followed = followed_[subject];
  if (const auto* job = std::get_if<JobObserved>(&o); job != nullptr && job->meta.uid == subject) {
    follow_user(subject, followed, *job);
  } else if (const auto* w = std::get_if<WorkloadObserved>(&o)) {
    follow_user(subject, followed, *w);
  } else if (const auto* gone = std::get_if<ObjectDeleted>(&o); gone != nullptr && gone->uid == subject) {
    const auto index = past_.driver().domain().find_parent(subject);
    const auto* parent = index ? past_.driver().parent(*index) : nullptr;
    const auto standing = [&] {
      if (parent == nullptr || parent->empty()) return Standing::absent;
      return parent->job() ? standing_of(*parent->job()) : standing_of(parent->workloads().front());
    }();
    const std::string what = "the deletion of " + std::string(gone->namespace_) + "/" + std::string(gone->name);
    if (standing == Standing::absent) return;
    if (followed.finished && standing != Standing::ended)
      return contest(what + ", which had ended and " + std::string(now_text(standing)) + " here: not carried out");
    if (!followed.finished && standing == Standing::ended) contest(what + ", which had not ended and has here: carried out");
    world_->remove(subject);
  }
}

/// Before the first of its observations is seen, what its user decided is what the state says.
void Player::note_users() {
  const LoopDriver& driver = past_.driver();
  for (std::uint32_t i = 0; i < driver.domain().parent_count(); ++i) {
    const auto* parent = driver.parent(i);
    if (parent == nullptr || parent->empty()) continue;
    const std::string subject(whatif::subject_of(*parent));
    if (subject.empty()) continue;
    Followed& followed = followed_[subject];
    arena_.clear();
    if (const auto& job = parent->job()) {
      const JobObserved o = projections::observed_again(*job, arena_);
      followed.user = user_part_of(o);
      followed.finished = job->finished;
      followed.may_be_started =
          !job->suspended || job->active || std::ranges::any_of(parent->workloads(), [](const WorkloadState& w) { return w.reserved(); });
      if (!followed.may_be_started && !job->elastic) followed.user->form = form_of(o.pod_sets);
    }
    for (const auto& w : parent->workloads())
      if (w.option_of().empty()) followed.workloads.emplace(w.uid.text(), user_part_of(projections::observed_again(w, arena_)));
  }
}

void Player::follow_user(const std::string& subject, Followed& followed, const JobObserved& o) {
  UserPart now = user_part_of(o);
  now.form = followed.user ? followed.user->form : 0;
  if (o.suspended && !o.active && !o.elastic && !o.finished) {
    const std::uint64_t form = form_of(o.pod_sets);
    if (!followed.may_be_started || now.form == 0 || now.form == form) {  // else it may be that of the admission
      now.form = form;
      followed.may_be_started = false;
    }
  }
  const auto before = std::exchange(followed.user, std::move(now));
  followed.finished = o.finished;
  if (!before || !world_->answers_for(subject) || edited_parts(*before, *followed.user).empty()) return;
  const UserPart wanted = *followed.user;
  contest(std::string(o.kind) + " " + full(o.meta), standing_of(o), world_->edit(subject, *before, wanted, o));
}

/// Of a Workload that a job made, only what follows from nothing of the job.
void Player::follow_user(const std::string& subject, Followed& followed, const WorkloadObserved& o) {
  if (o.owner_kind == "Workload") return;
  const bool alone = o.meta.uid == subject;
  UserPart now = user_part_of(o);
  if (alone) followed.finished = standing_of(o) == Standing::ended;
  const auto [it, first] = followed.workloads.try_emplace(std::string(o.meta.uid), now);
  if (first) return;
  const UserPart before = std::exchange(it->second, now);
  if (!world_->answers_for(subject)) return;
  if (!alone) {
    const UserPart of_job = std::exchange(now, before);
    now.active = of_job.active;
    now.priority_boost = of_job.priority_boost;
  }
  if (!edited_parts(before, now).empty()) contest("Workload " + full(o.meta), standing_of(o), world_->edit(subject, before, now, o));
}

/// Tells of an edit that met its object elsewhere in life than on record, or was refused.
void Player::contest(const std::string& what, Standing then, const Edited& edited) {
  if (edited.refused.empty() && edited.here == then) return;
  std::string text;
  const auto add = [&](EditedPart part, const std::string& outcome) {
    text += (text.empty() ? "" : "; ") + std::string(text_of(part)) + ": " + outcome;
  };
  for (const EditedPart part : edited.done) add(part, "carried out");
  for (const auto& [part, why] : edited.refused) add(part, "not carried out, because " + why);
  contest("an edit of " + what + ", which " + std::string(then_text(then)) + " and " + std::string(now_text(edited.here)) +
          " here: " + text);
}

void Player::contest(const std::string& text) {
  if (report_.contested.size() < contested_max) report_.contested.push_back(format_rfc3339(now_) + " " + text);
}

}  // namespace hindsight::whatif
