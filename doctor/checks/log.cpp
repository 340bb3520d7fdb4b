#include "doctor/checks/log.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "doctor/disk.hpp"
#include "events/kafka/location.hpp"
#include "events/record.hpp"
#include "events/snapshot.hpp"
#include "runtime/log_location.hpp"
#include "runtime/release.hpp"
#include "runtime/space_report.hpp"

namespace hindsight::doctor {
namespace {

constexpr double slow_milliseconds = 50, very_slow_milliseconds = 500;
/// A start folds so many in some seconds.
constexpr events::Position records_since_snapshot_max = 5'000'000;
constexpr unsigned others_may = 077;
constexpr int replicas_wanted = 3;

std::string mode_text(unsigned mode) {
  char text[16];
  std::snprintf(text, sizeof text, "0%o", mode);
  return text;
}

std::string milliseconds_text(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f ms", value);
  return text;
}

std::string path_of(const std::string& location) { return location.starts_with("sqlite:") ? location.substr(7) : location; }

class LogJudge {
 public:
  LogJudge(const LogFacts& facts, const Options& options, const Commands& commands)
      : facts_(facts), options_(options), commands_(commands), object_("log " + facts.location) {}

  Outcome judge() {
    judge_opening();
    if (facts_.disk) judge_disk(*facts_.disk);
    if (facts_.topics) judge_topics(*facts_.topics);
    judge_content();
    if (facts_.not_open) {
      out_.standing = facts_.not_open->kind == ErrorKind::denied || facts_.not_open->kind == ErrorKind::unavailable ? Standing::blind
                                                                                                                    : Standing::looked;
      out_.summary = facts_.location + " cannot be opened";
      return std::move(out_);
    }
    out_.summary = facts_.location + ", records " + std::to_string(facts_.first) + " to " + std::to_string(facts_.last);
    if (facts_.disk && facts_.disk->space) out_.summary += ", " + facts_.disk->space->text();
    if (facts_.disk && !facts_.disk->file_system.empty()) out_.summary += ", on " + facts_.disk->file_system;
    if (facts_.disk && facts_.disk->sync_milliseconds)
      out_.summary += ", a sync takes " + milliseconds_text(*facts_.disk->sync_milliseconds);
    return std::move(out_);
  }

 private:
  void say(Severity severity, std::string found, std::string allowed, std::string advice, std::string command) {
    out_.add({severity, object_, std::move(found), std::move(allowed), std::move(advice), std::move(command)});
  }
  [[nodiscard]] std::string on_log(const std::string& words) const {
    std::string out = words + " --log " + as_word(facts_.location);
    if (!options_.log_config.empty()) out += " --log-config " + as_word(options_.log_config);
    return commands_.hindsight(out);
  }

  void judge_opening() {
    if (!facts_.not_open || (facts_.topics && facts_.topics->problem)) return;  // that is told of the topics
    const auto& [kind, message] = *facts_.not_open;
    switch (kind) {
      case ErrorKind::unsupported:
        return say(Severity::error, message, "what Hindsight " + std::string(runtime::release) + " can read",
                   "Run the release that wrote it, or a newer one; this one is", commands_.hindsight("version"));
      case ErrorKind::not_found:
        return say(Severity::error, message, "a log", "A control plane makes it at its first start; see that the name is right",
                   "ls -l " + as_word(path_of(facts_.location)));
      case ErrorKind::denied:
        return say(Severity::error, message, "a file that this user may read", "Look as the user that Hindsight runs as",
                   "ls -l " + as_word(path_of(facts_.location)));
      default:
        return say(Severity::error, message, "a log that can be read", "See what is wrong with it; what is before the damage can be copied",
                   on_log("log check"));
    }
  }

