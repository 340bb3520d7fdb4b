// How deciding scales with partitions and cores: the same Workloads in one partition on one core and in four partitions on two, each
// partition with a log in memory and a node of its own, from the word that it may decide until everything is admitted and read back. A
// process that may use one core runs all threads of its nodes on it.

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "actors/node.hpp"
#include "bench/actors/big_domain.hpp"
#include "events/memory_log.hpp"

namespace hindsight::bench {
namespace {

constexpr std::size_t workloads = 100'000, queues = 1'000;

void stop(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(1);
}

/// Of this thread and of all that it starts from now on.
void use_cores(std::size_t count) {
  cpu_set_t all, some;
  static const bool known = [&] { return ::sched_getaffinity(0, sizeof all, &all) == 0; }();
  static const cpu_set_t ours = all;
  CPU_ZERO(&some);
  for (std::size_t core = 0, found = 0; known && core < CPU_SETSIZE && found < count; ++core)
    if (CPU_ISSET(core, &ours)) {
      CPU_SET(core, &some);
      ++found;
    }
  if (!known || ::sched_setaffinity(0, sizeof some, &some) != 0) stop("the cores of this process cannot be chosen");
}

/// Admissions a second.
double decide(std::size_t partitions, std::size_t cores) {
  use_cores(cores);
  struct Partition {
    events::MemoryLog log;
    std::unique_ptr<BigDomain> facts;
    std::unique_ptr<actors::Node> node;
  };
  std::atomic<std::size_t> admitted = 0;
  std::vector<std::unique_ptr<Partition>> all;
  for (std::size_t i = 0; i < partitions; ++i) {
    auto p = std::make_unique<Partition>();
    Shape shape;
    shape.workloads = workloads / partitions;
    shape.queues = queues / partitions;
    p->facts = std::make_unique<BigDomain>(shape);
    actors::NodeOptions options;
    options.settings_reader = p->facts->settings_reader();
    options.threads = cores;
    options.decide_from_start = false;
    options.on_record = [&](const RecordView& r, events::Position) {
      if (const auto* d = std::get_if<Decisions>(&r.body))
        for (const Event& e : d->events) admitted += std::holds_alternative<QuotaReserved>(e) ? 1 : 0;
    };
    auto node = actors::Node::start(p->log, std::move(options));
    if (!node) stop(node.error().message);
    p->node = std::move(*node);
    for (const auto& o : p->facts->configuration()) p->node->observe_and_wait(o);
    for (std::size_t w = 0; w < shape.workloads; ++w) p->node->observe_and_wait(p->facts->workload(w));
    if (auto ok = p->node->wait_until_rest(); !ok) stop(ok.error().message);
    all.push_back(std::move(p));
  }
  const auto begin = std::chrono::steady_clock::now();
  for (auto& p : all) p->node->allow_decisions();
  for (auto& p : all)
    if (auto ok = p->node->wait_until_rest(); !ok) stop(ok.error().message);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (admitted != workloads) stop("found " + std::to_string(admitted) + " Workloads admitted; wanted " + std::to_string(workloads));
  return static_cast<double>(admitted) / seconds;
}

}  // namespace
}  // namespace hindsight::bench

int main() {
  using hindsight::bench::decide;
  for (int round = 1; round <= 3; ++round) {
    const double one = decide(1, 1), four = decide(4, 1), both = decide(4, 2);
    std::printf(
        "round %d: 1 partition, 1 core %.0f/s; 4 partitions, 1 core %.0f/s; 4 partitions, 2 cores %.0f/s: %.2f and %.2f times (target "
        "1.8)\n",
        round, one, four, both, both / one, both / four);
    std::fflush(stdout);
  }
}
