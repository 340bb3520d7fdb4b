#pragma once

#include <string>

#include "events/kafka/settings.hpp"
#include "events/kafka_log.hpp"

namespace hindsight::test {

/// A real broker for the tests of this process: started by scripts/kafka.py when it is first asked for, and taken away at the end.
class KafkaBroker {
 public:
  /// Throws std::runtime_error with what the script said when it cannot be had.
  static KafkaBroker& instance();

  /// "127.0.0.1:PORT"
  [[nodiscard]] const std::string& address() const { return address_; }
  void stop();
  void start();
  void kill();

  /// A log of its own in new topics.
  [[nodiscard]] events::kafka::Location new_location();
  /// The same with the topics made.
  [[nodiscard]] events::kafka::Location new_topics(const events::kafka::Settings& settings = {});

  ~KafkaBroker();

 private:
  KafkaBroker();
  std::string run(const std::string& arguments) const;
  std::string folder_;
  std::string address_;
  int topics_ = 0;
};

}  // namespace hindsight::test