  void judge_disk(const DiskFacts& disk) {
    const std::string file = path_of(facts_.location);
    if (disk.kind == DiskFacts::Kind::network)
      say(Severity::warning, "it lies on " + disk.file_system + ": locks and syncs of network file systems fail in ways that lose records",
          "a disk, or a volume that is mounted as one", "Stop Hindsight, and copy it to a disk; LOCAL is a file there",
          commands_.hindsight("log copy " + as_word(facts_.location) + " sqlite:LOCAL"));
    if (disk.kind == DiskFacts::Kind::memory)
      say(Severity::warning, "it lies on " + disk.file_system + ", which is gone with the machine or the pod", "a disk",
          "Stop Hindsight, and copy it to a disk; LOCAL is a file there",
          commands_.hindsight("log copy " + as_word(facts_.location) + " sqlite:LOCAL"));
    if (disk.space && (disk.space->full() || disk.space->nearly_full())) {
      const events::Position middle = facts_.first + (facts_.last - std::min(facts_.last, facts_.first)) / 2;
      say(disk.space->full() ? Severity::error : Severity::warning,
          (disk.space->full() ? "it is full: nothing is decided until there is room; " : "it is nearly full: ") + disk.space->text(),
          "at most four fifths of the limit used, and more than four times the reserve free on the disk",
          "Give it a larger disk or limit, or have it forget: a running Hindsight does so with --keep-history; while none runs, this "
          "forgets the "
          "older half of the records",
          on_log("log trim --before " + std::to_string(middle)));
    }
    if (disk.quota_limit != 0 && disk.quota_used >= disk.quota_limit - disk.quota_limit / 10)
      say(disk.quota_used >= disk.quota_limit ? Severity::error : Severity::warning,
          "the quota of this user on its disk is used up to " +
              std::to_string(100 * (disk.quota_used / 1024) / std::max<std::uint64_t>(disk.quota_limit / 1024, 1)) + "%",
          "at most 90%", "Have the quota raised, or the log forget (--keep-history); the quota is", "quota -v");
    if (disk.sync_milliseconds && *disk.sync_milliseconds > slow_milliseconds)
      say(*disk.sync_milliseconds > very_slow_milliseconds ? Severity::error : Severity::warning,
          "a sync of its disk took " + milliseconds_text(*disk.sync_milliseconds) + ": no decision is acted upon before one",
          "at most " + milliseconds_text(slow_milliseconds), "Put it on a faster disk; what the disk does now",
          "dd if=/dev/zero of=" + as_word(file + ".try") + " bs=4k count=100 oflag=dsync && rm " + as_word(file + ".try"));
    if ((disk.mode & others_may) != 0)
      say(Severity::warning,
          "its file has the mode " + mode_text(disk.mode) + ": others may read all that tenants wrote into their objects", "0600",
          "Take the rights away", "chmod 600 " + as_word(file));
  }

  void judge_topics(const TopicsFacts& topics) {
    if (topics.problem) {
      const auto& [kind, message] = *topics.problem;
      if (kind == ErrorKind::not_found)
        say(Severity::error, message, "both topics of the log", "Make them", on_log("log init"));
      else if (kind == ErrorKind::unsupported)
        say(Severity::error, message, "the settings that 'hindsight log init' gives", "Change the setting, with the tools of Kafka",
            configure(topics, message.find(topics.snapshot_topic) != std::string::npos
                                  ? topics.snapshot_topic + " --add-config cleanup.policy=compact"
                                  : topics.record_topic + " --add-config cleanup.policy=delete"));
      else if (kind == ErrorKind::denied)
        say(Severity::error, message, "the right to Describe and Read both topics, and to Write for who decides",
            "Have the rights given to the user of --log-config, with the tools of Kafka",
            tool("kafka-acls.sh", topics) + " --list --topic " + as_word(topics.record_topic));
      else
        say(Severity::error, message, "brokers that answer", "See whether they run, and whether --log names them as they call themselves",
            tool("kafka-broker-api-versions.sh", topics));
    }
    if (!topics.records) return;
    const auto& records = *topics.records;
    if (!records.settings) {
      say(Severity::note, "the settings of topic " + records.name + " could not be read", "the right to DescribeConfigs",
          "To have them looked at, give the user of --log-config this right",
          tool("kafka-acls.sh", topics) + " --list --topic " + as_word(records.name));
    } else {
      const auto setting = [&](const char* key) {
        const auto it = records.settings->find(key);
        return it == records.settings->end() ? std::string() : it->second;
      };
      for (const char* key : {"retention.ms", "retention.bytes"})
        if (const std::string value = setting(key); !value.empty() && value != "-1")
          say(Severity::error,
              "topic " + records.name + ": " + key + " is " + value + ": the brokers forget records before snapshots cover them",
              "-1; how long history is kept is for --keep-history to say", "Change it",
              configure(topics, records.name + " --add-config " + key + "=-1"));
      if (setting("unclean.leader.election.enable") == "true")
        say(Severity::error, "topic " + records.name + ": unclean.leader.election.enable is true: records that were acted upon can be lost",
            "false", "Change it", configure(topics, records.name + " --add-config unclean.leader.election.enable=false"));
      int in_sync = 0;
      const std::string text = setting("min.insync.replicas");
      (void)std::from_chars(text.data(), text.data() + text.size(), in_sync);
      if (records.replicas >= replicas_wanted && in_sync < 2)
        say(Severity::error,
            "topic " + records.name + ": min.insync.replicas is " + text + " with " + std::to_string(records.replicas) + " replicas",
            "2: otherwise one broker that dies takes records with it", "Change it",
            configure(topics, records.name + " --add-config min.insync.replicas=2"));
      if (in_sync > records.replicas)
        say(Severity::error,
            "topic " + records.name + ": min.insync.replicas is " + text + " with " + std::to_string(records.replicas) +
                " replicas: nothing can be written",
            "at most the number of replicas", "Change it", configure(topics, records.name + " --add-config min.insync.replicas=1"));
    }
    if (records.replicas < replicas_wanted)
      say(Severity::warning,
          "topic " + records.name + " has " + counted(static_cast<std::size_t>(std::max(records.replicas, 0)), "replica", "replicas"),
          "3, on three brokers", "Assign its partitions to more brokers; as they are now",
          tool("kafka-topics.sh", topics) + " --describe --topic " + as_word(records.name));
  }

