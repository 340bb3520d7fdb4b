#include "connectors/manifests/manifest_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "connectors/manifests/object_checks.hpp"
#include "connectors/manifests/scenario_reader.hpp"
#include "connectors/manifests/syntax.hpp"
#include "connectors/manifests/v1beta1.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::connectors::manifests {
namespace {

/// Errors are told line by line, so no text of a file, nor its name, may begin one.
tl::unexpected<Error> on_one_line(const Error& e) { return fail(e.kind, printable(e.message)); }

constexpr std::size_t most_problems_told = 10;

/// Reads the documents of one text into an Input and gathers what is wrong with them.
class TextReader {
 public:
  TextReader(std::string_view text, const std::string& file, Input& input) : text_(text), file_(file), input_(input) {}

  Result<void> read(const ReadLimits& limits) {
    auto documents = read_yaml(text_, limits);
    if (!documents) return on_one_line({documents.error().kind, file_ + ": " + documents.error().message});
    const std::size_t scenarios_before = input_.scenarios.size();
    for (std::size_t i = 0; i < documents->size(); ++i) {
      document_ = i;
      line_ = (*documents)[i].line;
      read_value(std::move((*documents)[i].value), "");
    }
    if (!messages_.empty()) return fail(ErrorKind::invalid, joined());
    if (input_.scenarios.size() == scenarios_before + 1) input_.scenarios.back().name = std::filesystem::path(file_).stem().string();
    return {};
  }

 private:
  void read_value(Json value, const std::string& prefix) {
    const std::string what = name_of(value);
    std::vector<Problem> problems;
    if (!value.is_object()) {
      problems.push_back({ProblemKind::type, "", shortened(value), "must be an object with apiVersion, kind and metadata"});
      return tell(what, prefix, problems);
    }
    if (value.value("kind", Json()) == "List") return read_list(std::move(value), prefix);
    if (value.value("kind", Json()) == "Scenario") {
      auto scenario = read_scenario(std::move(value), problems);
      scenario.source = source();
      tell(what, prefix, problems);
      input_.scenarios.push_back(std::move(scenario));
      return;
    }
    const Kind* kind = check_identity(value, problems);
    if (kind != nullptr) {
      check(*kind->schema, value, "", UnknownFields::reported, problems);
      check_metadata(*kind, value, problems);
      check_amounts(*kind->schema, value, "", problems);
      check_seconds(value, problems);
    }
    tell(what, prefix, problems);
    if (problems.empty()) input_.manifests.push_back({std::move(value), kind, source()});
  }

  void read_list(Json list, const std::string& prefix) {
    const auto items = list.find("items");
    if (items == list.end() || !items->is_array()) {
      tell("List", prefix, {{ProblemKind::required, "items", "", "must be given: the objects of the list"}});
      return;
    }
    std::size_t i = 0;
    for (auto& item : *items) read_value(std::move(item), prefix + "items[" + std::to_string(i++) + "].");
  }

  static void check_seconds(const Json& object, std::vector<Problem>& problems) {
    for (const auto name : {run_seconds_annotation, arrive_seconds_annotation}) {
      if (const auto seconds = seconds_annotation(object, name); !seconds)
        problems.push_back({ProblemKind::invalid, "metadata.annotations." + std::string(name), "", seconds.error().message});
    }
  }

  static std::string name_of(const Json& value) {
    if (!value.is_object()) return "document";
    const auto kind = value.find("kind");
    std::string text = kind != value.end() && kind->is_string() ? kind->get<std::string>() : std::string("object");
    const auto metadata = value.find("metadata");
    if (metadata != value.end() && metadata->is_object()) {
      const auto name = metadata->find("name");
      if (name != metadata->end() && name->is_string()) text += " \"" + name->get<std::string>() + "\"";
    }
    return text;
  }

  [[nodiscard]] std::string source() const { return file_ + ":" + std::to_string(line_); }

