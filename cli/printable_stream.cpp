#include "cli/printable_stream.hpp"

#include <algorithm>

#include "vocabulary/printable.hpp"
#include "vocabulary/utf8.hpp"

namespace hindsight::cli {
namespace {

/// Could more bytes make a character of it?
bool is_cut_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t wanted = first >= 0xF0 && first <= 0xF4   ? 4
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xC2 && first <= 0xDF ? 2
                                                              : 1;
  return text.size() < wanted &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; });
}

}  // namespace

PrintableBuffer::~PrintableBuffer() { write(true); }

std::string_view PrintableBuffer::allowed_at(std::string_view text) const {
  for (const auto& sequence : allowed_)
    if (text.starts_with(sequence)) return sequence;
  return {};
}

bool PrintableBuffer::may_become_allowed(std::string_view text) const {
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const std::string& s) { return s.size() > text.size() && s.starts_with(text); });
}

void PrintableBuffer::write(bool all) {
  std::string out;
  std::string_view text = waiting_;
  while (!text.empty()) {
    if (const auto sequence = allowed_at(text); !sequence.empty()) {
      out += sequence;
      text.remove_prefix(sequence.size());
      continue;
    }
    if (!all && may_become_allowed(text)) break;
    const Utf8Character c = first_character(text);
    if (c.size == 0 && !all && is_cut_character(text)) break;
    const std::string_view character = text.substr(0, c.size == 0 ? 1 : c.size);
    if (character == "\n" || character == "\t")
      out += character;
    else
      out += printable(character);
    text.remove_prefix(character.size());
  }
  waiting_.erase(0, waiting_.size() - text.size());
  to_.write(out.data(), static_cast<std::streamsize>(out.size()));
}

PrintableBuffer::int_type PrintableBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  waiting_ += traits_type::to_char_type(c);
  write(false);
  return to_ ? c : traits_type::eof();
}

std::streamsize PrintableBuffer::xsputn(const char* text, std::streamsize size) {
  waiting_.append(text, static_cast<std::size_t>(size));
  write(false);
  return to_ ? size : 0;
}

int PrintableBuffer::sync() {
  to_.flush();
  return to_ ? 0 : -1;
}

}  // namespace hindsight::cli
