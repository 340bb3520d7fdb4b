#include "actors/actor_driver.hpp"

#include <algorithm>
#include <future>
#include <mutex>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/defaults.hpp"
#include "actors/step_engine.hpp"
#include "actors/system_config.hpp"

namespace hindsight::actors {

using admission::Domain;

namespace {

/// Why the domain died; written by its actor, read by the caller.
struct Obituary {
  std::mutex mutex;
  std::string text = "the domain's actors have ended";
};

struct DriverState {
  std::unique_ptr<StepEngine> engine;
  Task task;

  void go_on() {
    while (task && !engine->busy())
      if (!task(*engine)) task = nullptr;
  }
};

DriverActor::behavior_type driver_actor(DriverActor::stateful_pointer<DriverState> self, Domain::SettingsReader reader,
                                        EngineOptions options, const std::shared_ptr<Obituary>& obituary) {
  install_defaults(self, "driver");
  self->state.engine = std::make_unique<StepEngine>(self, std::move(reader), std::move(options));
  self->set_down_handler([self, obituary](caf::scheduled_actor*, caf::down_msg& m) {
    if (!StepEngine::is_failure(m)) return;
    {
      const std::lock_guard lock(obituary->mutex);
      obituary->text = text_of(self->system(), m.reason);
    }
    self->quit(std::move(m.reason));
  });
  return {
      [self](round_over) {
        self->state.engine->end_round();
        self->state.go_on();
      },
      [self](Task& task) {
        self->state.task = std::move(task);
        self->state.go_on();
      },
  };
}

}  // namespace

class ActorDriver::Impl {
 public:
  Impl(Domain::SettingsReader reader, Options options)
      : config_(options.schedule_seed ? SchedulerPolicy::testing : SchedulerPolicy::batching, options.threads),
        system_(config_),
        seed_(options.schedule_seed.value_or(0)),
        manual_(options.schedule_seed.has_value()) {
    EngineOptions engine;
    engine.shells_max = options.shells_max;
    engine.inline_receivers = options.inline_receivers;
    engine.hook = std::move(options.hook);
    actor_ = system_.spawn(driver_actor, std::move(reader), std::move(engine), obituary_);
    if (manual_) run_jobs([] { return false; });
  }

  ~Impl() {
    caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
    actor_ = nullptr;
    if (manual_) run_jobs([] { return false; });
  }

  /// Carries out a task and gives what it put into its promise.
  template <class T>
  Result<T> run(std::function<bool(StepEngine&, std::promise<T>&)> task) {
    auto promise = std::make_shared<std::promise<T>>();
    auto future = promise->get_future();
    caf::anon_send(actor_,
                   Task([promise = std::move(promise), task = std::move(task)](StepEngine& engine) { return task(engine, *promise); }));
    if (manual_) run_jobs([&] { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    try {
      return future.get();
    } catch (const std::future_error&) {  // the task went down with its actor
      // Other shells of the round may still be at work on what belongs to our caller.
      if (manual_)
        run_jobs([] { return false; });
      else
        system_.await_all_actors_done();
      const std::lock_guard lock(obituary_->mutex);
      return fail(ErrorKind::unavailable, obituary_->text);
    }
  }

 private:
  template <class Stop>
  void run_jobs(Stop stop) {
    auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
    while (!scheduler.jobs.empty() && !stop()) {
      seed_ = seed_ * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto pick = static_cast<std::ptrdiff_t>((seed_ >> 33) % scheduler.jobs.size());
      std::rotate(scheduler.jobs.begin(), scheduler.jobs.begin() + pick, scheduler.jobs.end());
      scheduler.run_once();
    }
  }

  SystemConfig config_;
  caf::actor_system system_;
  std::uint64_t seed_;
  bool manual_;
  std::shared_ptr<Obituary> obituary_ = std::make_shared<Obituary>();
  DriverActor actor_;
};

ActorDriver::ActorDriver(Domain::SettingsReader reader, Options options)
    : impl_(std::make_unique<Impl>(std::move(reader), std::move(options))) {}
ActorDriver::~ActorDriver() = default;

Result<void> ActorDriver::apply(const RecordView& record) {
  bool begun = false;
  auto result = impl_->run<Result<void>>([&record, begun](StepEngine& engine, std::promise<Result<void>>& promise) mutable {
    if (begun) {
      promise.set_value({});
      return false;
    }
    begun = true;
    if (auto ok = engine.apply(record, nullptr); !ok) {  // the caller's: it waits for all shells, whatever comes
      promise.set_value(std::move(ok));
      return false;
    }
    return true;
  });
  if (!result) return fail(result.error().kind, result.error().message);
  return std::move(*result);
}

Result<std::optional<Domain::Step>> ActorDriver::decide() {
  using Answer = std::optional<Domain::Step>;
  bool asked = false;
  return impl_->run<Answer>([asked](StepEngine& engine, std::promise<Answer>& promise) mutable {
    if (asked) {
      auto step = engine.answer();
      if (!step.events.empty()) {
        promise.set_value(std::move(step));
        return false;
      }
    }
    asked = engine.ask();
    if (!asked) promise.set_value(std::nullopt);
    return asked;
  });
}

Result<void> ActorDriver::inspect(const std::function<void(const admission::StateView&)>& look) {
  auto result = impl_->run<bool>([&look](StepEngine& engine, std::promise<bool>& promise) {
    look(engine.entities());
    promise.set_value(true);
    return false;
  });
  if (!result) return fail(result.error().kind, result.error().message);
  return {};
}

Result<void> ActorDriver::with_entities(const std::function<void(admission::Entities&)>& work) {
  auto result = impl_->run<bool>([&work](StepEngine& engine, std::promise<bool>& promise) {
    work(engine.entities());
    promise.set_value(true);
    return false;
  });
  if (!result) return fail(result.error().kind, result.error().message);
  return {};
}

std::size_t ActorDriver::shells() {
  return impl_
      ->run<std::size_t>([](StepEngine& engine, std::promise<std::size_t>& promise) {
        promise.set_value(engine.shells());
        return false;
      })
      .value_or(0);
}

}  // namespace hindsight::actors
