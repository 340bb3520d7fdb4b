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
      content_ = PackedPointer(std::move(packed));
      return;
    }
  }
  content_ = std::move(text);
}

std::size_t KeptText::bytes() const {
  if (is_packed()) return packed()->frame.size();
  return is_null() ? 0 : (*plain())->size();
}

KeptText::Text KeptText::get() const {
  const Packed* const kept = packed();
  if (kept == nullptr) return *plain();
  const std::lock_guard lock(kept->mutex);
  if (auto made = kept->made.lock()) return made;
  auto text = std::make_shared<std::string>(kept->size, '\0');
  const std::size_t got = ZSTD_decompress(text->data(), text->size(), kept->frame.data(), kept->frame.size());
  if (ZSTD_isError(got) != 0 || got != kept->size) throw std::logic_error("the mirror's text of an object cannot be read back");
  kept->made = text;
  return text;
}

}  // namespace hindsight::connectors::kubernetes
