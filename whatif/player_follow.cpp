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
  if (std::holds_alternative<JobObserved>(o) || std::holds_alternative<WorkloadObserved>(o)) take_in(subject);
  if (followed.dropped) return;
  if (!world_->answers_for(subject) &&
      (options_.model_all || followed.course.has_left(now_) || (followed.course.differs() && otherwise_))) {
    const bool known = past_.driver().domain().find_parent(subject).has_value();
    if (known) leave(subject, !options_.model_all);  // of one that is not there yet, this is its arrival
  }
  if (world_->answers_for(subject)) return follow_modelled(subject, o);
  if (const auto* gone = std::get_if<ObjectDeleted>(&o)) forget_workload(followed, gone->uid);
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
    if (w->meta.deleting) follow_deletion(subject, w->meta.uid, w->meta.namespace_, w->meta.name);
  } else if (const auto* part = std::get_if<ObjectDeleted>(&o);
             part != nullptr && part->kind == ObjectKind::workload && part->uid != subject && part->departed_to.empty()) {
    follow_deletion(subject, part->uid, part->namespace_, part->name);
    forget_workload(followed, part->uid);
  } else if (const auto* gone = std::get_if<ObjectDeleted>(&o); gone != nullptr && gone->uid == subject) {
    if (!gone->departed_to.empty()) return depart(subject, std::string(gone->departed_to));
    followed.deleting = true;  // its Workloads follow
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

void Player::forget_workload(Followed& followed, std::string_view uid) {
  followed.workloads.erase(std::string(uid));
  followed.going.erase(std::string(uid));
}

/// Of a Workload of a job, on record: where it was a user who deleted it, the one that the job has here is deleted as well.
void Player::follow_deletion(const std::string& subject, std::string_view uid, std::string_view namespace_, std::string_view name) {
  Followed& followed = followed_[subject];
  if (uid == subject || followed.deleting || !followed.workloads.contains(uid)) return;  // with its job, or an Option
  if (!followed.going.emplace(uid).second) return;
  const auto index = past_.driver().domain().find_parent(subject);
  const auto* parent = index ? past_.driver().parent(*index) : nullptr;
  if (parent == nullptr || !parent->job()) return;
  const auto& all = parent->workloads();
  const auto of_name = [&](const WorkloadState& w) { return std::string_view(w.name) == name && w.namespace_.text() == namespace_; };
  const auto here = std::ranges::find_if(all, of_name);
  if (here == all.end()) return;
  const std::string what = "the deletion of Workload " + std::string(namespace_) + "/" + std::string(name);
  if (followed.finished && !here->finished())
    return contest(what + ", whose job had ended and " + std::string(now_text(standing_of(*parent->job()))) + " here: not carried out");
  if (!followed.finished && here->finished()) contest(what + ", whose job had not ended and has here: carried out");
  world_->remove_workload(subject, std::string(std::string_view(here->uid)));
}

/// Another domain goes on with it as it stands here, whatever the record says of its arrival there.
void Player::depart(const std::string& subject, const std::string& domain) {
  if (options_.on_departed) options_.on_departed(domain, {subject, world_->running_since(subject), world_->shown(subject)});
  world_->remove(subject, domain);
}

void Player::expect(Departed departed) {
  const std::string subject = departed.subject;
  arriving_.insert_or_assign(subject, std::move(departed));
}

/// What is on record of its arrival is of another fate: it comes as it was where it left.
void Player::take_in(const std::string& subject) {
  const auto it = arriving_.find(subject);
  if (it == arriving_.end()) return;
  const Departed arrived = std::move(it->second);
  arriving_.erase(it);
  if (arrived.observations.empty()) {
    followed_[subject].dropped = true;  // it was gone before it could have come here
    return;
  }
  otherwise_ = true;
  events::RecordReader reader;
  for (const auto& bytes : arrived.observations) {
    const auto read = reader.read(bytes);
    if (!read) {
      error_ = read.error();
      return;
    }
    const Observation o = std::get<Observation>((*read)->body);
    (void)subject_of(o);  // to whom it belongs
    tell(o);
  }
  world_->take_over(subject, arrived.running_since);
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
  followed.stopping = followed.stopping || o.stopping;
  followed.deleting = o.meta.deleting;
  if (o.suspended && !o.active && !o.elastic && !o.finished) {
    const std::uint64_t form = form_of(o.pod_sets);
    // Behind a stop it has its own sizes again, or those that its user gave it meanwhile (MR-65). Otherwise another form may be that of its
    // admission.
    if (std::exchange(followed.stopping, false) || !followed.may_be_started || now.form == 0 || now.form == form) {
      now.form = form;
      followed.may_be_started = false;
    }
  }
  const bool other_size = followed.user && edits_size(*followed.user, now);
  if (other_size && !o.elastic) now.form = 0;  // the size is a part of it, and is told already
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
