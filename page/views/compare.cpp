#include "page/views/compare.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "page/views/compare_words.hpp"
#include "page/views/extra_state.hpp"
#include "page/views/record_lines.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "replay/diff.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using admission::WorkloadParent;

constexpr std::uint64_t items_default = 200, items_max = 1'000;
/// Of so many jobs and Workloads, those with the biggest effect, fields are compared.
constexpr std::size_t families_compared_max = 5'000;
constexpr std::size_t fields_told_max = 50, value_bytes_max = 1'000;

/// What tells the state of a job and its Workloads apart from another one, in a few bytes.
struct FamilyMark {
  std::uint64_t hash = 0;
  bool admitted = false, reserved = false, finished = false;
  Symbol reason;  ///< Of who waits.
};
using FamilyMarks = std::unordered_map<std::string, FamilyMark>;  ///< By uid of the job, or of the Workload that no job owns.

std::string family_uid(const WorkloadParent& parent) {
  if (parent.job()) return std::string(parent.job()->uid.view());
  return parent.workloads().empty() ? std::string() : std::string(parent.workloads().front().uid.view());
}

FamilyMarks marks_of(const admission::StateView& state) {
  FamilyMarks out;
  out.reserve(state.domain().parent_count());
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr || parent->empty()) continue;
    FamilyMark mark{parent->hash()};
    for (const auto& w : parent->workloads()) {
      mark.finished = mark.finished || w.finished();
      mark.reserved = mark.reserved || w.reserved();
      mark.admitted = mark.admitted || (w.reserved() && w.admitted());
      if (const auto* c = w.find(ConditionType::quota_reserved); c != nullptr && c->is_false()) mark.reason = c->reason;
    }
    out.insert_or_assign(family_uid(*parent), mark);
  }
  return out;
}

int effect_between(const FamilyMark* a, const FamilyMark* b) {
  static const FamilyMark nobody;
  const FamilyMark& x = a == nullptr ? nobody : *a;
  const FamilyMark& y = b == nullptr ? nobody : *b;
  if (x.admitted != y.admitted) return effects::admission;
  if (x.finished != y.finished) return effects::end;
  if (x.reserved != y.reserved) return effects::quota;
  if (a == nullptr || b == nullptr) return effects::presence;
  return x.reason != y.reason ? effects::reason : effects::workload;
}

/// Those that are not alike, by uid: the ones with the biggest effect, and how many others there are.
struct Differing {
  std::unordered_set<std::string> uids;
  std::size_t left_out = 0;
};

Differing differing_families(const FamilyMarks& a, const FamilyMarks& b) {
  std::vector<std::pair<int, const std::string*>> found;
  for (const auto& [uid, mark] : a) {
    const auto other = b.find(uid);
    if (other == b.end())
      found.emplace_back(effect_between(&mark, nullptr), &uid);
    else if (other->second.hash != mark.hash)
      found.emplace_back(effect_between(&mark, &other->second), &uid);
  }
  for (const auto& [uid, mark] : b)
    if (!a.contains(uid)) found.emplace_back(effect_between(nullptr, &mark), &uid);
  std::sort(found.begin(), found.end(),
            [](const auto& x, const auto& y) { return x.first != y.first ? x.first > y.first : *x.second < *y.second; });
  Differing out;
  const std::size_t kept = std::min(found.size(), families_compared_max);
  for (std::size_t i = 0; i < kept; ++i) out.uids.insert(*found[i].second);
  out.left_out = found.size() - kept;
  return out;
}

/// Calls a function with a state, which may take a fold.
using WithState = std::function<Result<void>(const std::function<void(const admission::StateView&)>&)>;

struct Compared {
  replay::Picture a, b;
  Time time_a, time_b;
  std::size_t left_out = 0;
};

/// One state at a time: what is kept of the other is a few bytes of each family, and the texts of those that differ.
Result<Compared> compare_states(const WithState& with_a, const WithState& with_b) {
  Compared out;
  FamilyMarks marks_a;
  if (auto ok = with_a([&](const admission::StateView& state) {
        marks_a = marks_of(state);
        out.time_a = state.domain().now();
      });
      !ok)
    return tl::unexpected(ok.error());
  Differing differing;
  const auto wants = [&](const WorkloadParent& parent) { return differing.uids.contains(family_uid(parent)); };
  if (auto ok = with_b([&](const admission::StateView& state) {
        differing = differing_families(marks_a, marks_of(state));
        out.b = replay::picture_of(state, wants);
        out.time_b = state.domain().now();
      });
      !ok)
    return tl::unexpected(ok.error());
  marks_a.clear();
  if (auto ok = with_a([&](const admission::StateView& state) { out.a = replay::picture_of(state, wants); }); !ok)
    return tl::unexpected(ok.error());
  out.left_out = differing.left_out;
  return out;
}

const replay::Picture::FieldTexts* fields_in(const replay::Picture& picture, const replay::ObjectName& name) {
  const auto it = picture.objects.find(name);
  return it == picture.objects.end() ? nullptr : &it->second;
}

