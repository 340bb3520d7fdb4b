#include "operations/logging.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "operations/log_line.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::operations {
namespace {

struct LevelName {
  LogLevel level;
  std::string_view name;
};
constexpr std::array<LevelName, 7> level_names{{{LogLevel::trace, "trace"},
                                                {LogLevel::debug, "debug"},
                                                {LogLevel::info, "info"},
                                                {LogLevel::warning, "warning"},
                                                {LogLevel::error, "error"},
                                                {LogLevel::critical, "critical"},
                                                {LogLevel::off, "off"}}};

// The two enumerations have the same order.
spdlog::level::level_enum to_spdlog(LogLevel level) { return static_cast<spdlog::level::level_enum>(level); }
LogLevel from_spdlog(spdlog::level::level_enum level) { return static_cast<LogLevel>(level); }
static_assert(static_cast<int>(LogLevel::trace) == SPDLOG_LEVEL_TRACE && static_cast<int>(LogLevel::off) == SPDLOG_LEVEL_OFF);

std::atomic<std::uint64_t> lost_lines{0};

/// spdlog hands a message on as text only. A line is finished on the thread that logs it, so the fields can wait here meanwhile.
thread_local const LogFields* fields_of_line = nullptr;

/// Writes the whole text to standard error; false when it could not.
bool write_to_standard_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

class LineSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LineSink(LogOptions options) : options_(std::move(options)) {
    const bool terminal = !options_.sink && ::isatty(STDERR_FILENO) == 1;
    json_ = options_.format == LogFormat::json || (options_.format == LogFormat::automatic && !terminal);
    color_ = terminal && std::getenv("NO_COLOR") == nullptr;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto since_epoch = std::chrono::duration_cast<std::chrono::microseconds>(message.time.time_since_epoch());
    LogLine line{.time = Time{since_epoch.count()},
                 .level = from_spdlog(message.level),
                 .message = {message.payload.data(), message.payload.size()},
                 .fields = {}};
    if (fields_of_line != nullptr) line.fields = *fields_of_line;
    std::string text = json_ ? json_line(line) : text_line(line, color_);
    text += '\n';
    if (options_.sink) {
      options_.sink(text);
    } else if (!write_to_standard_error(text)) {
      lost_lines.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // Every line is written at once; there is nothing to keep.
  void flush_() override {}

  LogOptions options_;
  bool json_ = false;
  bool color_ = false;
};

std::shared_ptr<spdlog::logger> make_logger(LogOptions options) {
  const LogLevel level = options.level;
  auto logger = std::make_shared<spdlog::logger>("", std::make_shared<LineSink>(std::move(options)));
  logger->set_level(to_spdlog(level));
  logger->set_error_handler([](const std::string&) { lost_lines.fetch_add(1, std::memory_order_relaxed); });
  return logger;
}

/// The logger in use. Loggers are never destroyed: other threads, and destructors of static objects, may still be writing to one.
class CurrentLogger {
 public:
  CurrentLogger() { replace(make_logger({.level = LogLevel::info, .format = LogFormat::text})); }
  void replace(std::shared_ptr<spdlog::logger> logger) {
    const std::lock_guard lock(mutex_);
    current_.store(logger.get());
    all_.push_back(std::move(logger));
  }
  [[nodiscard]] spdlog::logger& get() const { return *current_.load(); }
  [[nodiscard]] std::shared_ptr<spdlog::logger> shared() {
    const std::lock_guard lock(mutex_);
    return all_.back();
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<spdlog::logger>> all_;
  std::atomic<spdlog::logger*> current_{nullptr};
};

CurrentLogger& current_logger() {
  static auto* instance = new CurrentLogger();
  return *instance;
}

/// What was to be done before we came: the last words of the process, which know what is a bug and what is not.
std::terminate_handler terminate_before = nullptr;

[[noreturn]] void log_and_terminate() {
  std::string what = "terminated without an exception";
  if (const auto exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& e) {
      what = std::string("uncaught exception: ") + e.what();
    } catch (...) {
      what = "uncaught exception of an unknown type";
    }
  }
  log(LogLevel::critical, what);
  flush_log();
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

}  // namespace

std::string_view log_level_name(LogLevel level) {
  for (const auto& entry : level_names)
    if (entry.level == level) return entry.name;
  return "off";
}

Result<LogLevel> parse_log_level(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower == "warn") return LogLevel::warning;
  for (const auto& entry : level_names)
    if (entry.name == lower) return entry.level;
  std::string allowed;
  for (const auto& entry : level_names) allowed.append(allowed.empty() ? "" : ", ").append(entry.name);
  return fail(ErrorKind::invalid, "log level: found \"" + std::string(cut_text(text, 40)) + "\"; allowed: " + allowed);
}

void set_up_logging(LogOptions options) {
  current_logger().replace(make_logger(std::move(options)));
  spdlog::set_default_logger(current_logger().shared());
}

LogLevel log_level() noexcept { return from_spdlog(current_logger().get().level()); }

void set_log_level(LogLevel level) noexcept { current_logger().get().set_level(to_spdlog(level)); }

void change_log_level(LogLevel level, std::string_view by) noexcept {
  const LogLevel before = log_level();
  const bool more = level < before;
  if (more) set_log_level(level);
  log(std::max(LogLevel::info, more ? level : before), "log level changed",
      {{"from", log_level_name(before)}, {"to", log_level_name(level)}, {"by", by}});
  set_log_level(level);
}

LogLevel louder(LogLevel level) noexcept { return level == LogLevel::trace ? level : static_cast<LogLevel>(static_cast<int>(level) - 1); }

LogLevel quieter(LogLevel level) noexcept {
  return level >= LogLevel::critical ? level : static_cast<LogLevel>(static_cast<int>(level) + 1);
}

bool would_log(LogLevel level) noexcept { return level != LogLevel::off && current_logger().get().should_log(to_spdlog(level)); }

void log(LogLevel level, std::string_view message, LogFields fields) noexcept {
  if (!would_log(level)) return;
  fields_of_line = &fields;
  try {
    current_logger().get().log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
  } catch (...) {
    lost_lines.fetch_add(1, std::memory_order_relaxed);
  }
  fields_of_line = nullptr;
}

std::uint64_t lost_log_lines() noexcept { return lost_lines.load(std::memory_order_relaxed); }

void flush_log() noexcept {
  try {
    current_logger().get().flush();
  } catch (...) {
    lost_lines.fetch_add(1, std::memory_order_relaxed);
  }
}

void flush_log_on_exit() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit([] { flush_log(); });
    terminate_before = std::set_terminate(&log_and_terminate);
  });
}

}  // namespace hindsight::operations
