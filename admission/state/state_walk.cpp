#include "admission/state/state_walk.hpp"

#include <algorithm>
#include <concepts>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/state/archive.hpp"
#include "admission/state/state_fields.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {
namespace {

// ---- where it goes: into a hash, or into lines ------------------------------------------------------------------------------------

class Digest {
 public:
  template <class T>
  void leaf(std::string_view name, const T& x) {
    hash_.add(name);
    add(x);
    empty_ = false;
  }
  /// Of a part that adds nothing not even the name counts.
  template <class Body>
  void part(std::string_view name, Body&& body) {
    Digest inner;
    body(inner);
    if (!inner.empty_) leaf(name, inner.hash_.value());
  }
  /// The entries of a table without order: each by its key, whatever is in it.
  template <class Entries, class Body>
  void table(std::string_view name, const Entries& entries, Body&& body) {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : entries) {
      Digest inner;
      inner.leaf("", std::string_view(key));
      body(inner, *entry);
      sum += inner.hash_.value();
    }
    if (!entries.empty()) leaf(name, sum);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_.value(); }

 private:
  template <class T>
  void add(const T& x) {
    if constexpr (std::same_as<T, WideAmount>) {
      hash_.add(static_cast<std::uint64_t>(x >> 64));
      hash_.add(static_cast<std::uint64_t>(x));
    } else if constexpr (std::integral<T> || std::is_enum_v<T>) {
      hash_.add(static_cast<std::uint64_t>(x));
    } else {
      hash_.add(x);
    }
  }

  StateHash hash_;
  bool empty_ = true;
};

/// One line: printable, whatever is in it.
std::string in_quotes(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out += '"';
}

std::string text_of(WideAmount x) {
  if (x == 0) return "0";
  const bool negative = x < 0;
  std::string out;
  for (; x != 0; x /= 10) out += static_cast<char>('0' + (negative ? -(x % 10) : x % 10));
  if (negative) out += '-';
  std::ranges::reverse(out);
  return out;
}

class Lines {
 public:
  explicit Lines(std::string path) : path_(std::move(path)) {}

  template <class T>
  void leaf(std::string_view name, const T& x) {
    const std::size_t length = path_.size();
    go_to(name);
    out_ += path_;
    out_ += ": ";
    path_.resize(length);
    if constexpr (std::same_as<T, Time>) {
      out_ += x.is_set() ? std::to_string(x.micros) : "never";
    } else if constexpr (std::same_as<T, Symbol>) {
      out_ += in_quotes(x.text());
    } else if constexpr (std::convertible_to<T, std::string_view>) {
      out_ += in_quotes(x);
    } else {
      out_ += text_of(static_cast<WideAmount>(x));
    }
    out_ += '\n';
  }
  template <class Body>
  void part(std::string_view name, Body&& body) {
    const std::size_t length = path_.size();
    go_to(name);
    body(*this);
    path_.resize(length);
  }
  template <class Entries, class Body>
  void table(std::string_view name, Entries entries, Body&& body) {
    std::ranges::sort(
        entries, {}, [](const auto& entry) -> const auto& { return entry.first; });
    part(name, [&](Lines&) {
      for (const auto& entry : entries)
        part("[" + in_quotes(entry.first) + "]", [&](Lines&) {
          const std::size_t before = out_.size();
          body(*this, *entry.second);
          if (out_.size() == before) leaf("", true);  // it is there, and that is all
        });
    });
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void go_to(std::string_view name) {
    if (!path_.empty() && !name.empty() && !name.starts_with('[')) path_ += " / ";
    path_ += name;
  }

  std::string path_;
  std::string out_;
};

// ---- what goes there --------------------------------------------------------------------------------------------------------------

template <class T>
concept Leaf = std::integral<T> || std::is_enum_v<T> || std::same_as<T, WideAmount> || std::same_as<T, Symbol> || std::same_as<T, Time> ||
    std::same_as<T, std::string> || std::same_as<T, CompactText>;
template <class T>
concept Pointer = requires {
  typename T::element_type;
};
template <class T>
constexpr bool is_interned = false;
template <class T>
constexpr bool is_interned<Interned<T>> = true;
template <class T>
concept Sequence = requires {
  typename T::value_type;
}
&&!Table<T> && !Leaf<T> && !OptionalValue<T>;

template <class T>
bool is_empty(const T& x) {
  if constexpr (OptionalValue<T>)
    return !x.has_value();
  else if constexpr (Pointer<T>)
    return x == nullptr;
  else if constexpr (Table<T> || Sequence<T>)
    return x.empty();
  else
    return false;
}

/// `registry` says what the numbers of rows stand for.
template <class Out>
class Walk {
 public:
  Walk(Out& out, const Registry& registry) : out_(out), registry_(registry) {}

