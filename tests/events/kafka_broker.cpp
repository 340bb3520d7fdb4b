#include "tests/events/kafka_broker.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "events/kafka/topics.hpp"

namespace hindsight::test {
namespace {

/// Tests run in the repository or beside their binary in a build folder; HINDSIGHT_BUILD_DIR is the latter.
std::string build_folder() {
  const char* folder = std::getenv("HINDSIGHT_BUILD_DIR");
  return folder == nullptr ? std::string(HINDSIGHT_TEST_BUILD_DIR) : std::string(folder);
}

}  // namespace

KafkaBroker& KafkaBroker::instance() {
  static KafkaBroker broker;
  return broker;
}

KafkaBroker::KafkaBroker() : folder_(build_folder() + "/kafka-tests-" + std::to_string(::getpid())) {
  address_ = run("up");
  while (!address_.empty() && address_.back() == '\n') address_.pop_back();
}

KafkaBroker::~KafkaBroker() {
  try {
    run("down");
    (void)std::system(("rm -rf '" + folder_ + "'").c_str());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

std::string KafkaBroker::run(const std::string& arguments) const {
  const std::string command = "/usr/bin/python3 '" HINDSIGHT_TEST_SOURCE_DIR "/scripts/kafka.py' " + arguments + " --dir '" + folder_ + "'";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string out;
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) out += piece.data();
  if (const int status = ::pclose(pipe); status != 0) throw std::runtime_error(command + " failed: " + out);
  return out;
}

void KafkaBroker::stop() { run("stop 1"); }
void KafkaBroker::start() { run("start 1"); }
void KafkaBroker::kill() { run("kill 1"); }

events::kafka::Location KafkaBroker::new_location() {
  return {.brokers = address_, .prefix = "log-" + std::to_string(++topics_), .partition = 0};
}

events::kafka::Location KafkaBroker::new_topics(const events::kafka::Settings& settings) {
  auto location = new_location();
  const auto made = events::kafka::make_topics({location, settings});
  if (!made) throw std::runtime_error("no topics: " + made.error().message);
  return location;
}

}  // namespace hindsight::test
