#include "connectors/kubernetes/mirror/watch_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace hindsight::connectors::kubernetes {
namespace {

constexpr std::size_t room_kept_max = std::size_t{1} << 20U;

}  // namespace

void WatchDecoder::make_room(std::size_t bytes) {
  auto* const larger = static_cast<char*>(std::realloc(buffer_.get(), bytes));
  if (larger == nullptr) throw std::bad_alloc();
  (void)buffer_.release();
  buffer_.reset(larger);
  room_ = bytes;
}

void WatchDecoder::feed(std::string_view bytes) {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, size_ - begin_);
    scanned_ -= begin_;
    size_ -= begin_;
    begin_ = 0;
  }
  // One long line is no reason to keep room for such lines for ever.
  if (size_ == 0 && room_ > room_kept_max) {
    buffer_.reset();
    room_ = 0;
    reader_.rest();
  }
  const std::size_t needed = size_ + bytes.size() + ObjectReader::padding;
  if (room_ < needed) make_room(std::max(needed, room_ * 2));
  if (!bytes.empty()) std::memcpy(buffer_.get() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

Result<std::optional<WatchLine>> WatchDecoder::next() {
  for (;;) {
    if (begin_ == size_) return std::nullopt;
    const char* const from = buffer_.get() + scanned_;
    const auto* newline = size_ > scanned_ ? static_cast<const char*>(std::memchr(from, '\n', size_ - scanned_)) : nullptr;
    const std::size_t end = newline != nullptr ? static_cast<std::size_t>(newline - buffer_.get()) : size_;
    if (end - begin_ > line_bytes_max_) {
      return fail(ErrorKind::corrupt,
                  "watch stream: found a line of more than " + std::to_string(line_bytes_max_) + " bytes, allowed: at most that");
    }
    if (newline == nullptr) {
      scanned_ = size_;
      return std::nullopt;
    }
    const std::string_view line(buffer_.get() + begin_, end - begin_);
    begin_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto read = reader_.read_watch_line(line);
    if (!read) return tl::unexpected(read.error());
    return *std::move(read);
  }
}

}  // namespace hindsight::connectors::kubernetes
