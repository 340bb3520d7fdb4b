// The Kafka log against librdkafka alone on the same broker, in one run: durable appends in batches of 100 beside an idempotent producer
// with acks=all that flushes as often, and reading from the beginning beside a consumer that only counts bytes.
//
// The broker is $HINDSIGHT_BENCH_KAFKA (HOST:PORT), as './dev kafka up' prints it; without it nothing is measured.

#include <benchmark/benchmark.h>
#include <librdkafka/rdkafkacpp.h>
#include <unistd.h>

#include <cstdlib>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/events/samples.hpp"
#include "events/kafka/message.hpp"
#include "events/kafka/topics.hpp"
#include "events/kafka_log.hpp"
#include "events/record.hpp"

namespace hindsight {
namespace {

constexpr std::size_t batch_size = 100;
constexpr std::size_t stored = 1'000'000;

const char* broker() { return std::getenv("HINDSIGHT_BENCH_KAFKA"); }

/// Topics of its own for every measurement.
events::kafka::Location new_topics() {
  static int count = 0;
  events::kafka::Location location{broker(), "bench-" + std::to_string(::getpid()) + "-" + std::to_string(++count), 0};
  if (auto made = events::kafka::make_topics({location, {}}); !made) throw std::runtime_error(made.error().message);
  return location;
}

std::unique_ptr<events::KafkaLog> open(const events::kafka::Location& location, bool read_only = false) {
  auto log = events::KafkaLog::open(location, {.read_only = read_only, .settings = {}});
  if (!log) throw std::runtime_error(log.error().message);
  return std::move(*log);
}

/// Batches of admissions with sequences that count on.
class Feed {
 public:
  events::RecordBatch next() {
    events::RecordBatch batch;
    for (std::size_t i = 0; i < batch_size; ++i) {
      record_.envelope.sequence = ++sequence_;
      const auto bytes = encoder_.encode(record_);
      batch.add({record_.envelope.domain, sequence_, record_.envelope.epoch, record_.envelope.time, bytes});
    }
    return batch;
  }

