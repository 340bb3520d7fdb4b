#include "connectors/kubernetes/mirror/watch_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace hindsight::connectors::kubernetes {
namespace {

constexpr std::size_t room_kept_max = std::size_t{1} << 20U;

}  // namespace

void WatchDecoder::feed(std::string_view bytes) {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, size_ - begin_);
    scanned_ -= begin_;
    size_ -= begin_;
    begin_ = 0;
  }
  // One long line is no reason to keep room for such lines for ever.
  if (size_ == 0 && buffer_.size() > room_kept_max) std::vector<char>().swap(buffer_);
  const std::size_t needed = size_ + bytes.size() + ObjectReader::padding;
  if (buffer_.size() < needed) buffer_.resize(std::max(needed, buffer_.size() * 2));
  if (!bytes.empty()) std::memcpy(buffer_.data() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

Result<std::optional<WatchLine>> WatchDecoder::next() {
  for (;;) {
    const char* const from = buffer_.data() + scanned_;
    const auto* newline = size_ > scanned_ ? static_cast<const char*>(std::memchr(from, '\n', size_ - scanned_)) : nullptr;
    const std::size_t end = newline != nullptr ? static_cast<std::size_t>(newline - buffer_.data()) : size_;
    if (end - begin_ > line_bytes_max_) {
      return fail(ErrorKind::corrupt,
                  "watch stream: found a line of more than " + std::to_string(line_bytes_max_) + " bytes, allowed: at most that");
    }
    if (newline == nullptr) {
      scanned_ = size_;
      return std::nullopt;
    }
    const std::string_view line(buffer_.data() + begin_, end - begin_);
    begin_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto read = reader_.read_watch_line(line);
    if (!read) return tl::unexpected(read.error());
    return *std::move(read);
  }
}

}  // namespace hindsight::connectors::kubernetes
