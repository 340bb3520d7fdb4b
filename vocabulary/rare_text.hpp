#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace hindsight {

/// A text of its own that is nearly always empty, and takes no more than a pointer then. State has a dozen of them for every Workload, of
/// which there are millions.
class RareText {
 public:
  RareText() = default;
  /// Explicit, so that a choice between a string and a rare text (c ? s : r) does not make a temporary of which a view is taken.
  explicit RareText(std::string_view text) { *this = text; }
  RareText(const RareText& other) { *this = other.view(); }
  RareText(RareText&&) noexcept = default;
  RareText& operator=(const RareText& other) { return *this = other.view(); }
  RareText& operator=(RareText&&) noexcept = default;
  ~RareText() = default;

  RareText& operator=(std::string_view text) {
    if (text == view()) return *this;
    if (text.empty())
      text_.reset();
    else
      text_ = std::make_unique<const std::string>(text);
    return *this;
  }
  RareText& operator=(const char* text) { return *this = std::string_view(text); }
  RareText& operator=(const std::string& text) { return *this = std::string_view(text); }

  [[nodiscard]] bool empty() const { return text_ == nullptr; }
  [[nodiscard]] std::string_view view() const { return text_ == nullptr ? std::string_view() : std::string_view(*text_); }
  [[nodiscard]] std::string text() const { return std::string(view()); }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor): it stands where a string stood
  void clear() { text_.reset(); }

  friend bool operator==(const RareText& a, const RareText& b) { return a.view() == b.view(); }
  friend bool operator==(const RareText& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const RareText& a, const std::string& b) { return a.view() == b; }
  friend bool operator==(const RareText& a, const char* b) { return a.view() == b; }
  friend std::string operator+(std::string left, const RareText& right) { return std::move(left.append(right.view())); }
  friend std::ostream& operator<<(std::ostream& out, const RareText& text) { return out << text.view(); }

 private:
  std::unique_ptr<const std::string> text_;  ///< Null: empty.
};

}  // namespace hindsight
