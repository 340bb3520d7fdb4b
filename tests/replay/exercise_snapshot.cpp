#include "tests/replay/exercise_snapshot.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "admission/state/snapshot.hpp"
#include "events/memory_log.hpp"
#include "events/settings.hpp"
#include "events/snapshot.hpp"
#include "events/sqlite_log.hpp"
#include "replay/past.hpp"
#include "replay/snapshots.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::test {
namespace {

constexpr const char* domain = "default";
const events::SnapshotMeta meta{
    .position = 1, .epoch = 1, .time = Time{1}, .schema_version = events::snapshot_schema_version, .domain = domain};

admission::Domain::SettingsReader settings() {
  return [](Text json) { return events::read_settings(json); };
}

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "reading a snapshot did not hold: %s\n", what);
  std::abort();
}

bool load(std::span<const std::byte> bytes) {
  static events::MemoryLog log;
  static const bool begun = [] {
    testing::LogWorld world(log, domain);  // a log with a record, where a snapshot can stand
    world.flush();
    return true;
  }();
  if (!begun || !log.put_snapshot(meta, bytes)) broken("the log does not take it");
  admission::Entities entities(settings());
  const auto loaded = replay::load_state(log, meta, domain, entities);
  if (!loaded) {
    if (loaded.error().message.empty()) broken("an error without a word");
    return false;
  }
  // What was read is written, and read again, as the same.
  const auto again = admission::SnapshotCodec::write(entities);
  admission::Entities second(settings());
  if (!admission::SnapshotCodec::read(again, second)) broken("what it writes it does not read");
  if (second.state_hash() != entities.state_hash()) broken("what it writes it reads as another state");
  return true;
}

std::vector<std::byte> state_of(const std::filesystem::path& file) {
  const TemporaryFolder folder;
  const std::string copy = folder.file("log.db");
  std::filesystem::copy_file(file, copy);
  const auto log = events::SqliteLog::open(copy, {.read_only = true});
  if (!log) broken(log.error().message.c_str());
  replay::Past past(**log, domain);
  if (!past.go_to((*log)->last().value())) broken("a log that is kept cannot be folded");
  return admission::SnapshotCodec::write(past.driver().entities());
}

/// Names and messages of all lengths that anybody may come up with.
std::vector<std::byte> state_of_long_texts() {
  events::MemoryLog log;
  testing::LogWorld world(log, domain);
  world.flavor("default");
  world.namespace_("default");
  world.queue({.name = "cq", .quotas = {{.nominal = 4'000}}});
  std::vector<std::string> texts;
  for (const auto n : std::initializer_list<std::size_t>{0,   1,    62,   63,   64,     252,    253,    254,    314,    315,
                                                         316, 1023, 1024, 1025, 32'767, 32'768, 32'769, 65'535, 65'536, 1'000'000})
    texts.emplace_back(n, 'x');
  for (const auto& text : texts) {
    WorkloadObserved w;
    w.meta.namespace_ = "default";
    w.meta.name = text;
    const std::string uid = "uid-" + std::to_string(text.size());
    w.meta.uid = uid;
    w.queue_name = text;
    w.priority_class = text;
    w.admission_gated_by = text.size() < 64 ? Text() : Text(text);
    const ConditionFacts condition{ConditionType::evicted, ConditionStatus::true_, text, text, Time{5}};
    w.conditions = {&condition, 1};
    const CheckFacts check{text, CheckState::retry, Time{5}, text, {}, {}, text};
    w.checks = {&check, 1};
    world.observe(w);
  }
  return admission::SnapshotCodec::write(world.driver().entities());
}

}  // namespace

bool exercise_snapshot(std::span<const std::byte> bytes) { return load(bytes); }

bool exercise_state(std::span<const std::byte> state) {
  events::DomainState one{domain, 0, 1, 0, state};
  admission::Entities entities(settings());
  if (admission::SnapshotCodec::read(state, entities)) {
    one.state_hash = entities.state_hash();
    one.sequence = entities.domain().sequence();
  }
  return load(events::encode_snapshot(meta, admission::snapshot_version, std::span(&one, 1)));
}

const std::vector<std::vector<std::byte>>& good_states() {
  static const auto all = [] {
    std::vector<std::vector<std::byte>> out;
    for (const auto& entry : std::filesystem::directory_iterator("tests/replay/logs"))
      if (entry.path().extension() == ".db") out.push_back(state_of(entry.path()));
    out.push_back(state_of_long_texts());
    return out;
  }();
  return all;
}

std::vector<std::byte> changed_state(std::span<const std::byte> changes) {
  if (changes.empty()) return {};
  const auto& states = good_states();
  auto out = states[static_cast<std::size_t>(changes[0]) % states.size()];
  for (std::size_t i = 1; i + 4 <= changes.size() && !out.empty(); i += 4) {
    const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(changes[i + at]); };
    const std::size_t at = (byte(0) | byte(1) << 8 | byte(2) << 16) % out.size();
    if ((byte(2) & 0x80) == 0) {
      out[at] = changes[i + 3];
    } else {
      out.resize(at);  // cut short
    }
  }
  return out;
}

}  // namespace hindsight::test
