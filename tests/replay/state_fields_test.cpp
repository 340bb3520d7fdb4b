// Nothing of the state is forgotten: every field that is listed as state is changed, one after another, in a state that a log led to. Then
// the hash over everything is another one, the difference names the field, and a snapshot brings the changed field back.

#include <gtest/gtest.h>

#include <concepts>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "admission/state/snapshot.hpp"
#include "admission/state/state_fields.hpp"
#include "admission/state/state_walk.hpp"
#include "events/settings.hpp"
#include "tests/replay/exercise_snapshot.hpp"

namespace hindsight::admission {
namespace {

template <class T>
concept Number = std::integral<T> || std::same_as<T, WideAmount>;
template <class T>
concept Leaf = Number<T> || std::is_enum_v<T> || std::same_as<T, Symbol> || std::same_as<T, Time> || std::same_as<T, std::string> ||
    std::same_as<T, CompactText>;

template <Leaf T>
void change(T& x) {
  if constexpr (std::same_as<T, bool>)
    x = !x;
  else if constexpr (Number<T>)
    ++x;
  else if constexpr (std::is_enum_v<T>)
    x = static_cast<T>(static_cast<int>(x) ^ 1);
  else if constexpr (std::same_as<T, Time>)
    x = Time{x.micros + 1'000'000};
  else if constexpr (std::same_as<T, Symbol>)
    x = Symbol(std::string(x.text()) + "x");
  else
    x = std::string(std::string_view(x)) + "x";
}

/// Meets every place of a state where something can be changed, in a fixed order: "JobState::uid" and the like. At the place with the
/// number `wanted` it is changed.
class Places {
 public:
  explicit Places(std::size_t wanted = std::size_t(-1)) : wanted_(wanted) {}

