#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/migrate/sources.hpp"
#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/yaml_reader.hpp"

namespace hindsight::cli::migrate {
namespace {

constexpr std::size_t dump_bytes_max = std::size_t{1} << 30U;
constexpr std::size_t dump_values_max = 40'000'000;
constexpr std::size_t configuration_bytes_max = std::size_t{4} << 20U;
constexpr std::size_t files_max = 10'000;

Result<std::string> bytes_of(const std::string& path, std::size_t most) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return fail(ErrorKind::invalid, path + ": is a directory; allowed: a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::error_code why(errno, std::generic_category());
    return fail(why == std::errc::no_such_file_or_directory ? ErrorKind::invalid : ErrorKind::io, path + ": " + why.message());
  }
  std::string out;
  for (std::string block(std::size_t{1} << 20U, '\0'); file;) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    out.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (out.size() > most)
      return fail(ErrorKind::invalid, path + ": found more than " + std::to_string(most) + " bytes; allowed: as many at most");
  }
  if (file.bad()) return fail(ErrorKind::io, path + ": cannot be read");
  return out;
}

/// The documents of a file; JSON is read by a reader that is many times faster.
Result<std::vector<Json>> documents_of(const std::string& path, const std::string& text) {
  std::vector<Json> out;
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && text[begin] == '{')
    if (auto json = connectors::manifests::parse_json(text)) {
      out.push_back(std::move(*json));
      return out;
    }
  auto documents = connectors::manifests::read_yaml(text, {.bytes = dump_bytes_max, .values = dump_values_max});
  if (!documents) return fail(documents.error().kind, path + ": " + documents.error().message);
  for (auto& document : *documents) out.push_back(std::move(document.value));
  return out;
}

Result<void> add_document(const std::string& path, Json document, World& world) {
  if (!document.is_object())
    return fail(ErrorKind::invalid,
                path + ": found " + std::string(document.type_name()) + "; allowed: objects with kind, or lists of them");
  for (const char* list : {"items", "objects"}) {
    const auto it = document.find(list);
    if (it == document.end() || !it->is_array()) continue;
    for (auto& item : *it)
      if (auto ok = add_document(path, std::move(item), world); !ok) return ok;
    return {};
  }
  const auto kind = document.find("kind");
  if (kind == document.end() || !kind->is_string())
    return fail(ErrorKind::invalid, path + ": found an object without kind; allowed: objects with kind, or lists of them");
  if (*kind == "Configuration") {
    if (!world.configuration) world.configuration = KueueConfiguration{document.dump(-1, ' ', false, Json::error_handler_t::replace), path};
    return {};
  }
  world.add(std::move(document));
  return {};
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> out;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const auto ending = it->path().extension();
    if (ending == ".yaml" || ending == ".yml" || ending == ".json") out.push_back(it->path().string());
    if (out.size() > files_max)
      return fail(ErrorKind::invalid, path + ": found more than " + std::to_string(files_max) + " files; allowed: as many at most");
  }
  if (error) return fail(ErrorKind::io, path + ": " + error.message());
  if (out.empty()) return fail(ErrorKind::invalid, path + ": found no file; allowed: a directory with *.yaml, *.yml or *.json");
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Result<void> add_files(const std::vector<std::string>& paths, World& world) {
  for (const auto& path : paths) {
    auto files = files_of(path);
    if (!files) return tl::unexpected(files.error());
    for (const auto& file : *files) {
      const auto text = bytes_of(file, dump_bytes_max);
      if (!text) return tl::unexpected(text.error());
      auto documents = documents_of(file, *text);
      if (!documents) return tl::unexpected(documents.error());
      for (auto& document : *documents)
        if (auto ok = add_document(file, std::move(document), world); !ok) return ok;
    }
  }
  return {};
}

Result<void> add_configuration_file(const std::string& path, World& world) {
  const auto text = bytes_of(path, configuration_bytes_max);
  if (!text) return tl::unexpected(text.error());
  world.configuration.reset();
  const auto documents = connectors::manifests::read_yaml(*text, {.bytes = configuration_bytes_max, .values = 100'000});
  if (!documents) return fail(documents.error().kind, path + ": " + documents.error().message);
  for (const auto& document : *documents)
    if (connectors::manifests::text(document.value, "kind") == "ConfigMap") world.add(document.value);
  if (!world.configuration) world.configuration = KueueConfiguration{*text, path};
  return {};
}

}  // namespace hindsight::cli::migrate
