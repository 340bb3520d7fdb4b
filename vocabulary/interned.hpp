#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hindsight {

/// How values of T are found again: an overload next to T, as cheap as can be. Equal values have equal hashes; it never leaves the process.
[[nodiscard]] inline std::uint64_t interning_hash(const std::string& text) { return std::hash<std::string_view>{}(text); }

/// An immutable value of which equal ones stand once in memory, however many hold it and from whatever threads; a pointer in size. For what
/// thousands of Workloads of one user have in common. The empty value (T{}) takes no memory. A moved-from one is empty.
///
/// Tenants choose the values, and hashes of what they choose may be made to agree: of one hash `same_hash_max` values are shared, and any
/// further one stands for itself, so that no search is long.
template <class T>
class Interned {
 public:
  static constexpr std::size_t same_hash_max = 8;

  Interned() = default;
  Interned(T value) : node_(value == nothing() ? nullptr : find_or_add(std::move(value))) {}         // NOLINT(google-explicit-constructor)
  Interned(const char* text) requires std::same_as<T, std::string> : Interned(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  Interned(const Interned& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) node_->users.fetch_add(1, std::memory_order_relaxed);
  }
  Interned(Interned&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Interned& operator=(const Interned& other) noexcept { return *this = Interned(other); }
  Interned& operator=(Interned&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Interned() {
    if (node_ != nullptr) let_go(node_);
  }

  [[nodiscard]] const T& value() const { return node_ == nullptr ? nothing() : node_->value; }
  operator const T&() const { return value(); }  // NOLINT(google-explicit-constructor): it stands where a value stood
  operator std::string_view() const requires std::same_as<T, std::string>  // NOLINT(google-explicit-constructor)
  {
    return value();
  }
  const T* operator->() const { return &value(); }
  const T& operator*() const { return value(); }

  /// What `f` makes of a copy takes the place of the value.
  template <class F>
  void change(F&& f) {
    T changed = value();
    f(changed);
    *this = Interned(std::move(changed));
  }

  // As far as T has them.
  [[nodiscard]] auto size() const { return value().size(); }
  [[nodiscard]] bool empty() const requires requires(const T& t) { t.empty(); }
  { return value().empty(); }
  [[nodiscard]] decltype(auto) operator[](std::size_t i) const { return value()[i]; }
  [[nodiscard]] decltype(auto) at(std::size_t i) const { return value().at(i); }
  [[nodiscard]] auto begin() const requires requires(const T& t) { t.begin(); }
  { return value().begin(); }
  [[nodiscard]] auto end() const requires requires(const T& t) { t.end(); }
  { return value().end(); }
  friend std::string operator+(std::string left, const Interned& right) requires std::same_as<T, std::string> {
    return std::move(left += right.value());
  }
  friend std::ostream& operator<<(std::ostream& out, const Interned& x) requires requires { out << x.value(); }
  { return out << x.value(); }

  friend bool operator==(const Interned& a, const Interned& b) { return a.node_ == b.node_ || a.value() == b.value(); }
  friend bool operator==(const Interned& a, const T& b) { return a.value() == b; }
  friend bool operator==(const Interned& a, std::string_view b) requires std::same_as<T, std::string> { return a.value() == b; }
  friend bool operator==(const Interned& a, const char* b) requires std::same_as<T, std::string> { return a.value() == b; }

  /// How many values stand in memory that somebody may share. For tests.
  [[nodiscard]] static std::size_t stored() {
    std::size_t n = 0;
    for (Shard& s : shards()) {
      const std::lock_guard lock(s.mutex);
      for (const auto& [hash, first] : s.by_hash)
        for (const Node* at = first; at != nullptr; at = at->next) ++n;
    }
    return n;
  }

 private:
  struct Node {
    T value;
    std::uint64_t hash = 0;
    Node* next = nullptr;  ///< Of the same hash. Under the lock of the shard.
    std::atomic<std::uint32_t> users = 1;
    bool shared = true;  ///< It stands in the table.
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Node*> by_hash;
  };

  static const T& nothing() {
    static const T made{};
    return made;
  }
  /// Never destroyed: values may be let go of after the end of main.
  static std::array<Shard, 16>& shards() {
    static auto* const all = new std::array<Shard, 16>;
    return *all;
  }
  static Shard& shard_of(std::uint64_t hash) { return shards()[(hash ^ hash >> 32U) % 16]; }

  static Node* find_or_add(T value) {
    const std::uint64_t hash = interning_hash(value);
    Shard& shard = shard_of(hash);
    const std::lock_guard lock(shard.mutex);
    const auto [it, fresh] = shard.by_hash.try_emplace(hash, nullptr);
    std::size_t same = 0;
    for (Node* at = it->second; at != nullptr; at = at->next, ++same) {
      if (!(at->value == value)) continue;
      at->users.fetch_add(1, std::memory_order_relaxed);
      return at;
    }
    const bool shared = same < same_hash_max;
    auto node = std::unique_ptr<Node>(new Node{std::move(value), hash, shared ? it->second : nullptr, 1, shared});
    if (shared) it->second = node.get();
    return node.release();
  }

  /// The last one who lets go does so under the lock, under which alone a value that nobody has is found by another.
  static void let_go(Node* node) noexcept {
    std::uint32_t users = node->users.load(std::memory_order_acquire);  // what others did with it is over before it goes
    while (users > 1)
      if (node->users.compare_exchange_weak(users, users - 1, std::memory_order_acq_rel)) return;
    if (node->shared) {
      Shard& shard = shard_of(node->hash);
      const std::lock_guard lock(shard.mutex);
      if (node->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      const auto it = shard.by_hash.find(node->hash);
      Node** link = &it->second;
      while (*link != node) link = &(*link)->next;
      *link = node->next;
      if (it->second == nullptr) shard.by_hash.erase(it);
    }
    delete node;  // NOLINT(cppcoreguidelines-owning-memory): counted here
  }

  Node* node_ = nullptr;
};

/// A text that many have the same of, such as the message of a condition.
using SharedText = Interned<std::string>;

}  // namespace hindsight
