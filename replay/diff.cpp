#include "replay/diff.hpp"

#include <utility>

namespace hindsight::replay {
namespace {

std::vector<FieldChange> changes(const Picture::FieldTexts& before, const Picture::FieldTexts& after) {
  std::vector<FieldChange> out;
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (b == after.end() || (a != before.end() && a->first < b->first)) {
      out.push_back({a->first, a->second, {}});
      ++a;
    } else if (a == before.end() || b->first < a->first) {
      out.push_back({b->first, {}, b->second});
      ++b;
    } else {
      if (a->second != b->second) out.push_back({a->first, a->second, b->second});
      ++a;
      ++b;
    }
  }
  return out;
}

}  // namespace

std::vector<ObjectChange> diff(const Picture& before, const Picture& after) {
  static const Picture::FieldTexts nothing;
  std::vector<ObjectChange> out;
  auto a = before.objects.begin();
  auto b = after.objects.begin();
  while (a != before.objects.end() || b != after.objects.end()) {
    if (b == after.objects.end() || (a != before.objects.end() && a->first < b->first)) {
      out.push_back({a->first, ObjectChange::Kind::gone, changes(a->second, nothing)});
      ++a;
    } else if (a == before.objects.end() || b->first < a->first) {
      out.push_back({b->first, ObjectChange::Kind::appeared, changes(nothing, b->second)});
      ++b;
    } else {
      if (auto fields = changes(a->second, b->second); !fields.empty()) {
        out.push_back({a->first, ObjectChange::Kind::changed, std::move(fields)});
      }
      ++a;
      ++b;
    }
  }
  return out;
}

}  // namespace hindsight::replay
