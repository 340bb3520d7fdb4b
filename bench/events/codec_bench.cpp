// Records to bytes and back, one core. items_per_second counts records; the cycle has 100 events in each.

#include <benchmark/benchmark.h>

#include <vector>

#include "bench/events/samples.hpp"
#include "events/record.hpp"

namespace hindsight {
namespace {

RecordView sample(std::int64_t which) {
  switch (which) {
    case 0:
      return bench::deletion();
    case 1:
      return bench::admission();
    case 2:
      return bench::job();
    default:
      return bench::cycle(100);
  }
}
constexpr const char* names[] = {"deletion", "admission", "job", "cycle of 100"};

void encode(benchmark::State& state) {
  const RecordView record = sample(state.range(0));
  events::Encoder encoder;
  std::size_t size = 0;
  while (state.KeepRunning()) size = encoder.encode(record).size();
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(names[state.range(0)]) + ", " + std::to_string(size) + " bytes");
}

/// The way of folds: memory is used again.
void decode_for_fold(benchmark::State& state) {
  const auto bytes = events::encode(sample(state.range(0)));
  alignas(16) static std::byte aligned[1 << 20];
  std::copy(bytes.begin(), bytes.end(), aligned);
  events::RecordReader reader;
  while (state.KeepRunning()) benchmark::DoNotOptimize(reader.read(std::span(aligned, bytes.size())).value());
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(names[state.range(0)]);
}

/// The way of actors: a shared record that owns its memory.
void decode_to_share(benchmark::State& state) {
  events::Encoder encoder;
  const auto span = encoder.encode(sample(state.range(0)));
  const std::vector<std::byte> bytes(span.begin(), span.end());
  while (state.KeepRunning()) benchmark::DoNotOptimize(events::decode(bytes).value());
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(names[state.range(0)]);
}

BENCHMARK(encode)->DenseRange(0, 3);
BENCHMARK(decode_for_fold)->DenseRange(0, 3);
BENCHMARK(decode_to_share)->DenseRange(0, 3);

}  // namespace
}  // namespace hindsight

BENCHMARK_MAIN();