  /// All that is state in it and does not hold what it holds when it is made.
  template <Listed T>
  void members(const T& x) {
    if constexpr (std::is_default_constructible_v<T>) {
      static const T made{};
      StateFields<T>::each([&](auto kind, std::string_view name, const auto& m, const auto& m_made) { member(kind, name, m, m_made); }, x,
                           made);
    } else {
      StateFields<T>::each(
          [&]<class M>(auto kind, std::string_view name, const M& m) {
            if constexpr (kind.value == FieldKind::state) member(kind, name, m, M{});
          },
          x);
    }
  }

 private:
  template <FieldKind kind, class M>
  void member(FieldKindConstant<kind> /*kind*/, std::string_view name, const M& m, const M& made) {
    if constexpr (is_interned<M>) {
      member(FieldKindConstant<kind>{}, name, *m, *made);
    } else if constexpr (kind == FieldKind::state) {
      if (name.ends_with('_')) name.remove_suffix(1);
      if constexpr (Leaf<M>) {
        if (m != made) value(name, m);
      } else if (!is_empty(m)) {
        value(name, m);
      }
    }
  }

  template <class T>
  void value(std::string_view name, const T& x) {
    if constexpr (Leaf<T>)
      out_.leaf(name, x);
    else if constexpr (Table<T>)
      table(
          name, x, [](const auto& entry) { return &entry.second; }, [&](const auto& entry) { return key_text(entry.first); });
    else
      out_.part(name, [&](Out& inner) { Walk(inner, registry_).inside(x); });
  }

  template <class T>
  void inside(const T& x) {
    if constexpr (Leaf<T>) {
      out_.leaf("", x);
    } else if constexpr (OptionalValue<T>) {
      if constexpr (!Leaf<typename T::value_type>) out_.leaf("", true);
      inside(*x);
    } else if constexpr (Pointer<T>) {
      inside(*x);
    } else if constexpr (Sequence<T>) {
      out_.leaf("size", x.size());
      for (std::size_t i = 0; const auto& element : x) value("[" + std::to_string(i++) + "]", element);
    } else if constexpr (Listed<T>) {
      members(x);
    } else {
      value("first", x.first);
      value("second", x.second);
    }
  }
  void inside(const PodPlace& x) {
    if (x.owner != Registry::none) out_.leaf("owner", registry_.key(x.owner));
    if (x.keeper != Registry::none) out_.leaf("keeper", registry_.key(x.keeper));
    members(x);
  }

  /// Rows in no order that counts: of each its key, and what is in it.
  template <class Rows, class At, class Key>
  void table(std::string_view name, const Rows& rows, At&& at, Key&& key) {
    std::vector<std::pair<std::string, decltype(at(*rows.begin()))>> entries;
    entries.reserve(rows.size());
    for (const auto& row : rows) entries.emplace_back(key(row), at(row));
    out_.table(name, entries, [this](Out& inner, const auto& entry) { Walk(inner, registry_).inside(entry); });
  }
  template <class Row, class Key>
  void list(std::string_view name, const std::vector<Row>& rows, Key&& key) {
    table(
        name, rows, [](const Row& row) { return &row; }, key);
  }

