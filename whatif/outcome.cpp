#include "whatif/outcome.hpp"

#include <algorithm>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/lookup.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

std::string key_of(const WorkloadState& w) { return std::string(w.namespace_.text()) + "/" + w.name.text(); }

/// Amount times whole milliseconds, in seconds; saturating.
std::int64_t amount_seconds(Amount amount, Duration time) {
  const WideAmount product = WideAmount{amount} * (time.micros / 1000) / 1000;
  return product > unlimited ? unlimited : static_cast<std::int64_t>(product);
}

std::string_view queue_of(const StateView& state, const WorkloadState& w) {
  if (w.admission) return w.admission->cluster_queue.text();
  const auto* lq = state.domain().catalog()->local_queue(w.namespace_, w.queue_name);
  return lq == nullptr ? std::string_view() : lq->cluster_queue.text();
}

/// One that comes from another domain is in both; what is known of the one that went stays.
void unite(Fate& fate, Fate&& other) {
  if (!other.departed && fate.departed) std::swap(fate, other);  // now `other` is the one that went, where one did
  fate.came = std::min(fate.came, other.came);
  if (other.started.is_set() && (!fate.started.is_set() || other.started < fate.started)) fate.started = other.started;
  if (!fate.ended.is_set()) fate.ended = other.ended;
  if (fate.queue.empty()) fate.queue = std::move(other.queue);
  if (fate.job.empty()) fate.job = std::move(other.job);
  fate.preempted += other.preempted;
  fate.evicted += other.evicted;
  fate.lost.micros += other.lost.micros;
}

}  // namespace

Duration Fate::waited(Time now) const {
  const Time until = started.is_set() ? started : ended.is_set() ? ended : now;
  return until > came ? until - came : Duration{};
}

void Ledger::begin(const StateView& state, std::string_view domain) {
  domain_ = domain;
  end_ = state.domain().now();
  begins_empty_ = state.domain().sequence() == 0;
  begin_ = begins_empty_ ? Time::never() : end_;
  for (const auto& at : projections::all_workloads(state)) {
    const WorkloadState& w = *at.workload;
    if (w.finished() || w.is_made_as_option()) continue;
    Fate* fate = fate_of(state, w.uid);
    if (fate == nullptr) continue;
    fate->came = std::max(begin_, w.created);
    if (!w.admitted()) continue;
    fate->started = begin_;
    fate->had_started = true;
    fate->admitted_since = w.find(ConditionType::admitted)->last_transition;
  }
  for (const auto& at : projections::all_workloads(state))
    if (at.workload->reserved() && !at.workload->finished()) hold(*at.workload, begin_);
}

void Ledger::hold(const WorkloadState& w, Time since) {
  Held held{since, std::string(w.admission->cluster_queue.text()), {}};
  for (const auto& p : w.admission->pod_sets)
    for (const auto& [resource, flavor] : p.flavors)
      for (const auto& [used, amount] : p.usage)
        if (used == resource) held.amounts.push_back({{std::string(flavor.text()), std::string(resource.text())}, amount});
  held_[w.uid.text()] = std::move(held);
}

void Ledger::absorb(Ledger other, std::string_view prefix) {
  const auto named = [&](const std::string& name) { return prefix.empty() ? name : std::string(prefix) + name; };
  // One that there was nothing of at the moment does not say when that was, unless that is all of them.
  if (other.begin_.is_set()) {
    const bool alike = begins_empty_ == other.begins_empty_, first = !begin_.is_set();
    if (first || (begins_empty_ && !alike))
      begin_ = other.begin_;
    else if (alike)
      begin_ = begins_empty_ ? std::min(begin_, other.begin_) : std::max(begin_, other.begin_);
    begins_empty_ = other.begins_empty_ && (begins_empty_ || first);
  }
  end_ = std::max(end_, other.end_);
  for (auto& [key, fate] : other.fates_) {
    if (!fate.queue.empty()) fate.queue = named(fate.queue);
    const auto it = fates_.find(named(key));
    if (it == fates_.end())
      fates_.emplace(named(key), std::move(fate));
    else
      unite(it->second, std::move(fate));
  }
  for (auto& [uid, held] : other.held_) {
    held.queue = named(held.queue);
    held_.insert_or_assign(named(uid), std::move(held));
  }
  for (const auto& [what, amount] : other.usage_) usage_[{named(what[0]), what[1], what[2]}] += amount;
  for (const auto& [what, amount] : other.lost_) lost_[{named(what[0]), what[1], what[2]}] += amount;
}