  /// One of Kafka's own tools. Where the brokers want credentials it takes them from a file of Java's settings, which only people have.
  [[nodiscard]] std::string tool(const char* name, const TopicsFacts& topics) const {
    return std::string(name) + " --bootstrap-server " + as_word(topics.brokers) +
           (options_.log_config.empty() ? "" : " --command-config CLIENT");
  }
  [[nodiscard]] std::string configure(const TopicsFacts& topics, const std::string& what) const {
    return tool("kafka-configs.sh", topics) + " --alter --entity-type topics --entity-name " + what;
  }

  void judge_content() {
    if (facts_.unreadable) {
      const bool newer = facts_.unreadable->kind == ErrorKind::unsupported;
      say(Severity::error, "record " + std::to_string(facts_.unreadable_at) + ": " + facts_.unreadable->message,
          newer ? "what Hindsight " + std::string(runtime::release) + " can read" : "records that verify",
          newer ? "Run the release that wrote it, or a newer one; this one is" : "See what is damaged",
          newer ? commands_.hindsight("version") : on_log("log check"));
    }
    if (facts_.newest_schema > events::snapshot_schema_version)
      say(Severity::error, "a snapshot of release " + facts_.newest_release + " has schema version " + std::to_string(facts_.newest_schema),
          "at most " + std::to_string(events::snapshot_schema_version), "Run that release, or a newer one; this one is",
          commands_.hindsight("version"));
    const events::Position covered =
        facts_.newest_snapshot ? facts_.newest_snapshot->position : facts_.first - std::min<events::Position>(facts_.first, 1);
    if (facts_.last > covered && facts_.last - covered > records_since_snapshot_max)
      say(Severity::warning,
          (facts_.newest_snapshot ? "its newest snapshot is " + std::to_string(facts_.last - covered) + " records old"
                                  : "it has no snapshot") +
              ": a start folds all of these",
          "a snapshot for each " + std::to_string(records_since_snapshot_max) + " records", "See whether the process could write them",
          on_log("log stats"));
    if (facts_.set_aside > 0)
      say(Severity::note, counted(facts_.set_aside, "record is set aside", "records are set aside") + " and have no effect", "none",
          "See which, and why", on_log("log cat --kind RecordQuarantined"));
  }

