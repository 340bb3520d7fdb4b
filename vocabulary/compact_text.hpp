#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hindsight {

/// A text in a pointer: nothing where it is empty, else one piece of memory that copies share, from whatever threads. State has a dozen of
/// them for every Workload, of which there are millions; most are empty, and a name or uid stands in several places.
class CompactText {
 public:
  CompactText() = default;
  /// Explicit, so that a choice between a string and such a text (c ? s : t) does not make a temporary of which a view is taken.
  explicit CompactText(std::string_view text) : piece_(text.empty() ? nullptr : make(text)) {}
  CompactText(const CompactText& other) noexcept : piece_(other.piece_) {
    if (piece_ != nullptr) piece_->users.fetch_add(1, std::memory_order_relaxed);
  }
  CompactText(CompactText&& other) noexcept : piece_(std::exchange(other.piece_, nullptr)) {}
  CompactText& operator=(const CompactText& other) noexcept { return *this = CompactText(other); }
  CompactText& operator=(CompactText&& other) noexcept {
    std::swap(piece_, other.piece_);
    return *this;
  }
  ~CompactText() {
    if (piece_ != nullptr && piece_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(piece_);
  }

  CompactText& operator=(std::string_view text) { return text == view() ? *this : *this = CompactText(text); }
  CompactText& operator=(const char* text) { return *this = std::string_view(text); }
  CompactText& operator=(const std::string& text) { return *this = std::string_view(text); }

  [[nodiscard]] bool empty() const { return piece_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return view().size(); }
  [[nodiscard]] std::string_view view() const {
    return piece_ == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(piece_ + 1), piece_->size);
  }
  [[nodiscard]] std::string text() const { return std::string(view()); }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor): it stands where a string stood
  void clear() { *this = CompactText(); }

  friend bool operator==(const CompactText& a, const CompactText& b) { return a.piece_ == b.piece_ || a.view() == b.view(); }
  friend bool operator==(const CompactText& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const CompactText& a, const std::string& b) { return a.view() == b; }
  friend bool operator==(const CompactText& a, const char* b) { return a.view() == b; }
  friend auto operator<=>(const CompactText& a, const CompactText& b) { return a.view() <=> b.view(); }
  friend auto operator<=>(const CompactText& a, std::string_view b) { return a.view() <=> b; }
  friend std::string operator+(std::string left, const CompactText& right) { return std::move(left.append(right.view())); }
  friend std::string operator+(const CompactText& left, std::string_view right) { return left.text().append(right); }
  friend std::ostream& operator<<(std::ostream& out, const CompactText& text) { return out << text.view(); }

 private:
  struct Piece {  // the characters follow it
    std::atomic<std::uint32_t> users = 1;
    std::uint32_t size = 0;
  };

  static Piece* make(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("a text of more than 4 GiB");
    auto* const piece = new (::operator new(sizeof(Piece) + text.size())) Piece;
    piece->size = static_cast<std::uint32_t>(text.size());
    std::memcpy(reinterpret_cast<char*>(piece + 1), text.data(), text.size());
    return piece;
  }

  Piece* piece_ = nullptr;
};

}  // namespace hindsight