Fate* Ledger::fate_of(const StateView& state, std::string_view uid) {
  if (const auto it = names_.find(uid); it != names_.end()) return &fates_.at(it->second);
  auto at = projections::find_by_uid(state, uid);
  if (at.workload == nullptr) return nullptr;
  const WorkloadState* w = at.workload;
  if (w->is_made_as_option()) {
    const auto parent = projections::find_by_uid(state, w->option_of());
    if (parent.workload != nullptr) w = parent.workload;
  }
  const std::string key = key_of(*w);
  auto [it, first] = fates_.try_emplace(key);
  if (first) {
    it->second.came = state.domain().now();
    it->second.domain = domain_;
    it->second.queue = queue_of(state, *w);
    if (const auto& job = at.parent->job()) it->second.job = std::string(job->kind.text()) + "/" + job->name.text();
  }
  names_.emplace(std::string(uid), key);
  return &it->second;
}

void Ledger::give_back(std::string_view uid, Time now) {
  const auto it = held_.find(uid);
  if (it == held_.end()) return;
  for (const auto& [what, amount] : it->second.amounts)
    usage_[{it->second.queue, what.first, what.second}] += amount_seconds(amount, now - it->second.since);
  held_.erase(it);
}

/// It was given quota where nobody saw it: in another domain, from which it comes.
void Ledger::arrived_with_quota(const WorkloadState& w, Fate* fate, Time now) {
  hold(w, now);
  if (fate == nullptr || !w.admitted()) return;
  fate->admitted_since = std::max(begin_, w.find(ConditionType::admitted)->last_transition);
  if (!fate->started.is_set()) fate->started = fate->admitted_since;
}

void Ledger::see(const RecordView& record, const StateView& state) {
  if (!begin_.is_set()) begin_ = record.envelope.time;
  const Time now = end_ = std::max(end_, record.envelope.time);
  const auto ended = [&](std::string_view uid) {
    give_back(uid, now);
    Fate* fate = fate_of(state, uid);
    if (fate == nullptr || fate->ended.is_set()) return;
    fate->ended = now;
    fate->admitted_since = Time::never();
  };
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* w = std::get_if<WorkloadObserved>(o)) {
      const auto at = projections::find_by_uid(state, w->meta.uid);
      if (at.workload == nullptr || at.workload->is_made_as_option()) return;
      const bool first = !names_.contains(w->meta.uid);
      Fate* fate = fate_of(state, w->meta.uid);
      if (fate != nullptr && at.workload->finished()) ended(w->meta.uid);
      if (!at.workload->reserved())
        give_back(w->meta.uid, now);
      else if (first && !at.workload->finished())
        arrived_with_quota(*at.workload, fate, now);
    } else if (const auto* gone = std::get_if<ObjectDeleted>(o); gone != nullptr && gone->kind == ObjectKind::workload) {
      give_back(gone->uid, now);
      if (const auto it = names_.find(gone->uid); it != names_.end()) {
        Fate& fate = fates_.at(it->second);
        if (!fate.ended.is_set()) fate.gone = true;
        fate.departed = !gone->departed_to.empty();
        names_.erase(it);
      }
    }
    return;
  }
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr) return;
  const auto admitted = [&](std::string_view uid) {
    const auto at = projections::find_by_uid(state, uid);
    Fate* fate = fate_of(state, uid);
    if (fate == nullptr || at.workload == nullptr || !at.workload->admitted()) return;
    if (!fate->started.is_set()) fate->started = now;
    fate->admitted_since = now;
  };
  const auto evicted = [&](std::string_view uid, bool by_preemption) {
    Fate* fate = fate_of(state, uid);
    if (fate == nullptr) return;
    ++fate->evicted;
    if (by_preemption) ++fate->preempted;
    if (fate->admitted_since.is_set()) {
      const Duration in_vain = now - fate->admitted_since;
      fate->lost = {fate->lost.micros + in_vain.micros};
      if (const auto held = held_.find(uid); held != held_.end())
        for (const auto& [what, amount] : held->second.amounts)
          lost_[{held->second.queue, what.first, what.second}] += amount_seconds(amount, in_vain);
    }
    fate->admitted_since = Time::never();
  };
  for (const Event& e : d->events) {
    if (const auto* q = std::get_if<QuotaReserved>(&e)) {
      if (Fate* fate = fate_of(state, q->workload.uid)) fate->queue = q->cluster_queue;
      give_back(q->workload.uid, now);
      Held held{now, std::string(q->cluster_queue), {}};
      for (const auto& p : q->assignments)
        for (const auto& f : p.flavors)
          for (const auto& used : p.usage)
            if (used.resource == f.resource) held.amounts.push_back({{std::string(f.flavor), std::string(f.resource)}, used.amount});
      held_[std::string(q->workload.uid)] = std::move(held);
      if (q->admitted) admitted(q->workload.uid);
    } else if (const auto* a = std::get_if<WorkloadAdmitted>(&e)) {
      admitted(a->workload.uid);
    } else if (const auto* p = std::get_if<WorkloadPreempted>(&e)) {
      evicted(p->workload.uid, true);
    } else if (const auto* v = std::get_if<WorkloadEvicted>(&e)) {
      evicted(v->workload.uid, false);
    } else if (const auto* c = std::get_if<ReservationCleared>(&e)) {
      give_back(c->workload.uid, now);
    } else if (const auto* f = std::get_if<WorkloadFinished>(&e)) {
      ended(f->workload.uid);
    }
  }
}

