#include "doctor/manifests.hpp"

#include <algorithm>
#include <stdexcept>

#include "connectors/manifests/yaml_reader.hpp"

namespace hindsight::doctor {
namespace {

constexpr std::string_view all_definitions = "crds";

bool is_part_of(const EmbeddedManifest& manifest, std::string_view name) {
  return manifest.name == name || (name == all_definitions && manifest.name.starts_with("crds/"));
}

}  // namespace

std::vector<std::string> manifest_names() {
  std::vector<std::string> out{std::string(all_definitions)};
  for (const auto& manifest : embedded_manifests()) out.emplace_back(manifest.name);
  return out;
}

Result<std::string> manifest_text(std::string_view name) {
  std::string out;
  for (const auto& manifest : embedded_manifests())
    if (is_part_of(manifest, name)) out += (out.empty() ? "" : "---\n") + std::string(manifest.text);
  if (!out.empty()) return out;
  std::string names;
  for (const auto& one : manifest_names()) names += (names.empty() ? "" : ", ") + one;
  return fail(ErrorKind::invalid, "found \"" + std::string(name) + "\"; allowed: " + names);
}

std::vector<Json> manifest_objects(std::string_view name) {
  std::vector<Json> out;
  for (const auto& manifest : embedded_manifests()) {
    if (!is_part_of(manifest, name)) continue;
    auto documents = connectors::manifests::read_yaml(manifest.text);
    if (!documents) throw std::logic_error("deploy/" + std::string(manifest.name) + ": " + documents.error().message);
    for (auto& document : *documents) out.push_back(std::move(document.value));
  }
  if (out.empty()) throw std::logic_error("there is no manifest " + std::string(name));
  return out;
}

}  // namespace hindsight::doctor
