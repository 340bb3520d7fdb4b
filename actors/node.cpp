#include "actors/node.hpp"

#include <future>
#include <mutex>
#include <optional>

#include <caf/all.hpp>

#include "actors/node_core.hpp"
#include "actors/supervisor.hpp"
#include "actors/system_thread.hpp"

namespace hindsight::actors {

class Node::Impl {
 public:
  Impl(events::Log& log, NodeOptions options) : core(std::make_shared<NodeCore>(log, std::move(options))) {
    system_ = std::make_unique<SystemThread>(core->options.threads, [this](caf::actor_system& system) {
      supervisor_ = system.spawn(supervisor_actor, core);
      caf::anon_send(supervisor_, start_atom::value);
    });
  }

  ~Impl() { (void)stop(); }

  Result<void> stop() {
    const std::lock_guard lock(stop_mutex_);
    if (!system_) return stop_result_;
    const auto timeout = core->options.stop_timeout;
    core->appender->refuse();
    caf::anon_send(supervisor_, stop_atom::value);
    bool clean = core->wait_for_end(timeout);
    if (!clean) {
      if (const auto sequencer = core->sequencer()) caf::anon_send_exit(sequencer, caf::exit_reason::kill);
      caf::anon_send_exit(supervisor_, caf::exit_reason::kill);
      core->end();
    }
    supervisor_ = nullptr;
    core->set_sequencer(SequencerActor());
    core->end_threads();  // before the system: they hold handles of its actors
    clean &= system_->end(timeout);
    system_.reset();
    if (const auto error = core->given_up())
      stop_result_ = tl::unexpected(*error);
    else if (!clean)
      stop_result_ = fail(ErrorKind::unavailable, "domain " + core->options.domain + ": not everything ended within " +
                                                      std::to_string(timeout.count()) + " ms; what was not written yet is lost");
    return stop_result_;
  }

  const std::shared_ptr<NodeCore> core;

 private:
  std::mutex stop_mutex_;
  Result<void> stop_result_;
  std::unique_ptr<SystemThread> system_;
  SupervisorActor supervisor_;
};

Node::Node(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Node::~Node() = default;

Result<std::unique_ptr<Node>> Node::start(events::Log& log, NodeOptions options) {
  if (options.domain.empty()) return fail(ErrorKind::invalid, "node: domain is empty; allowed: a name");
  if (!options.settings_reader) return fail(ErrorKind::invalid, "node: settings_reader is missing");
  if (!options.clock) return fail(ErrorKind::invalid, "node: clock is missing");
  if (options.observes && options.role != Role::whole)
    return fail(ErrorKind::invalid, "node: observes is set for a part of a node; allowed: for a whole one");
  return std::unique_ptr<Node>(new Node(std::make_unique<Impl>(log, std::move(options))));
}

Credit Node::observe(std::span<const Observation> observations) { return impl_->core->appender->observe(observations); }

bool Node::wait_for_credit(std::chrono::milliseconds timeout) { return impl_->core->appender->wait_for_credit(timeout); }

bool Node::observe_and_wait(const Observation& observation) {
  while (!wait_for_credit(std::chrono::seconds(1)))
    if (observe({}) == Credit::stopped) return false;
  return observe({&observation, 1}) != Credit::stopped;
}

void Node::allow_decisions() {
  impl_->core->allow_decisions();
  call([](admission::Entities&) {});  // it looks again after each job
}

void Node::claim() {
  impl_->core->allow_claim();
  if (const auto sequencer = impl_->core->sequencer()) caf::anon_send(sequencer, look_atom::value);
}

Result<void> Node::stop() { return impl_->stop(); }

Result<void> Node::wait() {
  impl_->core->wait_for_end();
  if (const auto error = impl_->core->given_up()) return tl::unexpected(*error);
  return {};
}

Result<void> Node::wait_until_rest() { return impl_->core->wait_until_rest(); }

Result<void> Node::advance_to(VirtualClock& clock, Time t) {
  for (;;) {
    if (auto ok = wait_until_rest(); !ok) return ok;
    const Time due = status().next_due;
    if (!due.is_set() || due > t || due <= clock.now()) break;
    clock.advance_to(due);
  }
  clock.advance_to(t);
  return wait_until_rest();
}

NodeStatus Node::status() const { return impl_->core->status(); }

Result<void> Node::inspect(std::function<void(const admission::StateView&)> look) {
  auto promise = std::make_shared<std::promise<void>>();
  auto future = promise->get_future();
  auto job = std::make_shared<Job>(impl_->core->open_jobs);
  job->looks = true;
  job->work = [look = std::move(look), promise](admission::Entities& entities) {
    look(entities);
    promise->set_value();
  };
  promise.reset();
  impl_->core->keep(job);
  if (const auto sequencer = impl_->core->sequencer()) caf::anon_send(sequencer, std::move(job));
  job.reset();
  try {
    future.get();
    return {};
  } catch (const std::future_error&) {  // the job was dropped
    return fail(ErrorKind::unavailable, "domain " + impl_->core->options.domain + " cannot be read: the node has stopped");
  }
}

Result<std::uint64_t> Node::state_hash() {
  std::uint64_t hash = 0;
  if (auto ok = inspect([&](const admission::StateView& view) { hash = view.state_hash(); }); !ok) return tl::unexpected(ok.error());
  return hash;
}

void Node::call(std::function<void(admission::Entities&)> work) {
  auto job = std::make_shared<Job>(impl_->core->open_jobs);
  job->leading = true;
  job->after = impl_->core->appender->load().taken;
  job->work = std::move(work);
  impl_->core->keep(job);
  if (const auto sequencer = impl_->core->sequencer()) caf::anon_send(sequencer, std::move(job));
}

}  // namespace hindsight::actors