  void tell(const std::string& what, const std::string& prefix, const std::vector<Problem>& problems) {
    for (const auto& problem : problems) {
      if (++told_ > most_problems_told) continue;
      const int line = line_of(text_, document_, prefix + problem.field);
      std::string where = file_ + ":" + std::to_string(line == 0 ? line_ : line) + ": " + what + ": ";
      messages_.push_back(where + describe(problem));
    }
  }

  [[nodiscard]] std::string joined() const {
    std::string text;
    for (const auto& message : messages_) text += (text.empty() ? "" : "\n") + printable(message);
    if (told_ > most_problems_told) text += "\nand " + std::to_string(told_ - most_problems_told) + " more";
    return text;
  }

  std::string_view text_;
  const std::string& file_;
  Input& input_;
  std::size_t document_ = 0;
  int line_ = 1;
  std::size_t told_ = 0;
  std::vector<std::string> messages_;
};

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return fail(ErrorKind::not_found, path + ": no such file or directory");
  if (!std::filesystem::is_directory(status)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const auto ending = entry.path().extension();
    if (entry.is_regular_file() && (ending == ".yaml" || ending == ".yml" || ending == ".json")) files.push_back(entry.path().string());
  }
  if (error) return fail(ErrorKind::io, path + ": " + error.message());
  if (files.empty()) return fail(ErrorKind::not_found, path + ": holds no file that ends in .yaml, .yml or .json");
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> contents_of(const std::string& file, const ReadLimits& limits) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > limits.bytes)
    return fail(ErrorKind::invalid,
                file + ": is " + std::to_string(size) + " bytes long, allowed: at most " + std::to_string(limits.bytes) + " bytes");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail(ErrorKind::io, file + ": cannot be opened");
  // What a pipe or a device holds is not known before it was read, and may have no end.
  std::string text;
  std::array<char, 65536> part{};
  while (text.size() <= limits.bytes && stream) {
    stream.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return fail(ErrorKind::io, file + ": cannot be read");
  if (text.size() > limits.bytes)
    return fail(ErrorKind::invalid, file + ": has no end within " + std::to_string(limits.bytes) + " bytes, allowed: at most so many");
  return text;
}

}  // namespace

Result<Input> read_text(std::string_view text, const std::string& file, const ReadLimits& limits) {
  Input input;
  if (auto done = TextReader(text, file, input).read(limits); !done) return tl::unexpected(done.error());
  return input;
}

Result<Input> read_input(const std::vector<std::string>& paths, const ReadLimits& limits) {
  Input input;
  for (const auto& path : paths) {
    const auto files = files_of(path);
    if (!files) return on_one_line(files.error());
    for (const auto& file : *files) {
      const auto text = contents_of(file, limits);
      if (!text) return on_one_line(text.error());
      if (auto done = TextReader(*text, file, input).read(limits); !done) return tl::unexpected(done.error());
    }
  }
  return input;
}

Result<std::optional<Duration>> seconds_annotation(const Json& object, std::string_view name) {
  if (!object.is_object()) return std::optional<Duration>();
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return std::optional<Duration>();
  const auto annotations = metadata->find("annotations");
  if (annotations == metadata->end() || !annotations->is_object()) return std::optional<Duration>();
  const auto it = annotations->find(name);
  if (it == annotations->end()) return std::optional<Duration>();
  constexpr double most = 1e9;  // Thirty years: more is a mistake, and sums of times stay far from overflow.
  double seconds = -1;
  if (it->is_string()) {
    const auto& text = it->get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size()) seconds = -1;
  }
  if (!(seconds >= 0 && seconds <= most))
    return fail(ErrorKind::invalid, "found " + shortened(*it) + ", allowed: a number of seconds from 0 to 1000000000, in quotes");
  return std::optional<Duration>(Duration{static_cast<std::int64_t>(seconds * 1e6)});
}

}  // namespace hindsight::connectors::manifests