  void meet(Entities& e) {
    members(e.domain());
    for (std::uint32_t i = 0; i < e.domain().parent_count(); ++i)
      if (auto* p = const_cast<WorkloadParent*>(e.parent(i)); p != nullptr && !p->empty()) members(*p);
    for (const auto& [name, config] : e.domain().catalog()->queues)
      if (auto* q = const_cast<ClusterQueue*>(e.queue(name)); q != nullptr) members(*q);
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  template <Listed T>
  void members(T& x) {
    StateFields<T>::each(
        [&]<FieldKind kind>(FieldKindConstant<kind>, std::string_view name, auto& m) {
          if constexpr (kind == FieldKind::state) member(std::string(StateFields<T>::type_name) + "::" + std::string(name), m);
        },
        x);
  }
  template <class M>
  void member(const std::string& name, M& m) {
    if constexpr (Leaf<M>) {
      place(name, [&] { change(m); });
    } else if constexpr (requires { m.has_value(); }) {
      place(name, [&] { m.has_value() ? m.reset() : void(m.emplace()); });
      if (m) inside(*m);
    } else if constexpr (requires { m.change([](auto&) {}); }) {
      m.change([&](auto& value) { member(name, value); });
    } else if constexpr (requires { typename M::element_type; }) {
      if constexpr (!std::is_pointer_v<M>) inside(*m);
    } else if constexpr (requires { typename M::mapped_type; }) {
      table(name, m);
    } else if constexpr (requires { m.emplace_back(); }) {
      place(name, [&] {
        m.emplace_back();
        if constexpr (requires { m.back().reserved; }) m.back().reserved = 1;  // a cell that uses nothing is none
      });
      for (auto& x : m) inside(x);
    } else if constexpr (!std::is_pointer_v<M>) {
      inside(m);
    }
  }
  template <class M>
  void table(const std::string& name, M& m) {
    using Entry = typename M::mapped_type;
    if constexpr (requires(Entry & x) { x.scan; }) {  // what waits in a queue
      for (auto& [key, x] : m) inside(x.scan);
    } else if constexpr (
        Listed<Entry> || Leaf<Entry> || requires { typename Entry::value_type; } || requires { typename Entry::element_type; }) {
      if (!m.empty()) place(name, [&] { m.erase(m.begin()); });
      for (auto& [key, x] : m) {
        if constexpr (requires { typename Entry::element_type; })
          shared(x);
        else
          inside(x);
      }
    }
  }
  template <class T>
  void shared(std::shared_ptr<const T>& p) {
    if (p == nullptr) return;
    auto copy = std::make_shared<T>(*p);
    members(*copy);
    p = std::move(copy);
  }
  template <class T>
  void inside(T& x) {
    if constexpr (Listed<T>)
      members(x);
    else if constexpr (requires { x.emplace_back(); } && !std::same_as<T, std::string>)
      for (auto& element : x) inside(element);
  }
  void place(const std::string& name, const std::function<void()>& change_it) {
    if (names_.size() == wanted_) change_it();
    names_.push_back(name);
  }

  std::size_t wanted_;
  std::vector<std::string> names_;
};

std::unique_ptr<Entities> read(std::span<const std::byte> bytes) {
  auto out = std::make_unique<Entities>([](Text json) { return events::read_settings(json); });
  return SnapshotCodec::read(bytes, *out) ? std::move(out) : nullptr;
}

/// The line that a field has in the text of a state; empty: none.
std::string line_of(const Entities& e, const std::string& field) {
  std::istringstream text(state_text(e));
  for (std::string line; std::getline(text, line);)
    if (line.starts_with(field + ": ")) return line;
  return {};
}

/// What others find something by: a state in which only one of both is changed is none. It is read under the other name, or refused.
const std::set<std::string>& names_of_rows() {
  static const std::set<std::string> all{
      "QueueConfig::name",      "FlavorConfig::name", "CohortConfig::name",   "NamespaceConfig::name",        "CheckConfig::name",
      "LocalQueueConfig::name", "WorkloadState::uid", "WorkloadParent::job_", "LocalQueueConfig::namespace_", "WorkloadParent::workloads_"};
  return all;
}

/// What no state here can show: rows are added with the number that names them, and no queue here has a preemptor.
const std::set<std::string>& not_shown_here() {
  static const std::set<std::string> all{"Domain::job_kinds_", "Domain::workload_places_", "ClusterQueue::sticky_generation_"};
  return all;
}

/// The first place of each name, in whatever state has one.
std::map<std::string, std::pair<const std::vector<std::byte>*, std::size_t>> places() {
  std::map<std::string, std::pair<const std::vector<std::byte>*, std::size_t>> out;
  for (const auto& state : test::good_states()) {
    const auto entities = read(state);
    Places met;
    met.meet(*entities);
    for (std::size_t i = 0; i < met.names().size(); ++i) out.emplace(met.names()[i], std::pair(&state, i));
  }
  return out;
}

TEST(StateFields, EachIsInTheHashInTheDifferenceAndInSnapshots) {
  const auto all = places();
  EXPECT_GT(all.size(), 250U);
  for (const auto& [name, where] : all) {
    if (not_shown_here().contains(name)) continue;
    const auto as_it_was = read(*where.first);
    const auto changed = read(*where.first);
    Places(where.second).meet(*changed);
    EXPECT_NE(whole_hash(*changed), whole_hash(*as_it_was)) << name;
    const auto difference = first_difference(*as_it_was, *changed);
    if (!difference) {
      ADD_FAILURE() << name << " is not in the difference";
      continue;
    }
    const auto again = read(SnapshotCodec::write(*changed));
    if (names_of_rows().contains(name)) continue;
    if (again == nullptr) {
      ADD_FAILURE() << name << " is not read back";
      continue;
    }
    EXPECT_EQ(line_of(*again, difference->field), line_of(*changed, difference->field)) << name;
  }
}

TEST(StateFields, AStateThatWasReadHasTheSameFieldsAndOutcomes) {
  for (const auto& state : test::good_states()) {
    const auto once = read(state);
    const auto twice = read(SnapshotCodec::write(*once));
    ASSERT_NE(twice, nullptr);
    EXPECT_EQ(whole_hash(*once), whole_hash(*twice));
    EXPECT_FALSE(first_difference(*once, *twice));
    EXPECT_EQ(state_text(*once, StateDepth::outcomes), state_text(*twice, StateDepth::outcomes));
  }
}

}  // namespace
}  // namespace hindsight::admission
