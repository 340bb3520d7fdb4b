#include "actors/system_config.hpp"

#include <algorithm>
#include <thread>

#include <caf/all.hpp>
#include <caf/scheduler/coordinator.hpp>

#include "actors/batch_sharing.hpp"

namespace hindsight::actors {

SystemConfig::SystemConfig(SchedulerPolicy policy, std::size_t threads) {
  if (policy == SchedulerPolicy::testing)
    set("scheduler.policy", caf::atom("testing"));
  else  // a module of this kind takes the place of the scheduler that the name would choose
    module_factories.emplace_back(
        [](caf::actor_system& system) -> caf::actor_system::module* { return new caf::scheduler::coordinator<BatchSharing>(system); });
  set("scheduler.max-threads", threads != 0 ? threads : std::max<std::size_t>(1, std::thread::hardware_concurrency()));
  // Without it one busy actor holds its worker for as long as its mailbox is not empty.
  constexpr std::size_t messages_in_a_row_max = 64;
  set("scheduler.max-throughput", messages_in_a_row_max);
}

}  // namespace hindsight::actors
