#include "admission/model/node_labels.hpp"

#include <algorithm>

#include "vocabulary/state_hash.hpp"

namespace hindsight {

std::uint64_t interning_hash(const LabelList& labels) {
  StateHash h;
  for (const auto& [key, value] : labels) {
    h.add(key);
    h.add(std::string_view(value));
  }
  return h.value();
}

std::uint64_t interning_hash(const AmountList& amounts) {
  StateHash h;
  for (const auto& [resource, amount] : amounts) {
    h.add(resource);
    h.add(amount);
  }
  return h.value();
}

namespace admission {
namespace {

Symbol hostname_key() {
  static const Symbol key("kubernetes.io/hostname");
  return key;
}

auto place_in(LabelList& labels, const Symbol& key) {
  return std::lower_bound(labels.begin(), labels.end(), key, [](const auto& l, const Symbol& k) { return ByText{}(l.first, k); });
}

}  // namespace

NodeLabels::NodeLabels(LabelList labels) {
  std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  const auto host = place_in(labels, hostname_key());
  if (host != labels.end() && host->first == hostname_key() && !std::string_view(host->second).empty()) {
    hostname = Symbol(host->second);
    labels.erase(host);
  }
  labels.shrink_to_fit();
  others = std::move(labels);
}

bool NodeLabels::has(Symbol key) const {
  if (key == hostname_key() && !hostname.empty()) return true;
  return std::any_of(others->begin(), others->end(), [&](const auto& l) { return l.first == key; });
}

std::string_view NodeLabels::at(const Symbol& key) const {
  if (key == hostname_key() && !hostname.empty()) return hostname.text();
  for (const auto& [k, value] : others.value())
    if (k == key) return value;
  return {};
}

LabelList NodeLabels::all() const {
  LabelList out = others;
  if (!hostname.empty()) out.insert(place_in(out, hostname_key()), {hostname_key(), CompactText(hostname.text())});
  return out;
}

void NodeLabels::set(Symbol key, std::string_view value) {
  LabelList now = all();
  const auto at = place_in(now, key);
  if (at != now.end() && at->first == key)
    at->second = CompactText(value);
  else
    now.insert(at, {key, CompactText(value)});
  *this = NodeLabels(std::move(now));
}

void NodeLabels::erase(Symbol key) {
  LabelList now = all();
  std::erase_if(now, [&](const auto& l) { return l.first == key; });
  *this = NodeLabels(std::move(now));
}

}  // namespace admission
}  // namespace hindsight