  const LogFacts& facts_;
  const Options& options_;
  const Commands& commands_;
  const std::string object_;
  Outcome out_;
};

void look_at_topics(const Options& options, LogFacts& facts) {
  TopicsFacts topics;
  const auto location = events::kafka::parse_location(facts.location);
  auto settings = runtime::kafka_settings({.kafka_config = options.log_config});
  if (!location || !settings) {
    facts.not_open = !location ? location.error() : settings.error();
    return;
  }
  topics.brokers = location->brokers;
  topics.record_topic = location->record_topic();
  topics.snapshot_topic = location->snapshot_topic();
  settings->patience = std::min(settings->patience, options.timeout / 3);
  events::kafka::LastWords words;
  auto found = events::kafka::check_topics({*location, *settings}, words, false);
  if (found) {
    topics.records = std::move(*found);
    if (auto writable = events::kafka::check_topics({*location, *settings}, words, true); !writable) topics.problem = writable.error();
  } else {
    topics.problem = found.error();
    facts.not_open = found.error();
  }
  facts.topics = std::move(topics);
}

/// The record at a position, decoded; where it cannot be, that is kept.
void look_at_record(const events::Log& log, events::Position position, LogFacts& facts, bool is_last) {
  if (facts.unreadable) return;
  events::RecordBatch batch;
  if (auto read = log.read(position, {.records = 1}, batch); !read) {
    facts.unreadable = read.error();
    facts.unreadable_at = position;
    return;
  }
  if (batch.empty()) return;
  const auto record = events::decode(batch[0].bytes);
  if (!record) {
    facts.unreadable = record.error();
    facts.unreadable_at = position;
    return;
  }
  if (is_last) facts.last_time = (*record)->view().envelope.time;
}

LogFacts look_at_log(const Options& options) {
  LogFacts facts;
  facts.location = options.log;
  if (runtime::is_kafka(facts.location)) {
    look_at_topics(options, facts);
    if (facts.not_open) return facts;
  } else {
    facts.disk = look_at_disk(path_of(facts.location));
  }
  const auto limit = runtime::parse_log_limit(options.log_limit);
  const auto log = runtime::open_log(facts.location, {.read_only = true, .kafka_config = options.log_config, .limit = limit.value_or(0)});
  if (!log) {
    facts.not_open = log.error();
    return facts;
  }
  if (facts.disk)
    if (auto space = (*log)->space(); space && *space) facts.disk->space = **space;
  const auto first = (*log)->first(), last = (*log)->last();
  if (!first || !last) {
    facts.unreadable = !first ? first.error() : last.error();
    return facts;
  }
  facts.first = *first;
  facts.last = *last;
  if (facts.last >= facts.first) {
    look_at_record(**log, facts.first, facts, false);
    look_at_record(**log, facts.last, facts, true);
  }
  if (const auto snapshots = (*log)->snapshots()) {
    for (const auto& one : *snapshots)
      if (one.schema_version > facts.newest_schema) {
        facts.newest_schema = one.schema_version;
        facts.newest_release = one.release;
      }
    if (!snapshots->empty()) facts.newest_snapshot = snapshots->front();
  }
  if (const auto aside = (*log)->quarantined()) facts.set_aside = aside->size();
  return facts;
}

}  // namespace

std::pair<std::string, DiskFacts::Kind> file_system_of(long magic) {
  using Kind = DiskFacts::Kind;
  struct Known {
    unsigned long magic;
    const char* name;
    Kind kind;
  };
  static constexpr Known all[] = {
      {0x6969, "NFS", Kind::network},      {0x517B, "SMB", Kind::network},          {0xFF534D42, "CIFS", Kind::network},
      {0xFE534D42, "SMB2", Kind::network}, {0x00C36400, "CephFS", Kind::network},   {0x5346414F, "AFS", Kind::network},
      {0x6B414653, "AFS", Kind::network},  {0x01021997, "9p", Kind::network},       {0x0BD00BD0, "Lustre", Kind::network},
      {0x47504653, "GPFS", Kind::network}, {0x7461636F, "OCFS2", Kind::network},    {0x65735546, "FUSE", Kind::unknown},
      {0x01021994, "tmpfs", Kind::memory}, {0x858458F6, "ramfs", Kind::memory},     {0xEF53, "ext4", Kind::disk},
      {0x58465342, "XFS", Kind::disk},     {0x9123683E, "Btrfs", Kind::disk},       {0x2FC12FC1, "ZFS", Kind::disk},
      {0xF2F52010, "F2FS", Kind::disk},    {0x794C7630, "overlayfs", Kind::unknown}};
  for (const auto& one : all)
    if (one.magic == (static_cast<unsigned long>(magic) & 0xFFFFFFFFUL)) return {one.name, one.kind};
  return {"", Kind::unknown};
}

Outcome judge_log(const LogFacts& facts, const Options& options, const Commands& commands) {
  return LogJudge(facts, options, commands).judge();
}

Outcome examine_log(Context& context) {
  if (context.options.log.empty()) return skipped("no log is named (--log)");
  // A disk or a mount that hangs holds up its own thread and nobody else; the process ends without it.
  const auto promise = std::make_shared<std::promise<LogFacts>>();
  auto future = promise->get_future();
  std::thread([promise, options = context.options] { promise->set_value(look_at_log(options)); }).detach();
  if (future.wait_for(context.options.timeout) != std::future_status::ready) {
    Outcome out =
        blind("no answer within " + rough({std::chrono::duration_cast<std::chrono::microseconds>(context.options.timeout).count()}));
    out.add({Severity::error, "log " + context.options.log, "whoever looks at it waits: " + out.summary, "a disk, or brokers, that answer",
             "See whether its disk is mounted and answers, or its brokers run",
             runtime::is_kafka(context.options.log) ? "hindsight log stats --log " + as_word(context.options.log)
                                                    : "stat " + as_word(path_of(context.options.log))});
    return out;
  }
  return judge_log(future.get(), context.options, context.commands);
}

}  // namespace hindsight::doctor
