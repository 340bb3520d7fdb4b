#include "operations/event_stream.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hindsight::operations {
namespace {

bool ends_line(char c) { return c == '\n' || c == '\r'; }

/// As it goes over the wire. What would end a line in the name is left out, and each line of the data is one of its own.
std::string event_bytes(std::string_view name, std::string_view data) {
  std::string out = "event: ";
  std::copy_if(name.begin(), name.end(), std::back_inserter(out), [](char c) { return !ends_line(c); });
  for (;;) {
    const auto end = static_cast<std::size_t>(std::find_if(data.begin(), data.end(), ends_line) - data.begin());
    out.append("\ndata: ").append(data, 0, end);
    if (end == data.size()) break;
    const bool both = data.substr(end).starts_with("\r\n");
    data.remove_prefix(end + (both ? 2 : 1));
  }
  return out + "\n\n";
}

}  // namespace

bool EventStream::send(std::string_view name, std::string_view data) { return put(name, data, false); }
bool EventStream::send_newest(std::string_view name, std::string_view data) { return put(name, data, true); }

bool EventStream::put(std::string_view name, std::string_view data, bool newest) {
  Pending next{std::string(name), event_bytes(name, data)};
  const std::lock_guard lock(mutex_);
  if (ended_ || closed_) return false;
  if (newest) {
    const auto older = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& one) { return one.name == next.name; });
    if (older != pending_.end()) {
      bytes_ -= older->bytes.size();
      pending_.erase(older);
    }
  }
  if (bytes_ + next.bytes.size() > bytes_max_) {
    // What went lost would never be missed by the client; that the connection ends is.
    ended_ = true;
    pending_.clear();
    bytes_ = 0;
    if (wake_) wake_();
    return false;
  }
  bytes_ += next.bytes.size();
  pending_.push_back(std::move(next));
  if (wake_) wake_();
  return true;
}

void EventStream::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (wake_) wake_();
}

bool EventStream::is_over() const {
  const std::lock_guard lock(mutex_);
  return ended_ || closed_;
}

void EventStream::begin(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

EventStream::Taken EventStream::take() {
  const std::lock_guard lock(mutex_);
  Taken out;
  out.bytes.reserve(bytes_);
  for (const auto& one : pending_) out.bytes += one.bytes;
  pending_.clear();
  bytes_ = 0;
  out.last = ended_ || closed_;
  return out;
}

void EventStream::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake_ = nullptr;
  pending_.clear();
  bytes_ = 0;
}

}  // namespace hindsight::operations
