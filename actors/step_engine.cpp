#include "actors/step_engine.hpp"

#include <algorithm>
#include <stdexcept>

#include <caf/all.hpp>

#include "actors/delivery.hpp"
#include "actors/entity_shell.hpp"
#include "actors/exception_text.hpp"

namespace hindsight::actors {

using admission::Address;
using admission::Entities;
using admission::Entity;
using admission::EntityKind;
using admission::Message;
using admission::Outbox;

namespace {

/// Enough that no thread waits long for the last batch of a round, and few enough that handing over costs little.
constexpr std::size_t batches_per_worker = 16;

}  // namespace

StepEngine::StepEngine(caf::scheduled_actor* self, admission::Domain::SettingsReader reader, EngineOptions options)
    : self_(self),
      entities_(std::make_shared<Entities>(std::move(reader))),
      options_(std::move(options)),
      counter_(std::make_shared<RoundCounter>()) {
  counter_->sequencer = caf::actor_cast<caf::actor>(self);
  counter_->hook = options_.hook;
}

StepEngine::~StepEngine() = default;

// ---- steps --------------------------------------------------------------------------------------------------------------------------

Result<void> StepEngine::apply(const RecordView& record, std::shared_ptr<const void> memory) {
  Outbox out;
  if (auto ok = entities_->domain().begin(record, out); !ok) return ok;
  counter_->memory = std::move(memory);
  applying_ = true;
  take(out);
  begin_round();
  return {};
}

Result<void> StepEngine::fold(const RecordView& record) {
  Outbox out;
  try {
    if (auto ok = entities_->domain().begin(record, out); !ok) return ok;
    entities_->deliver_all(out, true);
  } catch (...) {
    throw std::runtime_error("an entity failed when record " + std::to_string(record.envelope.sequence) +
                             " was folded: " + text_of(std::current_exception()));
  }
  entities_->domain().end();
  return {};
}

bool StepEngine::ask() {
  Outbox out;
  if (!entities_->domain().start_deciding(out)) return false;
  applying_ = false;
  take(out);
  begin_round();
  return true;
}

// ---- rounds -------------------------------------------------------------------------------------------------------------------------

void StepEngine::take(Outbox& out) {
  for (auto& m : out.messages()) waiting_.push_back(std::move(m));
  out.messages().clear();
}

void StepEngine::begin_round() {
  while (!waiting_.empty()) {
    ++rounds_;
    receivers_.clear();
    now_.clear();
    receiver_of_.clear();
    std::vector<Message> sent;
    sent.swap(waiting_);
    for (auto& m : sent) {
      if (m.to.kind == EntityKind::domain) {
        Outbox out;
        entities_->domain().receive(m, out);
        take(out);
      } else if (auto* entity = entities_->receiver(m, applying_)) {
        receiver_of_.push_back(receiver(m.to, entity));
        now_.push_back(std::move(m));
      } else if (std::holds_alternative<admission::msg::CloseQueue>(m.payload)) {
        drop(m.to);
      }
    }
    sent.clear();
    if (waiting_.empty()) waiting_.swap(sent);  // keep the memory
    if (receivers_.empty()) continue;
    order_by_receiver();
    if (receivers_.size() > options_.inline_receivers) {
      dispatch();
      return;
    }
    fill(1);
    work_on(*batches_.front(), options_.hook);
    take_answers();
  }
  in_round_ = false;
  entities_->sweep();
  if (applying_) entities_->domain().end();
  passivate();
}

/// Its number in this round.
std::uint32_t StepEngine::receiver(Address address, Entity* entity) {
  Slot& s = slot(address);
  if (s.round != rounds_) {
    s.round = rounds_;
    s.receiver = static_cast<std::uint32_t>(receivers_.size());
    receivers_.push_back({address, entity});
  }
  ++receivers_[s.receiver].messages;
  return s.receiver;
}

/// Messages for one receiver keep their order.
void StepEngine::order_by_receiver() {
  if (now_.size() == receivers_.size()) return;  // one each
  std::vector<std::uint32_t> next(receivers_.size(), 0), from(now_.size());
  for (std::size_t i = 1; i < next.size(); ++i) next[i] = next[i - 1] + receivers_[i - 1].messages;
  for (std::uint32_t i = 0; i < now_.size(); ++i) from[next[receiver_of_[i]]++] = i;
  std::vector<Message> ordered;
  ordered.reserve(now_.size());
  for (const std::uint32_t i : from) ordered.push_back(std::move(now_[i]));
  now_.swap(ordered);
}

/// Deals the receivers with their messages out to so many batches.
void StepEngine::fill(std::size_t batches) {
  batches_used_ = batches;
  while (batches_.size() < batches) batches_.push_back(std::make_shared<Batch>(counter_));
  const admission::Context context = entities_->domain().context();
  const auto& catalog = entities_->domain().catalog();
  std::size_t receiver = 0, message = 0;
  for (std::size_t i = 0; i < batches; ++i) {
    Batch& batch = *batches_[i];
    batch.context = context;
    batch.catalog = catalog;
    for (const std::size_t end = receivers_.size() * (i + 1) / batches; receiver < end; ++receiver) {
      const Receiver& r = receivers_[receiver];
      batch.parts.push_back({r.entity, r.messages});
      for (const std::size_t last = message + r.messages; message < last; ++message) batch.messages.push_back(std::move(now_[message]));
    }
  }
}

void StepEngine::dispatch() {
  in_round_ = true;
  const std::size_t batches = std::min(receivers_.size(), batches_per_worker * self_->system().scheduler().num_workers());
  fill(batches);
  counter_->missing.store(batches, std::memory_order_relaxed);
  for (std::size_t i = 0; i < batches; ++i) {
    const Address first = receivers_[receivers_.size() * i / batches].address;
    Slot& s = slot(first);
    if (first.kind == EntityKind::workload_parent) {
      if (!s.shell) s.shell = shell_for_parent();
      used(first.index);
    } else if (!s.shell) {
      s.shell = self_->spawn<caf::lazy_init + caf::monitored>(entity_shell, entities_);
    }
    caf::actor_cast<caf::abstract_actor*>(s.shell)->eq_impl(caf::make_message_id(), nullptr, self_->context(), batches_[i]);
  }
}

void StepEngine::take_answers() {
  for (std::size_t i = 0; i < batches_used_; ++i) {
    Batch& batch = *batches_[i];
    batch.parts.clear();
    batch.messages.clear();
    batch.catalog.reset();  // the domain may change it in place when nobody reads it
    take(batch.out);
  }
}

void StepEngine::end_round() {
  take_answers();
  begin_round();
}

// ---- shells -------------------------------------------------------------------------------------------------------------------------

StepEngine::Slot& StepEngine::slot(Address address) {
  auto& table = address.kind == EntityKind::workload_parent ? parents_
                : address.kind == EntityKind::cluster_queue ? queues_
                : address.kind == EntityKind::cohort_tree   ? trees_
                                                            : topology_domains_;
  if (address.index >= table.size()) table.resize(address.index + 1);
  return table[address.index];
}

void StepEngine::drop(Address address) {
  Slot& s = slot(address);
  if (!s.shell) return;
  s.shell = nullptr;  // nobody else holds it: it ends as unreachable
}

/// To make an actor costs more than most batches do: once there are enough, the one that has been idle longest changes hands.
EntityShell StepEngine::shell_for_parent() {
  if (shells_ >= options_.shells_max && oldest_ != none && parents_[oldest_].round != rounds_) {
    const std::uint32_t idle = oldest_;
    unlink(idle);
    return std::exchange(parents_[idle].shell, nullptr);
  }
  ++shells_;
  return self_->spawn<caf::lazy_init + caf::monitored>(entity_shell, entities_);
}

void StepEngine::used(std::uint32_t parent) {
  if (newest_ == parent) return;
  Slot& s = parents_[parent];
  if (s.older != none || s.newer != none || oldest_ == parent) unlink(parent);
  s.older = newest_;
  s.newer = none;
  if (newest_ != none) parents_[newest_].newer = parent;
  newest_ = parent;
  if (oldest_ == none) oldest_ = parent;
}

void StepEngine::unlink(std::uint32_t parent) {
  Slot& s = parents_[parent];
  (s.newer == none ? newest_ : parents_[s.newer].older) = s.older;
  (s.older == none ? oldest_ : parents_[s.older].newer) = s.newer;
  s.newer = s.older = none;
}

void StepEngine::passivate() {
  while (shells_ > options_.shells_max) {
    const std::uint32_t parent = oldest_;
    unlink(parent);
    drop({EntityKind::workload_parent, parent});
    --shells_;
  }
}

bool StepEngine::is_failure(const caf::down_msg& m) { return m.reason != caf::exit_reason::unreachable; }

}  // namespace hindsight::actors
