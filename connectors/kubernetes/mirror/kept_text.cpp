#include "connectors/kubernetes/mirror/kept_text.hpp"

#include <zstd.h>

#include <mutex>
#include <stdexcept>
#include <utility>

namespace hindsight::connectors::kubernetes {
namespace {

/// The quickest one: texts of escapes shrink to a thousandth with it, too.
constexpr int text_compression_level = 1;

/// Nothing: it would not be much shorter.
std::string shortened(const std::string& text) {
  const std::size_t most = ZSTD_compressBound(text.size());
  const auto room = std::make_unique_for_overwrite<char[]>(most);
  const std::size_t size = ZSTD_compress(room.get(), most, text.data(), text.size(), text_compression_level);
  if (ZSTD_isError(size) != 0 || size > text.size() - text.size() / 8) return {};
  return {room.get(), size};
}

}  // namespace

struct KeptText::Packed {
  std::string frame;
  std::size_t size = 0;  ///< Of the text.
  mutable std::mutex mutex;
  mutable std::weak_ptr<const std::string> made;  ///< Guarded by `mutex`.
};

KeptText::KeptText(Text text) {
  if (text && text->size() > plain_bytes_max) {
    if (std::string frame = shortened(*text); !frame.empty()) {
      auto packed = std::make_shared<Packed>();
      packed->frame = std::move(frame);
      packed->size = text->size();
      packed->made = text;
      packed_ = std::move(packed);
      return;
    }
  }
  plain_ = std::move(text);
}

std::size_t KeptText::bytes() const {
  if (packed_) return packed_->frame.size();
  return plain_ ? plain_->size() : 0;
}

KeptText::Text KeptText::get() const {
  if (!packed_) return plain_;
  const std::lock_guard lock(packed_->mutex);
  if (auto made = packed_->made.lock()) return made;
  auto text = std::make_shared<std::string>(packed_->size, '\0');
  const std::size_t got = ZSTD_decompress(text->data(), text->size(), packed_->frame.data(), packed_->frame.size());
  if (ZSTD_isError(got) != 0 || got != packed_->size) throw std::logic_error("the mirror's text of an object cannot be read back");
  packed_->made = text;
  return text;
}

}  // namespace hindsight::connectors::kubernetes
