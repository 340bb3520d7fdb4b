// Where the Workloads of an entity stand in the queues, and what these are told when it changes.

#include <algorithm>

#include "admission/rules.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

/// `gated`: its admission gate holds it back.
bool admissible(const WorkloadState& w, const JobState* job, bool gated, const Catalog& catalog) {
  if (!w.active || w.finished() || w.deleting || w.removal_pending || w.reserved()) return false;
  if (gated || (job != nullptr && job->on_hold)) return false;
  if (!w.quarantined.empty() || (job != nullptr && !job->quarantined.empty())) return false;
  if (w.is_true(ConditionType::waiting_for_replacement_pods)) return false;
  const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
  return lq != nullptr && lq->stop_policy == StopPolicy::none && catalog.queue(lq->cluster_queue) != nullptr;
}

}  // namespace

void WorkloadParent::publish_all(Publish how, const Context& c, Outbox& out) {
  const auto chain = chain_of(c);
  for (std::size_t i = 0; i < workloads_.size(); ++i) publish(i, how, c, out, {nullptr, &chain});
}

void WorkloadParent::publish(std::size_t index, Publish how, const Context& c, Outbox& out, const Known& known) {
  WorkloadState& w = workloads_[index];
  Placement& at = placements_[index];
  using Kind = Placement::Kind;

  Kind kind = Kind::none;
  Symbol queue;
  const FamilyRole role = role_of(index, *c.catalog);
  std::size_t rank = Family::none;
  const Family* family = known.family;
  if (role == FamilyRole::option) {
    if (family == nullptr) family = &family_of(family_parent_of(w), c);
    rank = family->rank_of(index);
  }
  if (role == FamilyRole::parent && w.family && w.family->hold && !w.finished()) return publish_hold(index, c, out);
  bool holds = w.reserved() && w.active && !w.finished();  // deactivation frees quota at once (D4)
  if (role == FamilyRole::parent) {
    holds = holds && (!w.family || w.family->holds_itself);  // of an admission that it merely shows an Option holds the quota
  } else if (role == FamilyRole::option) {
    holds = w.reserved() && !w.finished();  // the job runs on it until it has stopped
  } else if (role == FamilyRole::stray) {
    holds = false;
  }
  if (holds) {
    kind = Kind::reserving;
    queue = w.admission->cluster_queue;
  } else if (role == FamilyRole::option) {
    if (rank != Family::none && option_may_wait(*family, rank, c)) {
      kind = Kind::pending;
      queue = family->queue->name;
    }
  } else if (role != FamilyRole::plain) {
    kind = Kind::none;
  } else if (admissible(w, job_ ? &*job_ : nullptr, !admission_gate(w, *c.catalog).empty(), *c.catalog) &&
             !withheld(index, c, known.chain)) {
    kind = Kind::pending;
    queue = cluster_queue_of(w, *c.catalog);
  }

  const Settings& settings = c.catalog->settings;
  tell_not_ready(index,
                 settings.block_admission && settings.pods_ready_enabled && role != FamilyRole::option &&
                     (holds || (w.family && w.reserved() && w.active && !w.finished())) && w.admitted() &&
                     !w.is_true(ConditionType::pods_ready),
                 out);

  if (at.kind != Kind::none && (kind == Kind::none || queue != at.queue)) {
    if (at.kind == Kind::pending) {
      const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
      const bool stopped = w.active && !w.finished() && lq != nullptr && lq->stop_policy != StopPolicy::none;
      out.send(self_, queue_address(at.queue), msg::Dequeue{w.id, stopped});
    } else {
      out.send(self_, queue_address(at.queue), msg::Release{w.id});
    }
  } else if (at.kind == Kind::reserving && kind == Kind::pending) {
    out.send(self_, queue_address(at.queue), msg::Release{w.id});
  }
  if (at.kind == Kind::reserving && kind != Kind::reserving) request_reactivation(w, c, out, at.queue);
  if (at.kind == Kind::pending && kind == Kind::none && (w.finished() || !w.active)) request_reactivation(w, c, out);

  if (kind == Kind::none) {
    const bool not_ready = at.not_ready;  // of a Parent, too, the domain knows it
    at = Placement{};
    at.not_ready = not_ready;
    tell_places_of(w, c, out);
    if (how.touched && w.reserved()) out.send(self_, queue_address(w.admission->cluster_queue), msg::CountersDue{});
    return;
  }
  const bool moved = at.kind != kind || at.queue != queue;
  if (moved || how.touched || how.repush || how.force || at.admitted != w.admitted()) {
    const WorkloadState* replaced = replaced_by(index, c, known.chain);
    std::optional<OptionPlace> place;
    if (rank != Family::none) place = option_place(*family, rank, c);
    if (role == FamilyRole::option && rank == Family::none) place = place_of_stranger(*family, w);
    auto info = make_info(w, *c.catalog, job_ ? job_->uid : w.owner_uid, replaced, place ? &*place : nullptr);
    at.held.reset();
    // what keeps an Option from being tried, or where it stands, has changed with something else of its family
    how.repush = how.repush || (place && at.kind == Kind::pending && at.info != nullptr && !is_told(*at.info, w, *c.catalog, *place));
    if (kind == Kind::pending) {
      // Beside another one stands what holds quota.
      if (c.rules >= rules_with_options_shown_together) at.beside = false;
      at.record_reason = Symbol();  // the queue answers if there is one
      out.send(self_, queue_address(queue), msg::Enqueue{info, moved || how.repush, how.force});
    } else {
      auto reservation = make_reservation(w, info, replaced);
      if (w.elastic) at.held = reservation = with_survivors(w, *reservation, c);
      at.beside = rank != Family::none ? counts_beside(*family, rank) : role == FamilyRole::option ? family->running != index : false;
      if (at.beside) {
        auto beside = std::make_shared<Reservation>(*reservation);
        beside->uncounted = true;
        reservation = std::move(beside);
      }
      // A job that moves, or races, pays once (CA-92).
      if (rank != Family::none && (at.beside || workloads_[family->parent].family->first_admitted.is_set())) how.assumed = false;
      msg::Reserve reserve{std::move(reservation), w.admitted(), how.assumed, !w.waits_for(Section::admission), {}};
      if (how.instead != nullptr) reserve.delta = slice_delta(effective_usage(w), effective_usage(*how.instead));
      out.send(self_, queue_address(queue), std::move(reserve));
    }
    at.info = std::move(info);
  }
  if (moved) at.record_reason = Symbol();
  if (at.held != nullptr && at.held->hold) at.held.reset();
  at.kind = kind;
  at.queue = queue;
  at.admitted = w.admitted();
  tell_places_of(w, c, out);
}

}  // namespace hindsight::admission
