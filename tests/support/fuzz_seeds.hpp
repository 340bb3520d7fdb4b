#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight::test {

/// What libFuzzer calls before all else, with its command line: `fuzz_NAME --write-seeds FOLDER` writes each of `make_seeds()` as a file
/// and ends. A fuzzer that begins with nothing learns the grammar of its input for hours, and libFuzzer takes 4096 bytes for the most that
/// an input may have. Runs in the root of the repository.
template <class MakeSeeds>
int write_seeds_if_asked(const int* argc, char*** argv, MakeSeeds make_seeds) {
  if (*argc != 3 || std::string_view((*argv)[1]) != "--write-seeds") return 0;
  const std::filesystem::path folder((*argv)[2]);
  std::filesystem::create_directories(folder);
  std::size_t written = 0;
  for (const auto& seed : make_seeds()) {
    std::ofstream file(folder / ("seed-" + std::to_string(written++)), std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    if (!file.flush()) std::fprintf(stderr, "%s cannot be written\n", folder.c_str()), std::exit(1);
  }
  if (written == 0) std::fprintf(stderr, "no seeds: found nothing to begin with\n"), std::exit(1);
  std::printf("%zu seeds in %s\n", written, folder.c_str());
  std::exit(0);
}

/// The files below a folder of the repository whose names end so, each with some bytes before it.
inline std::vector<std::string> seeds_of(const std::filesystem::path& folder, std::string_view ending, const std::string& before = {}) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> out;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    out.push_back(before + std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  return out;
}

}  // namespace hindsight::test
