#include "actors/system_config.hpp"

#include <algorithm>
#include <thread>

#include <caf/all.hpp>

namespace hindsight::actors {

SystemConfig::SystemConfig(SchedulerPolicy policy, std::size_t threads) {
  const caf::atom_value names[] = {caf::atom("sharing"), caf::atom("stealing"), caf::atom("testing")};
  set("scheduler.policy", names[static_cast<std::size_t>(policy)]);
  set("scheduler.max-threads", threads != 0 ? threads : std::max<std::size_t>(1, std::thread::hardware_concurrency()));
  // Without it one busy actor holds its worker for as long as its mailbox is not empty.
  constexpr std::size_t messages_in_a_row_max = 64;
  set("scheduler.max-throughput", messages_in_a_row_max);
}

}  // namespace hindsight::actors
