#include "runtime/log_location.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "events/kafka/topics.hpp"
#include "events/kafka_log.hpp"
#include "runtime/call_name.hpp"

namespace hindsight::runtime {
namespace {

/// Settings with their certificates in PEM have some kilobytes.
constexpr std::size_t kafka_config_bytes_max = std::size_t{1} << 20;

constexpr const char* allowed = "; allowed: sqlite:FILE, a file's path, or kafka:HOST:PORT[,...][/PREFIX][?partition=N]";

Result<std::unique_ptr<events::Log>> open_kafka(const std::string& location, const LogAccess& access) {
  const auto where = events::kafka::parse_location(location);
  if (!where) return fail(where.error().kind, "--log: " + where.error().message);
  auto settings = kafka_settings(access);
  if (!settings) return tl::unexpected(settings.error());
  return events::KafkaLog::open(
      *where, {.read_only = access.read_only, .settings = std::move(*settings), .snapshot_folder = access.snapshot_folder});
}

}  // namespace

bool is_kafka(const std::string& location) { return location.starts_with("kafka:"); }

Result<events::kafka::Settings> kafka_settings(const LogAccess& access) {
  if (access.kafka_config.empty()) return events::kafka::Settings();
  std::ifstream file(access.kafka_config, std::ios::binary);
  // One byte beyond the limit shows that it is exceeded, also where the file has no end (a device).
  std::string text(kafka_config_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return fail(ErrorKind::invalid, "--log-config: " + access.kafka_config + " cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kafka_config_bytes_max)
    return fail(ErrorKind::invalid, "--log-config: " + access.kafka_config + ": it has more than " +
                                        std::to_string(kafka_config_bytes_max) + " bytes; allowed: lines of KEY=VALUE");
  return events::kafka::parse_settings(text, "--log-config " + access.kafka_config);
}

Result<std::vector<std::string>> partitions_of(const std::string& location, const LogAccess& access) {
  if (!is_kafka(location) || location.find("?partition=") != std::string::npos) return std::vector<std::string>{location};
  auto one = events::kafka::parse_location(location);
  if (!one) return tl::unexpected(one.error());
  auto settings = kafka_settings(access);
  if (!settings) return tl::unexpected(settings.error());
  events::kafka::LastWords words;
  const auto topic = events::kafka::check_topics({*one, *settings}, words, !access.read_only);
  if (!topic) return tl::unexpected(topic.error());
  std::vector<std::string> out;
  for (one->partition = 0; one->partition < topic->partitions; ++one->partition) out.push_back(one->text());
  return out;
}

std::function<std::string(std::string_view log, events::Position)> quarantine_command(const std::string& log_config) {
  const std::string config = log_config.empty() ? std::string() : " --log-config " + shell_word(log_config);
  return [begin = call_name() + " log quarantine ", config](std::string_view log, events::Position record) {
    return begin + std::to_string(record) + " --log " + shell_word(std::string(log)) + config;
  };
}

Result<std::unique_ptr<events::Log>> open_log(const std::string& location, const LogAccess& access) {
  if (is_kafka(location)) return open_kafka(location, access);
  if (!access.kafka_config.empty()) return fail(ErrorKind::invalid, "--log-config: is for logs on Kafka; --log is " + location);
  std::string path = location;
  if (path.starts_with("sqlite:"))
    path = path.substr(7);
  else if (const auto colon = path.find(':'); colon != std::string::npos && path.find('/') > colon)
    return fail(ErrorKind::invalid, "--log: found " + location + allowed);
  if (path.empty()) return fail(ErrorKind::invalid, std::string("--log: found no file") + allowed);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorKind::invalid, "--log: found " + path + ", which is a folder" + allowed);
  return events::SqliteLog::open(path, {.read_only = access.read_only, .durability = access.durability, .limit = access.limit});
}

}  // namespace hindsight::runtime
