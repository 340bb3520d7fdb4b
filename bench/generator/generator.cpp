#include "bench/generator/generator.hpp"

#include <algorithm>

namespace hindsight::bench {

std::size_t Generator::workload_count() const {
  std::size_t n = 0;
  for (const auto& c : classes) n += c.count;
  return n * queue_count();
}

Duration Generator::bound() const {
  std::int64_t work = 0;  // milli-cpu × microseconds of one queue
  for (const auto& c : classes) work += static_cast<std::int64_t>(c.count) * c.cpu * c.runs.micros;
  return Duration{work / nominal};
}

Generator baseline() {
  return {.name = "baseline",
          .cohorts = 5,
          .queues = 6,
          .classes = {{"small", 350, Duration::millis(100), 1'000, Duration::millis(200), 50},
                      {"medium", 100, Duration::millis(500), 5'000, Duration::millis(500), 100},
                      {"large", 50, Duration::millis(1'200), 20'000, Duration::millis(1'000), 200}}};
}

Generator large_scale() {
  return {.name = "large-scale",
          .cohorts = 10,
          .queues = 100,
          .classes = {{"small", 35, Duration::millis(60), 1'000, Duration::millis(150), 50},
                      {"medium", 11, Duration::millis(300), 5'000, Duration::millis(350), 100},
                      {"large", 4, Duration::millis(700), 20'000, Duration::millis(700), 200}}};
}

Generator topology_aware() {
  Generator out = baseline();
  out.name = "tas";
  out.racks = 10;
  out.hosts_in_rack = 64;
  const std::int32_t pods[] = {2, 4, 8}, slices[] = {1, 2, 4};
  for (std::size_t i = 0; i < out.classes.size(); ++i) {
    out.classes[i].pods = pods[i];
    out.classes[i].slice = slices[i];
  }
  return out;
}

std::vector<Arrival> arrivals(const Generator& generator) {
  std::vector<Arrival> all;
  all.reserve(generator.workload_count());
  for (std::uint32_t kind = 0; kind < generator.classes.size(); ++kind) {
    const WorkloadClass& c = generator.classes[kind];
    for (std::uint32_t number = 0; number < c.count; ++number)
      for (std::uint32_t queue = 0; queue < generator.queue_count(); ++queue)
        all.push_back({Duration{c.interval.micros * number}, queue, kind, number});
  }
  std::stable_sort(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  return all;
}

std::string cohort_name(const Generator& generator, std::size_t queue) { return "cohort-" + std::to_string(queue / generator.queues); }

std::string queue_name(std::size_t queue) { return "queue-" + std::to_string(queue); }

std::string workload_name(const Generator& generator, const Arrival& arrival) {
  return std::string(generator.classes[arrival.kind].name) + "-" + std::to_string(arrival.queue) + "-" + std::to_string(arrival.number);
}

void Waits::add(Duration wait) {
  const double seconds = static_cast<double>(wait.micros) / 1e6;
  ++admitted;
  sum_seconds += seconds;
  max_seconds = std::max(max_seconds, seconds);
}

}  // namespace hindsight::bench