bool is_visible(const Audience& audience, const replay::ObjectName& name) {
  const std::string& namespace_ = name.kind == "Namespace" ? name.name : name.namespace_;
  return namespace_.empty() || audience.may_see(namespace_);
}

Json item_json(const replay::ObjectChange& change, const EffectOfChange& what, const Sight& sight) {
  const auto told = [&](const std::string& text) { return valid_utf8(cut_message(sight.told(text), value_bytes_max)); };
  Json changes = Json::array();
  for (const auto& f : change.fields) {
    if (changes.size() == fields_told_max) break;
    Json one{{"field", valid_utf8(f.field)}};
    if (!f.before.empty()) one["before"] = told(f.before);
    if (!f.after.empty()) one["after"] = told(f.after);
    changes.push_back(std::move(one));
  }
  Json out{{"object", object_ref(change.object.kind, change.object.namespace_, change.object.name)},
           {"sentence", told(what.sentence)},
           {"effect", what.effect},
           {"changes", std::move(changes)}};
  if (change.fields.size() > fields_told_max) out["changesLeftOut"] = change.fields.size() - fields_told_max;
  return out;
}

Json document_of(const Compared& compared, const Json& a, const Json& b, const Look& look, std::size_t limit) {
  const auto changes = replay::diff(compared.a, compared.b);
  std::vector<std::pair<EffectOfChange, const replay::ObjectChange*>> visible;
  std::size_t hidden = 0;
  for (const auto& change : changes) {
    if (!is_visible(look.audience, change.object)) {
      ++hidden;
      continue;
    }
    visible.emplace_back(effect_of(change, fields_in(compared.a, change.object), fields_in(compared.b, change.object)), &change);
  }
  std::stable_sort(visible.begin(), visible.end(), [](const auto& x, const auto& y) { return x.first.effect > y.first.effect; });
  const std::size_t told = std::min(visible.size(), limit);
  const Sight sight(look.past.driver(), look.audience);
  Json items = Json::array();
  for (std::size_t i = 0; i < told; ++i) items.push_back(item_json(*visible[i].second, visible[i].first, sight));
  return {{"a", a}, {"b", b}, {"items", std::move(items)}, {"leftOut", visible.size() - told + compared.left_out}, {"hidden", hidden}};
}

/// The state that a look stands at, which takes nothing.
WithState state_of(const Look& look) {
  return [&look](const auto& use) -> Result<void> {
    use(look.past.driver());
    return {};
  };
}

Result<std::size_t> items_wanted(const Parameters& parameters) {
  const auto limit = parameters.number("limit", items_default, 1, items_max);
  if (!limit) return tl::unexpected(limit.error());
  return static_cast<std::size_t>(*limit);
}

}  // namespace

Result<Json> compare_looks(const Look& a, const Look& b, const Parameters& parameters) {
  const auto limit = items_wanted(parameters);
  if (!limit) return tl::unexpected(limit.error());
  const auto compared = compare_states(state_of(a), state_of(b));
  if (!compared) return tl::unexpected(compared.error());
  return document_of(*compared, taken_at(a), taken_at(b), b, *limit);
}

Result<Json> compare_view(const Look& look, const Parameters& parameters) {
  const auto limit = items_wanted(parameters);
  if (!limit) return tl::unexpected(limit.error());
  const auto last = look.log.last();
  if (!last) return tl::unexpected(last.error());
  // What was is compared with what would have been.
  const events::Log& log_of_a = look.trunk == nullptr ? look.log : *look.trunk;
  const auto last_of_a = log_of_a.last();
  if (!last_of_a) return tl::unexpected(last_of_a.error());
  const auto a = parameters.number("a", look.trunk == nullptr ? look.position() : *last_of_a, 0, *last_of_a);
  if (!a) return tl::unexpected(a.error());
  const auto b = parameters.number("b", *last, 0, *last);
  if (!b) return tl::unexpected(b.error());
  const auto turn = ExtraState::wait(look.is_over);
  if (!turn) return tl::unexpected(turn.error());
  replay::Past extra(look.log, look.past.domain_name());
  replay::Past before(log_of_a, look.past.domain_name());
  const auto state_of_past = [&look](replay::Past& past, Position position) -> WithState {
    return [&look, &past, position](const auto& use) -> Result<void> {
      if (auto ok = ExtraState::go_to(past, position, look.is_over); !ok) return ok;
      use(past.driver());
      return {};
    };
  };
  const auto state_at = [&](Position position) { return position == look.position() ? state_of(look) : state_of_past(extra, position); };
  const auto compared = compare_states(look.trunk == nullptr ? state_at(*a) : state_of_past(before, *a), state_at(*b));
  if (!compared) return tl::unexpected(compared.error());
  return document_of(*compared, place_json(*a, compared->time_a), place_json(*b, compared->time_b), look, *limit);
}

}  // namespace hindsight::page
