#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "events/kafka/location.hpp"
#include "events/kafka/settings.hpp"
#include "vocabulary/result.hpp"

namespace RdKafka {
class Conf;
class EventCb;
}  // namespace RdKafka

namespace hindsight::events::kafka {

/// A log's way to its brokers: where they are, how to get there, and what went wrong last.
struct Access {
  Location location;
  Settings settings;
};

/// What the clients of one log complained of last, for messages: a time-out alone says little. Thread-safe; outlives the clients.
class LastWords {
 public:
  LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
  void say(std::string text);
  /// " (127.0.0.1:9092: Connect failed: ...)", or nothing when nobody complained.
  [[nodiscard]] std::string in_brackets() const;
  /// What clients tell their errors; it tells them here.
  [[nodiscard]] RdKafka::EventCb* listener() const { return listener_.get(); }

 private:
  std::shared_ptr<RdKafka::EventCb> listener_;
  mutable std::mutex mutex_;
  std::string text_;
};

/// Settings of librdkafka that all clients of a log share, with callbacks that tell `words`. `code` of functions below is
/// RdKafka::ErrorCode.
class ClientSetup {
 public:
  ClientSetup(const Access& access, LastWords& words);
  ~ClientSetup();
  ClientSetup(const ClientSetup&) = delete;
  ClientSetup& operator=(const ClientSetup&) = delete;

  /// A setting of our own; throws std::logic_error when librdkafka does not take it.
  void set(const std::string& key, const std::string& value);
  [[nodiscard]] RdKafka::Conf& conf() { return *conf_; }
  /// The first setting of the user's that was not taken together with the others.
  [[nodiscard]] const Result<void>& outcome() const { return outcome_; }

 private:
  std::unique_ptr<RdKafka::Conf> conf_;
  Result<void> outcome_;
};

/// What kind of error a code of librdkafka is for a caller of the log.
[[nodiscard]] ErrorKind kind_of(int code);
/// "log kafka:...: WHAT: Local: Timed out (last words)".
[[nodiscard]] Error error_of(const Access& access, const std::string& what, int code, const LastWords& words);

/// Whether waiting may help: brokers come back, leaders are elected.
[[nodiscard]] bool is_passing(int code);

}  // namespace hindsight::events::kafka
