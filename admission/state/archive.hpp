#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "admission/model/state_field.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/compact_text.hpp"
#include "vocabulary/interned.hpp"
#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

// A plain binary form of state, written and read by one description: `archive(a, value)` works with a Writer and with a
// Reader, for all structs whose members are listed (state_fields.hpp). Not a wire format: it is read only by the build that wrote it, or
// one of the same snapshot version.

class ArchiveWriter {
 public:
  static constexpr bool reading = false;

  void bytes(const void* data, std::size_t size) {
    const auto* p = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), p, p + size);
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& v) { bytes(&v, sizeof v); }
  void operator()(const WideAmount& v) { bytes(&v, sizeof v); }
  void operator()(const std::string& s) { text(s); }
  void operator()(const CompactText& s) { text(s); }
  void operator()(Symbol s) { text(s.text()); }
  void operator()(Time t) { (*this)(t.micros); }
  void text(std::string_view s) {
    (*this)(static_cast<std::uint32_t>(s.size()));
    bytes(s.data(), s.size());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

/// Reads what the writer wrote. After the first short read `ok()` is false and everything reads as zero; nothing is ever read
/// beyond the end.
class ArchiveReader {
 public:
  static constexpr bool reading = true;
  explicit ArchiveReader(std::span<const std::byte> in) : in_(in) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& v) {
    const auto* p = take(sizeof v);
    if (p == nullptr) return;
    if constexpr (std::is_same_v<T, bool>) {
      if (*p > std::byte{1}) return refuse();  // any other byte is no bool, and may be taken for both values
      v = *p == std::byte{1};
    } else {
      std::memcpy(&v, p, sizeof v);
    }
  }
  void operator()(WideAmount& v) {
    if (const auto* p = take(sizeof v)) std::memcpy(&v, p, sizeof v);
  }
  void operator()(std::string& s) { s.assign(text()); }
  void operator()(CompactText& s) { s = CompactText(text()); }
  void operator()(Symbol& s) { s = Symbol(text()); }
  void operator()(Time& t) { (*this)(t.micros); }
  /// The number of elements that follow; bounded by what is left, so that a bad number cannot exhaust memory.
  [[nodiscard]] std::size_t count() {
    std::uint64_t n = 0;
    (*this)(n);
    if (n > in_.size()) ok_ = false;
    return ok_ ? static_cast<std::size_t>(n) : 0;
  }
  /// What was read makes no sense: from here on it is as if nothing more were there.
  void refuse() { ok_ = false; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && in_.empty(); }

 private:
  /// Where it was written; gone with the bytes that are read.
  std::string_view text() {
    std::uint32_t n = 0;
    (*this)(n);
    const auto* p = take(n);
    return p == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(p), n);
  }
  const std::byte* take(std::size_t n) {
    if (!ok_ || n > in_.size()) {
      ok_ = false;
      return nullptr;
    }
    const auto* p = in_.data();
    in_ = in_.subspan(n);
    return p;
  }
  std::span<const std::byte> in_;
  bool ok_ = true;
};

template <class A, class T>
concept Primitive = requires(A& a, T& v) {
  a(v);
};

template <class A, class T>
void archive(A& a, T& v) requires Primitive<A, T> {
  a(v);
}

template <class T>
concept Table = requires {
  typename T::key_type;
  typename T::mapped_type;
};

/// std::optional and Boxed.
template <class T>
concept OptionalValue = requires(const T& v) {
  v.has_value();
};

// Each may hold any other.
template <class A, Listed T>
void archive(A& a, T& x);
template <class A, class T, class U>
void archive(A& a, std::pair<T, U>& p);
template <class A, OptionalValue T>
void archive(A& a, T& v);
template <class A, class T>
void archive(A& a, std::vector<T>& list);
template <class A, class T>
void archive(A& a, std::shared_ptr<T>& p);
template <class A, class T>
void archive(A& a, Interned<T>& value);
template <class A, Table T>
void archive(A& a, T& table);

/// What of it is to be kept (FieldKind). What follows from that is made by `x.derive()` after reading, where there is such a thing.
template <class A, Listed T>
void archive(A& a, T& x) {
  StateFields<T>::each(
      [&]<FieldKind kind>(FieldKindConstant<kind>, std::string_view, auto& member) {
        if constexpr (kind == FieldKind::state || kind == FieldKind::kept) archive(a, member);
      },
      x);
  if constexpr (A::reading && requires { x.derive(); }) x.derive();
}

template <class A, OptionalValue T>
void archive(A& a, T& v) {
  bool present = v.has_value();
  a(present);
  if constexpr (A::reading) {
    if (present)
      v.emplace();
    else
      v.reset();
  }
  if (present && v) archive(a, *v);
}

template <class A, class T>
void archive(A& a, std::vector<T>& list) {
  if constexpr (A::reading) {
    const std::size_t n = a.count();
    list.clear();
    for (std::size_t i = 0; i < n && a.ok(); ++i) archive(a, list.emplace_back());
  } else {
    a(static_cast<std::uint64_t>(list.size()));
    for (auto& x : list) archive(a, x);
  }
}

/// Never null. What several share is written and read once for each.
template <class A, class T>
void archive(A& a, std::shared_ptr<T>& p) {
  using Whole = std::remove_const_t<T>;
  if constexpr (A::reading) {
    auto whole = std::make_shared<Whole>();
    archive(a, *whole);
    p = std::move(whole);
  } else {
    archive(a, const_cast<Whole&>(*p));  // the writer changes nothing
  }
}

/// Likewise.
template <class A, class T>
void archive(A& a, Interned<T>& value) {
  if constexpr (A::reading) {
    T whole{};
    archive(a, whole);
    value = std::move(whole);
  } else {
    archive(a, const_cast<T&>(value.value()));  // the writer changes nothing
  }
}

template <class A, Table T>
void archive(A& a, T& table) {
  if constexpr (A::reading) {
    const std::size_t n = a.count();
    table.clear();
    for (std::size_t i = 0; i < n && a.ok(); ++i) {
      typename T::key_type key{};
      archive(a, key);
      archive(a, table[key]);
    }
  } else {
    a(static_cast<std::uint64_t>(table.size()));
    for (auto& [k, x] : table) {
      auto key = k;  // a copy: what reads and writes takes what it may change
      archive(a, key);
      archive(a, x);
    }
  }
}

template <class A, class T, class U>
void archive(A& a, std::pair<T, U>& p) {
  archive(a, p.first);
  archive(a, p.second);
}

}  // namespace hindsight::admission