  void value(std::string_view name, const std::vector<QueueCounters::Cell>& cells) {
    list(name, cells, [](const auto& cell) { return key_text(std::pair(cell.flavor, cell.resource)); });
  }
  void value(std::string_view name, const std::vector<ClusterQueue::Image::Ledger>& ledgers) {
    list(name, ledgers, [](const auto& ledger) { return key_text(std::pair(ledger.namespace_, ledger.name)); });
  }
  void value(std::string_view name, const std::vector<ClusterQueue::Image::Penalty>& penalties) {
    list(name, penalties, [](const auto& penalty) { return penalty.uid; });
  }
  void value(std::string_view name, const std::vector<WorkloadPlace>& places) {
    std::vector<std::pair<std::string_view, const WorkloadPlace*>> known;
    for (WorkloadId id = 0; const auto& place : places) {
      if (registry_.parent_of(id) != Registry::none) known.emplace_back(registry_.uid(id), &place);
      ++id;
    }
    keyed(name, known);
  }
  void value(std::string_view name, const std::vector<JobKind>& kinds) {
    std::vector<std::pair<std::string_view, const JobKind*>> jobs;
    for (std::uint32_t parent = 0; const auto& kind : kinds) {
      if (kind != JobKind::none) jobs.emplace_back(registry_.key(parent), &kind);
      ++parent;
    }
    keyed(name, jobs);
  }
  template <class Row>
  void keyed(std::string_view name, const std::vector<std::pair<std::string_view, const Row*>>& rows) {
    table(
        name, rows, [](const auto& row) { return row.second; }, [](const auto& row) { return std::string(row.first); });
  }

  [[nodiscard]] static std::string key_text(std::string_view key) { return std::string(key); }
  [[nodiscard]] static std::string key_text(const Symbol& key) { return std::string(key.text()); }
  [[nodiscard]] static std::string key_text(const std::pair<Symbol, Symbol>& key) {
    return key_text(key.first) + "/" + key_text(key.second);
  }
  [[nodiscard]] static std::string key_text(const Domain::HeldKey& key) {
    return std::to_string(static_cast<unsigned>(key.kind)) + "/" + key_text(key.name);
  }
  [[nodiscard]] static std::string key_text(const SeenVersions::Key& key) {
    return std::to_string(static_cast<unsigned>(key.kind)) + "/" + key.namespace_ + "/" + key.name;
  }
  [[nodiscard]] std::string key_text(std::uint32_t parent) const { return registry_.key(parent); }

  Out& out_;
  const Registry& registry_;
};

// ---- entities ---------------------------------------------------------------------------------------------------------------------

template <class Out, class Entity>
void walk(Out& out, const Entities& e, const Entity& entity) {
  Walk walk(out, e.domain().registry());
  if constexpr (std::same_as<Entity, ClusterQueue>)
    walk.members(entity.image());
  else
    walk.members(entity);
}

template <class Entity>
using Named = std::vector<std::pair<std::string, const Entity*>>;

Named<WorkloadParent> parents_of(const Entities& e) {
  Named<WorkloadParent> out;
  for (std::uint32_t i = 0; i < e.domain().parent_count(); ++i)
    if (const auto* p = e.parent(i); p != nullptr && !p->empty()) out.emplace_back(e.domain().registry().key(i), p);
  return out;
}

Named<ClusterQueue> queues_of(const Entities& e) {
  Named<ClusterQueue> out;
  for (const auto& [name, config] : e.domain().catalog()->queues)
    if (const auto* q = e.queue(name)) out.emplace_back(name.text(), q);
  return out;
}

template <class Entity>
std::uint64_t sum_of(const Entities& e, const Named<Entity>& entities) {
  std::uint64_t sum = 0;
  for (const auto& [name, entity] : entities) {
    Digest digest;
    digest.leaf("", std::string_view(name));
    walk(digest, e, *entity);
    sum += digest.value();
  }
  return sum;
}

template <class Entity>
std::string lines_of(const Entities& e, std::string path, const Entity& entity) {
  Lines lines(std::move(path));
  walk(lines, e, entity);
  return lines.take();
}

// ---- what follows from it ---------------------------------------------------------------------------------------------------------

std::string outcomes_of(const Entities& e, const ClusterQueue& q) {
  Lines lines("outcomes of " + std::string(q.name().text()));
  for (std::size_t i = 0; const auto& w : q.waiting())
    lines.leaf("waiting[" + std::to_string(i++) + "]", w.workload->uid + (w.parked ? ", parked" : ""));
  Named<Reservation> reservations;
  const auto held = q.reservations();
  for (const auto& r : held) reservations.emplace_back(r->workload->uid, r.get());
  std::ranges::sort(reservations);
  for (const auto& [uid, r] : reservations)
    for (const auto& c : r->charges)
      lines.leaf("charged / " + uid + " / " + std::string(c.flavor.text()) + " / " + std::string(c.resource.text()), c.amount);
  const auto& catalog = *e.domain().catalog();
  const auto* config = catalog.queue(q.name());
  const auto* tree = e.tree(catalog.root_of(q.name()));
  if (config == nullptr || tree == nullptr || tree->quota() == nullptr) return lines.take();
  for (const auto& group : config->groups)
    for (const auto& flavor : group.flavors)
      for (const Symbol& resource : group.resources) {
        const auto f = tree->quota()->queue_figures(q.name(), flavor.flavor, resource);
        const std::string cell = std::string(flavor.flavor.text()) + " / " + std::string(resource.text()) + " / ";
        lines.leaf(cell + "usage", f.usage);
        lines.leaf(cell + "available", f.available);
        lines.leaf(cell + "potential", f.potential);
      }
  return lines.take();
}

// ---- comparing --------------------------------------------------------------------------------------------------------------------

std::vector<std::pair<std::string_view, std::string_view>> split(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    // Names of fields and keys in quotes stand before it; a key may have one in it, a text that is the value as well.
    std::size_t colon = 0;
    for (bool quoted = false; colon < line.size() && (quoted || line.substr(colon, 2) != ": "); ++colon) {
      if (line[colon] == '\\')
        ++colon;
      else if (line[colon] == '"')
        quoted = !quoted;
    }
    out.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
  }
  return out;
}