std::map<std::string, Waits> Ledger::waits() const {
  std::map<std::string, std::vector<const Fate*>> by_queue;
  for (const auto& [key, fate] : fates_) {
    by_queue[""].push_back(&fate);
    by_queue[fate.queue.empty() ? "(none)" : fate.queue].push_back(&fate);
  }
  std::map<std::string, Waits> out;
  for (const auto& [queue, fates] : by_queue) {
    Waits w;
    std::vector<std::int64_t> waits;
    std::int64_t sum = 0;
    for (const Fate* f : fates) {
      w.started += f->started.is_set() ? 1 : 0;
      w.ended += f->ended.is_set() ? 1 : 0;
      w.preemptions += f->preempted;
      w.evictions += f->evicted;
      w.lost.micros += f->lost.micros;
      waits.push_back(f->waited(end_).micros);
      sum += waits.back();
    }
    w.workloads = fates.size();
    std::ranges::sort(waits);
    // nearest rank
    const auto rank = [&](std::size_t percent) { return Duration{waits[(waits.size() * percent + 99) / 100 - 1]}; };
    if (!waits.empty()) {
      w.mean = {sum / static_cast<std::int64_t>(waits.size())};
      w.p50 = rank(50);
      w.p95 = rank(95);
    }
    out.emplace(queue, w);
  }
  return out;
}

std::map<std::vector<std::string>, std::int64_t> Ledger::usage() const {
  auto out = usage_;
  for (const auto& [uid, held] : held_)
    for (const auto& [what, amount] : held.amounts) out[{held.queue, what.first, what.second}] += amount_seconds(amount, end_ - held.since);
  return out;
}

std::vector<std::size_t> Ledger::waiting(std::size_t n, Time until) const {
  std::vector<std::size_t> out(n, 0);
  if (n < 2 || until <= begin_) return out;
  for (std::size_t i = 0; i < n; ++i) {
    const Time t = begin_ + Duration{(until - begin_).micros / static_cast<std::int64_t>(n - 1) * static_cast<std::int64_t>(i)};
    if (t > end_) {
      out[i] = 0;
      continue;
    }
    for (const auto& [key, f] : fates_) {
      const Time left = f.started.is_set() ? f.started : f.ended.is_set() ? f.ended : end_ + Duration{1};
      if (f.came <= t && t < left) ++out[i];
    }
  }
  return out;
}

}  // namespace hindsight::whatif
