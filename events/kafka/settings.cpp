#include "events/kafka/settings.hpp"

#include <librdkafka/rdkafkacpp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>

namespace hindsight::events::kafka {
namespace {

/// Settings of librdkafka that say how to reach the brokers and who we are. What decides about order, durability and memory is not among
/// them: the log sets it itself.
constexpr std::array<std::string_view, 24> allowed_client{
    "broker.address.family",
    "client.id",
    "client.rack",
    "compression.level",
    "compression.type",
    "enable.ssl.certificate.verification",
    "sasl.kerberos.keytab",
    "sasl.kerberos.principal",
    "sasl.kerberos.service.name",
    "sasl.mechanism",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.method",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "socket.keepalive.enable",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
};
constexpr std::array<std::string_view, 4> allowed_own{"min.insync.replicas", "partitions", "patience.ms", "replication.factor"};

std::string all_allowed() {
  std::vector<std::string_view> names(allowed_client.begin(), allowed_client.end());
  names.insert(names.end(), allowed_own.begin(), allowed_own.end());
  std::sort(names.begin(), names.end());
  std::string out;
  for (const auto name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

Result<int> number(const std::string& key, const std::string& value, const std::string& where, int from, int to) {
  int out = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error == std::errc{} && end == value.data() + value.size() && out >= from && out <= to) return out;
  return fail(ErrorKind::invalid,
              where + ": " + key + " is \"" + value + "\"; allowed: a number from " + std::to_string(from) + " to " + std::to_string(to));
}

/// A password is not repeated in messages.
std::string shown(const std::string& key, const std::string& value) {
  const bool secret = key.find("password") != std::string::npos || key.find("secret") != std::string::npos;
  return secret ? "what was given" : "\"" + value + "\"";
}

}  // namespace

Result<void> set(Settings& settings, const std::string& key, const std::string& value, const std::string& where) {
  if (key == "patience.ms") {
    const auto millis = number(key, value, where, 100, 3'600'000);
    if (!millis) return tl::unexpected(millis.error());
    settings.patience = std::chrono::milliseconds(*millis);
    return {};
  }
  for (const auto& [name, field, to] :
       {std::tuple{"replication.factor", &settings.replication_factor, 100},
        std::tuple{"min.insync.replicas", &settings.min_insync_replicas, 100}, std::tuple{"partitions", &settings.partitions, 10'000}}) {
    if (key != name) continue;
    const auto found = number(key, value, where, 1, to);
    if (!found) return tl::unexpected(found.error());
    *field = *found;
    return {};
  }
  if (std::find(allowed_client.begin(), allowed_client.end(), key) == allowed_client.end())
    return fail(ErrorKind::invalid, where + ": the key is \"" + key + "\"; allowed: " + all_allowed());
  const std::unique_ptr<RdKafka::Conf> scratch(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string why;
  if (scratch->set(key, value, why) != RdKafka::Conf::CONF_OK)
    return fail(ErrorKind::invalid, where + ": " + key + " is " + shown(key, value) + ": " + why);
  // librdkafka would say what went wrong in OpenSSL, and not of which file.
  if ((key.ends_with(".location") || key.ends_with(".keytab")) && ::access(value.c_str(), R_OK) != 0)
    return fail(ErrorKind::invalid, where + ": " + key + " is " + shown(key, value) + ": " + std::generic_category().message(errno) +
                                        "; allowed: a file that can be read");
  settings.client[key] = value;
  return {};
}

Result<Settings> parse_settings(std::string_view text, const std::string& source) {
  Settings out;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    const std::string content = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (content.empty() || content[0] == '#') continue;
    const std::string where = source + ", line " + std::to_string(line);
    const auto equals = content.find('=');
    if (equals == std::string::npos) return fail(ErrorKind::invalid, where + ": found \"" + content + "\"; allowed: KEY=VALUE");
    if (auto ok = set(out, trimmed(content.substr(0, equals)), trimmed(content.substr(equals + 1)), where); !ok)
      return tl::unexpected(ok.error());
  }
  return out;
}

}  // namespace hindsight::events::kafka
