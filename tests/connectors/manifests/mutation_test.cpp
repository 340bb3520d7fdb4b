#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/manifest_reader.hpp"

namespace hindsight::connectors::manifests {
namespace {

/// Cuts, doubles, swaps and replaces pieces of a text.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text, const std::string& other) {
    const std::size_t changes = 1 + below(3);
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) change(text, other);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void change(std::string& text, const std::string& other) {
    static const std::vector<std::string> pieces{"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ": ",
                                                 "- ",
                                                 "\n",
                                                 "  ",
                                                 "&a ",
                                                 "*a",
                                                 "<<: *a",
                                                 "'",
                                                 "\"",
                                                 "|\n",
                                                 "null",
                                                 "-1",
                                                 "1e99",
                                                 "!!int ",
                                                 "!!binary ",
                                                 "? ",
                                                 "---\n",
                                                 "...\n",
                                                 "\t",
                                                 "\xff",
                                                 std::string(1, static_cast<char>(0)),
                                                 "kind: List\nitems:\n",
                                                 "9223372036854775808",
                                                 "0x",
                                                 "~",
                                                 ".nan",
                                                 "#",
                                                 "%YAML 9.9\n"};
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(text.size() - at, 12));
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 2:
        text.insert(at, pieces[below(pieces.size())]);
        break;
      case 3:
        text[at] = static_cast<char>(below(256));
        break;
      case 4:
        text.replace(at, length, pieces[below(pieces.size())]);
        break;
      default:
        text.insert(at, other.substr(below(other.size()), length));
        break;
    }
  }

  std::mt19937_64 random_;
};

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/conformance/cases")) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
    return std::pair(std::filesystem::file_size(a), a) < std::pair(std::filesystem::file_size(b), b);
  });
  for (std::size_t i = 0; i < 12; ++i) {
    std::ostringstream text;
    text << std::ifstream(paths[i]).rdbuf();
    texts.push_back(text.str());
  }
  texts.push_back("apiVersion: v1\nkind: List\nitems:\n- &a\n  apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n- *a\n");
  texts.push_back(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","metadata":{"name":"w"},"spec":{"podSets":[{"template":{"spec":
    {"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}],"priorityClassSource":"x"}})");
  return texts;
}

// Whatever the bytes are, reading ends with objects or with an error that names the file.
TEST(MutatedFiles, are_read_or_refused_but_never_harm) {
  const auto texts = corpus();
  Mutator mutator(20260101);
  std::size_t read = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto& text = texts[static_cast<std::size_t>(i) % texts.size()];
    ReadLimits limits;
    limits.values = 100'000;
    const auto input = read_text(mutator.mutate(text, texts[static_cast<std::size_t>(i * 7) % texts.size()]), "f.yaml", limits);
    if (input) {
      ++read;
      continue;
    }
    ++refused;
    ASSERT_TRUE(input.error().message.starts_with("f.yaml:")) << input.error().message;
    ASSERT_EQ(input.error().kind, ErrorKind::invalid);
  }
  EXPECT_GT(read, 100U);
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace hindsight::connectors::manifests
