#include "events/kafka/location.hpp"

#include <algorithm>
#include <charconv>

namespace hindsight::events::kafka {
namespace {

constexpr std::string_view form = "kafka:HOST:PORT[,HOST:PORT]...[/PREFIX][?partition=N]";

tl::unexpected<Error> refuse(std::string_view part, std::string_view found, std::string_view allowed) {
  return fail(ErrorKind::invalid,
              "Kafka log: " + std::string(part) + " is \"" + std::string(found) + "\"; allowed: " + std::string(allowed));
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

Result<void> check_broker(std::string_view broker) {
  const auto colon = broker.rfind(':');
  const std::string_view host = broker.substr(0, colon == std::string_view::npos ? 0 : colon);
  std::uint16_t port = 0;
  const bool spaces = std::any_of(broker.begin(), broker.end(), [](unsigned char c) { return c <= ' '; });
  if (host.empty() || spaces || !read_number(broker.substr(colon + 1), port) || port == 0)
    return refuse("a broker", broker, "HOST:PORT, as in " + std::string(form));
  return {};
}

/// What Kafka lets a topic be called, short enough for what we put behind it.
Result<void> check_prefix(std::string_view prefix) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (prefix.empty() || prefix.size() > 200 || !std::all_of(prefix.begin(), prefix.end(), legal))
    return refuse("the prefix of the topics", prefix, "1 to 200 of a-z A-Z 0-9 . _ -");
  return {};
}

}  // namespace

std::string Location::text() const {
  const Location usual;
  std::string out = "kafka:" + brokers;
  if (prefix != usual.prefix) out += "/" + prefix;
  if (partition != usual.partition) out += "?partition=" + std::to_string(partition);
  return out;
}

Result<Location> parse_location(std::string_view text) {
  Location out;
  if (text.starts_with("kafka:")) text.remove_prefix(6);
  if (const auto question = text.find('?'); question != std::string_view::npos) {
    const std::string_view option = text.substr(question + 1);
    constexpr std::string_view key = "partition=";
    if (!option.starts_with(key) || !read_number(option.substr(key.size()), out.partition) || out.partition < 0 ||
        out.partition > partition_max)
      return refuse("what follows the ?", option, "partition=N with N from 0 to " + std::to_string(partition_max));
    text = text.substr(0, question);
  }
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    out.prefix = text.substr(slash + 1);
    if (auto ok = check_prefix(out.prefix); !ok) return tl::unexpected(ok.error());
    text = text.substr(0, slash);
  }
  out.brokers = text;
  for (;;) {
    const auto comma = text.find(',');
    if (auto ok = check_broker(text.substr(0, comma)); !ok) return tl::unexpected(ok.error());
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace hindsight::events::kafka