 private:
  events::Encoder encoder_;
  RecordView record_ = bench::admission();
  std::uint64_t sequence_ = 0;
};

std::unique_ptr<RdKafka::Conf> bare_settings() {
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string why;
  conf->set("bootstrap.servers", broker(), why);
  conf->set("socket.nagle.disable", "true", why);
  conf->set("message.max.bytes", "70000000", why);
  return conf;
}

/// Without one, flush() looks for its end every 10 ms only.
class Delivered final : public RdKafka::DeliveryReportCb {
 public:
  void dr_cb(RdKafka::Message& message) override { failed += message.err() == RdKafka::ERR_NO_ERROR ? 0 : 1; }
  int failed = 0;
};

/// The yardstick of appends.
void bare_producer_batches_of_100(benchmark::State& state) {
  if (broker() == nullptr) return state.SkipWithError("HINDSIGHT_BENCH_KAFKA is not set");
  const auto location = new_topics();
  auto conf = bare_settings();
  std::string why;
  conf->set("enable.idempotence", "true", why);
  conf->set("acks", "all", why);
  conf->set("queue.buffering.max.messages", "1000000", why);
  Delivered delivered;
  conf->set("dr_cb", &delivered, why);
  const std::unique_ptr<RdKafka::Producer> producer(RdKafka::Producer::create(conf.get(), why));
  const auto in_flight = static_cast<std::size_t>(state.range(0));
  Feed feed;
  while (state.KeepRunning()) {
    state.PauseTiming();
    std::vector<events::RecordBatch> batches;
    for (std::size_t i = 0; i < in_flight; ++i) batches.push_back(feed.next());
    state.ResumeTiming();
    for (const auto& batch : batches) {
      for (const auto& record : batch) {
        const auto code =
            producer->produce(location.record_topic(), 0, RdKafka::Producer::RK_MSG_COPY, const_cast<std::byte*>(record.bytes.data()),
                              record.bytes.size(), record.domain.data(), record.domain.size(), 0, nullptr);
        if (code != RdKafka::ERR_NO_ERROR) state.SkipWithError("produce failed");
      }
    }
    if (producer->flush(30'000) != RdKafka::ERR_NO_ERROR) state.SkipWithError("flush failed");
  }
  if (delivered.failed > 0) state.SkipWithError("a delivery failed");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(in_flight * batch_size));
}

void append_batches_of_100(benchmark::State& state) {
  if (broker() == nullptr) return state.SkipWithError("HINDSIGHT_BENCH_KAFKA is not set");
  const auto log = open(new_topics());
  const auto in_flight = static_cast<std::size_t>(state.range(0));
  Feed feed;
  while (state.KeepRunning()) {
    state.PauseTiming();
    std::vector<events::RecordBatch> batches;
    for (std::size_t i = 0; i < in_flight; ++i) batches.push_back(feed.next());
    std::latch done(static_cast<std::ptrdiff_t>(in_flight));
    state.ResumeTiming();
    for (auto& batch : batches) {
      log->append_async(std::move(batch), {}, [&](const auto& result) {
        if (!result) state.SkipWithError("append failed");
        done.count_down();
      });
    }
    done.wait();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(in_flight * batch_size));
}

/// A log with many records, for all measurements of reading.
const events::kafka::Location& long_log() {
  static const events::kafka::Location location = [] {
    auto out = new_topics();
    const auto log = open(out);
    Feed feed;
    for (std::size_t i = 0; i < stored / batch_size; i += 100) {
      std::latch done(100);
      for (int j = 0; j < 100; ++j) log->append_async(feed.next(), {}, [&](const auto&) { done.count_down(); });
      done.wait();
    }
    return out;
  }();
  return location;
}

/// The yardstick of reading.
void bare_consumer_from_the_beginning(benchmark::State& state) {
  if (broker() == nullptr) return state.SkipWithError("HINDSIGHT_BENCH_KAFKA is not set");
  const auto& location = long_log();
  while (state.KeepRunning()) {
    auto conf = bare_settings();
    std::string why;
    const std::unique_ptr<RdKafka::Consumer> consumer(RdKafka::Consumer::create(conf.get(), why));
    const std::unique_ptr<RdKafka::Topic> topic(RdKafka::Topic::create(consumer.get(), location.record_topic(), nullptr, why));
    consumer->start(topic.get(), 0, 0);
    std::size_t bytes = 0;
    for (std::size_t count = 0; count < stored;) {
      const std::unique_ptr<RdKafka::Message> message(consumer->consume(topic.get(), 0, 10'000));
      if (message->err() != RdKafka::ERR_NO_ERROR) {
        state.SkipWithError("consume failed");
        break;
      }
      bytes += message->len();
      ++count;
    }
    benchmark::DoNotOptimize(bytes);
    consumer->stop(topic.get(), 0);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stored));
}

void read_from_the_beginning(benchmark::State& state) {
  if (broker() == nullptr) return state.SkipWithError("HINDSIGHT_BENCH_KAFKA is not set");
  const bool decoded = state.range(0) == 1;
  const auto& location = long_log();
  events::RecordReader reader;
  events::RecordBatch batch;
  while (state.KeepRunning()) {
    const auto log = open(location, true);
    for (events::Position next = 1; next <= stored; next += batch.size()) {
      if (!log->read(next, {}, batch) || batch.empty()) {
        state.SkipWithError("read failed");
        break;
      }
      if (!decoded) continue;
      for (const auto& record : batch) benchmark::DoNotOptimize(reader.read(record.bytes).value());
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stored));
  state.SetLabel(decoded ? "checksummed and decoded" : "checksummed");
}

BENCHMARK(bare_producer_batches_of_100)->Arg(1)->Arg(8)->UseRealTime();
BENCHMARK(append_batches_of_100)->Arg(1)->Arg(8)->UseRealTime();
BENCHMARK(bare_consumer_from_the_beginning)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(read_from_the_beginning)->DenseRange(0, 1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hindsight

BENCHMARK_MAIN();