std::optional<StateDifference> compare(const std::string& one, const std::string& other) {
  if (one == other) return std::nullopt;
  const auto a = split(one), b = split(other);
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i < a.size() && i < b.size() && a[i].first == b[i].first)
    return StateDifference{std::string(a[i].first), std::string(a[i].second), std::string(b[i].second)};
  const auto has = [](const auto& list, std::size_t from, std::string_view name) {
    return std::any_of(list.begin() + static_cast<std::ptrdiff_t>(from), list.end(), [&](const auto& line) { return line.first == name; });
  };
  if (i == a.size() || (i < b.size() && has(b, i, a[i].first)))
    return StateDifference{std::string(b[i].first), {}, std::string(b[i].second)};
  return StateDifference{std::string(a[i].first), std::string(a[i].second), {}};
}

template <class Entity>
std::optional<StateDifference> compare(std::string_view what, const Entities& one, Named<Entity> ours, const Entities& other,
                                       Named<Entity> theirs) {
  std::ranges::sort(ours);
  std::ranges::sort(theirs);
  const auto text = [&](const Entities& e, const auto& entry) { return lines_of(e, std::string(what) + " " + entry.first, *entry.second); };
  auto a = ours.begin();
  auto b = theirs.begin();
  while (a != ours.end() || b != theirs.end()) {
    const bool in_ours = a != ours.end() && (b == theirs.end() || a->first <= b->first);
    const bool in_theirs = b != theirs.end() && (a == ours.end() || b->first <= a->first);
    if (auto difference = compare(in_ours ? text(one, *a) : "", in_theirs ? text(other, *b) : "")) return difference;
    if (in_ours) ++a;
    if (in_theirs) ++b;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t whole_hash(const Entities& e) {
  Digest digest;
  walk(digest, e, e.domain());
  return digest.value() + sum_of(e, parents_of(e)) + sum_of(e, queues_of(e));
}

std::string state_text(const Entities& e, StateDepth depth) {
  std::string out = lines_of(e, "domain", e.domain());
  const auto add = [&](std::string_view what, auto entities) {
    std::ranges::sort(entities);
    for (const auto& [name, entity] : entities) out += lines_of(e, std::string(what) + " " + name, *entity);
  };
  add("parent", parents_of(e));
  const auto queues = queues_of(e);
  add("queue", queues);
  if (depth == StateDepth::outcomes)
    for (const auto& [name, queue] : queues) out += outcomes_of(e, *queue);
  return out;
}

std::optional<StateDifference> first_difference(const Entities& one, const Entities& other) {
  if (auto d = compare(lines_of(one, "domain", one.domain()), lines_of(other, "domain", other.domain()))) return d;
  if (auto d = compare("parent", one, parents_of(one), other, parents_of(other))) return d;
  return compare("queue", one, queues_of(one), other, queues_of(other));
}

}  // namespace hindsight::admission
