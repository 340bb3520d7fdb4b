#include "page/views/sight.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::page {
namespace {

/// What ends a word in our texts. No name of an object of the API has any of it.
constexpr std::string_view word_ends = " \t\n,;:()[]\"'";

}  // namespace

Sight::Sight(const admission::StateView& state, const Audience& audience) : state_(state), audience_(audience), all_(audience.sees_all()) {
  if (!all_) learn_namespaces();
}

void Sight::learn_namespaces() {
  const auto& catalog = *state_.domain().catalog();
  std::unordered_set<Symbol> met;
  for (const auto& [name, config] : catalog.namespaces) met.insert(name);
  for (const auto& [key, config] : catalog.local_queues) met.insert(key.first);
  for (std::uint32_t i = 0; i < state_.domain().parent_count(); ++i) {
    const auto* parent = state_.parent(i);
    if (parent == nullptr) continue;
    if (parent->job()) met.insert(parent->job()->namespace_);
    for (const auto& w : parent->workloads()) met.insert(w.namespace_);
  }
  for (const auto& [uid, q] : state_.domain().quarantined()) met.insert(Symbol(q.namespace_));
  for (const Symbol& name : met)
    if (!name.empty()) known_.emplace(name.text());
  const auto add_pairs = [&](const std::vector<admission::ResourceGroup>& groups) {
    for (const auto& group : groups)
      for (const auto& flavor : group.flavors)
        for (const Symbol& resource : group.resources)
          pairs_.insert(std::string(flavor.flavor.text()) + "/" + std::string(resource.text()));
  };
  for (const auto& [name, config] : catalog.queues) add_pairs(config->groups);
  for (const auto& [name, config] : catalog.cohorts) add_pairs(config->groups);
}

bool Sight::sees(std::string_view namespace_) const {
  if (all_ || namespace_.empty()) return true;
  const auto [it, fresh] = asked_.try_emplace(std::string(namespace_), false);
  if (fresh) it->second = audience_.may_see(namespace_);
  return it->second;
}

/// "namespace/name", also behind a kind.
bool Sight::hides_word(std::string_view word) const {
  if (pairs_.contains(std::string(word))) return false;
  for (std::size_t from = 0, slash = word.find('/'); slash != std::string_view::npos; slash = word.find('/', from)) {
    if (hides(word.substr(from, slash - from))) return true;
    from = slash + 1;
  }
  return false;
}

std::string Sight::told(std::string_view text) const {
  if (all_) return std::string(text);
  std::string out;
  std::string_view before;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(word_ends, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (hides_word(word) || (before == "namespace" && hides(word)))
      out += hidden_name;
    else
      out += word;
    if (!word.empty()) before = word;
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

bool Sight::hides_element(const Json& element) const {
  if (!element.is_object()) return false;
  const auto names = [&](const char* key) -> const std::string* {
    const auto it = element.find(key);
    return it == element.end() ? nullptr : it->get_ptr<const std::string*>();
  };
  if (const auto* namespace_ = names("namespace"); namespace_ != nullptr && !sees(*namespace_)) return true;
  const auto* workload = names("workload");
  return workload != nullptr && hides_word(*workload);
}

std::size_t Sight::veil(Json& document) const {
  if (all_) return 0;
  if (document.is_string()) {
    const auto& text = document.get_ref<const std::string&>();
    document = told(text);
    return 0;
  }
  std::size_t left_out = 0;
  if (document.is_array()) {
    auto& elements = document.get_ref<Json::array_t&>();
    left_out += std::erase_if(elements, [&](const Json& element) { return hides_element(element); });
  }
  if (document.is_object()) {
    const auto namespace_ = document.find("namespace");
    if (namespace_ != document.end() && namespace_->is_string() && !sees(namespace_->get_ref<const std::string&>())) {
      *namespace_ = hidden_name;
      if (document.contains("name")) document["name"] = hidden_name;
    }
  }
  if (document.is_structured())
    for (auto& part : document) left_out += veil(part);
  return left_out;
}

}  // namespace hindsight::page
