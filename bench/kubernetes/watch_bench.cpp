// How long a watch event takes from the wire to the mirror, without a server: cutting the stream into lines, reading the metadata, storing
// the text without managed fields.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "connectors/kubernetes/mirror/mirror_store.hpp"
#include "connectors/kubernetes/mirror/watch_decoder.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

constexpr ResourceType workload{"Workload", "kueue.x-k8s.io", "v1beta2", "workloads", true};
constexpr std::size_t chunk_bytes = 16384;  ///< What libcurl hands over at a time.
constexpr int objects = 1000;

/// A Workload of about 3 KB, a third of it managed fields, as the API server sends it.
std::string watch_line(int index, int version) {
  const std::string name = "job-" + std::to_string(index);
  std::string fields;
  for (int i = 0; i < 20; ++i)
    fields += (i > 0 ? "," : "") + std::string(R"("f:field-with-a-name-)") + std::to_string(i) + R"(":{"f:k":{}})";
  std::string env;
  for (int i = 0; i < 20; ++i)
    env += (i > 0 ? "," : "") + std::string(R"({"name":"VARIABLE_)") + std::to_string(i) + R"(","value":"a value of some length"})";
  return R"({"type":"MODIFIED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z",)"
         R"("generation":1,"managedFields":[{"apiVersion":"kueue.x-k8s.io/v1beta2","fieldsType":"FieldsV1","fieldsV1":{)" +
         fields + R"(},"manager":"hindsight","operation":"Update"}],"name":")" + name + R"(","namespace":"default","resourceVersion":")" +
         std::to_string(version) + R"(","uid":"0f5c7a52-6f2e-4b8e-9d8a-)" + std::to_string(100000000000 + index) +
         R"("},"spec":{"queueName":"main","podSets":[{"count":1,"name":"main",)"
         R"("template":{"spec":{"containers":[{"name":"c","image":"registry.example/image:1","env":[)" +
         env +
         R"(],"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}}]},"status":{"conditions":[{"type":"QuotaReserved","status":"True",)"
         R"("reason":"QuotaReserved","message":"Quota reserved in ClusterQueue main","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]}}})"
         "\n";
}

void mirror_watch_events(benchmark::State& state) {
  std::string stream;
  for (int i = 0; i < objects; ++i) stream += watch_line(i, 1);
  MirrorStore store;
  MirrorStore::Kind& kind = store.open(workload, true);
  std::int64_t events = 0;
  while (state.KeepRunning()) {
    // A fresh decoder sees a new watch; the store knows the objects, so their versions have to be new. Equal versions are "none".
    WatchDecoder decoder;
    for (std::size_t at = 0; at < stream.size(); at += chunk_bytes) {
      decoder.feed(std::string_view(stream).substr(at, chunk_bytes));
      for (auto line = decoder.next(); line && *line; line = decoder.next()) {
        benchmark::DoNotOptimize(store.observe(kind, (*line)->object));
        ++events;
      }
    }
    state.PauseTiming();
    store.begin_list(kind);
    (void)store.end_list(kind, "");
    state.ResumeTiming();
  }
  if (events != static_cast<std::int64_t>(state.iterations()) * objects) state.SkipWithError("events were lost");
  state.SetItemsProcessed(events);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(stream.size()));
}
BENCHMARK(mirror_watch_events)->Unit(benchmark::kMillisecond);

void read_list_page(benchmark::State& state) {
  std::string page = R"({"apiVersion":"v1","items":[)";
  for (int i = 0; i < 500; ++i) {
    const std::string line = watch_line(i, 1);
    const std::size_t begin = line.find("{\"apiVersion\"");
    page += (i > 0 ? "," : "") + line.substr(begin, line.size() - begin - 2);
  }
  page += R"(],"kind":"WorkloadList","metadata":{"resourceVersion":"7"}})";
  pad(page);
  ObjectReader reader;
  std::size_t items = 0;
  while (state.KeepRunning()) {
    const auto read = reader.read_list_page(page);
    if (!read || read->items.size() != 500) state.SkipWithError("the page cannot be read");
    items += 500;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
}
BENCHMARK(read_list_page)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::connectors::kubernetes

BENCHMARK_MAIN();
