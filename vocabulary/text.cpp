#include "vocabulary/text.hpp"

#include "vocabulary/utf8.hpp"

namespace hindsight {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = first_character(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = first_character(text).size;
    out.append(size == 0 ? replacement : text.substr(0, size));
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string_view cut_text(std::string_view text, std::size_t max) {
  constexpr std::size_t later_bytes_max = 3;  // of one character; a run of them that is longer is no text
  if (text.size() <= max) return text;
  std::size_t cut = max;
  while (cut > 0 && max - cut < later_bytes_max && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  return text.substr(0, cut);
}

std::string cut_middle(std::string_view text, std::size_t max) {
  constexpr std::string_view mark = " ... ";
  constexpr std::size_t later_bytes_max = 3;
  if (text.size() <= max) return std::string(text);
  std::string out(cut_text(text, (max - mark.size()) / 2));
  out.append(mark);
  std::string_view end = text.substr(text.size() - (max - out.size()));
  for (std::size_t i = 0; i < later_bytes_max && !end.empty() && (static_cast<unsigned char>(end.front()) & 0xC0U) == 0x80U; ++i)
    end.remove_prefix(1);
  return out.append(end);
}

std::string cut_message(std::string_view text, std::size_t max) {
  constexpr std::string_view mark = " ...";
  if (text.size() <= max) return std::string(text);
  return std::string(cut_text(text, max - mark.size())).append(mark);
}

}  // namespace hindsight
