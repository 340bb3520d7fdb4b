#include "runtime/chain_keeper.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>

#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {
namespace {

/// Small, so that a node that reads the same log hardly waits for a read of ours.
constexpr events::ReadLimits one_read{.records = 256, .bytes = std::size_t{256} << 10};

/// So many records are still read when the process ends.
constexpr events::Position at_the_end = 10'000;

}  // namespace

ChainKeeper::ChainKeeper(events::Log& log, Options options) : log_(log), options_(std::move(options)) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& none) {  // the node needs no chain to decide
    options_.on_notice("no checkpoint of the log is stored: a thread for it cannot be made: " + std::string(none.what()));
  }
}

void ChainKeeper::run(const std::stop_token& stop) {
  name_this_thread("chain");
  std::mutex mutex;
  std::condition_variable_any never;
  std::string told;
  bool failed = false;
  const auto look = [&](bool last_look) {
    std::string why;
    failed = false;
    try {
      if (auto ok = follow(stop, last_look); !ok) {
        if (ok.error().kind != ErrorKind::unavailable) why = ok.error().message;  // the node tells when its log is full or out of reach
        failed = true;
        // It may have been trimmed beyond where the walk stands, or a checkpoint may be newer than we know: look anew.
        if (ok.error().kind != ErrorKind::unavailable) walk_.reset();
      }
    } catch (const std::exception& bug) {  // in a state of its own: the node is none the worse
      why = bug.what();
      failed = true;
      walk_.reset();
    }
    if (!why.empty() && why != told) options_.on_notice("no checkpoint of the log is stored: " + why);
    told = why;
  };
  for (std::unique_lock lock(mutex); !stop.stop_requested();) {
    look(false);
    never.wait_for(lock, stop, options_.look, [&] { return stop.stop_requested(); });
  }
  if (!failed) look(true);  // else it would wait once more for a log that is out of reach
}

Result<void> ChainKeeper::start() {
  const auto from = events::chain_resume(log_, options_.key ? &options_.key->public_key() : nullptr);
  if (!from) return tl::unexpected(from.error());
  walk_.emplace(log_, *from, one_read);
  stored_ = from->at.position;
  stored_at_ = std::chrono::steady_clock::now();
  return {};
}

Result<void> ChainKeeper::follow(const std::stop_token& stop, bool last_look) {
  if (!walk_)
    if (auto ok = start(); !ok) return ok;
  auto last = log_.last();
  if (!last) return tl::unexpected(last.error());
  if (last_look) *last = std::min(*last, walk_->position() + at_the_end);
  while (walk_->position() < *last) {
    if (stop.stop_requested() && !last_look) return {};
    const auto before = walk_->position();
    // To the next checkpoint, and not further than a stop can wait for.
    if (auto ok = walk_->to(std::min({*last, stored_ + options_.records, before + at_the_end})); !ok) return ok;
    if (walk_->position() == before) break;
    if (walk_->position() - stored_ >= options_.records)
      if (auto ok = store(); !ok) return ok;
  }
  const bool long_ago = std::chrono::steady_clock::now() - stored_at_ >= options_.interval;
  if (walk_->position() > stored_ && (last_look || long_ago)) return store();
  return {};
}

Result<void> ChainKeeper::store() {
  const auto stored = events::store_checkpoint(log_, *walk_, options_.now(), options_.release, options_.key.get());
  if (!stored) return tl::unexpected(stored.error());
  stored_ = walk_->position();
  stored_at_ = std::chrono::steady_clock::now();
  if (until_thinned_-- > 0) return {};
  until_thinned_ = 100;
  if (auto thinned = events::thin_checkpoints(log_); !thinned) return tl::unexpected(thinned.error());
  return {};
}

Result<std::shared_ptr<const evidence::SigningKey>> checkpoint_key(const std::string& file) {
  if (file.empty()) return std::shared_ptr<const evidence::SigningKey>();
  auto key = evidence::SigningKey::read(file);
  if (!key) {
    const auto kind = key.error().kind == ErrorKind::not_found ? ErrorKind::invalid : key.error().kind;
    return fail(kind, "--checkpoint-key: " + key.error().message);
  }
  return std::make_shared<const evidence::SigningKey>(std::move(*key));
}

}  // namespace hindsight::runtime
