#include "bench/nodes/on_a_broker.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace hindsight::bench {

int on_a_broker(CLI::App& options, int argc, char** argv,
                const std::function<Result<void>(const std::string& broker, const std::string& folder)>& measure) {
  std::vector<std::string> arguments;  // the last first, as the parser wants them
  for (int i = argc - 1; i > 0; --i)
    if (!std::string_view(argv[i]).starts_with("--benchmark_"))  // ./dev bench may pass these to every benchmark
      arguments.emplace_back(argv[i]);
  try {
    options.parse(arguments);
  } catch (const CLI::ParseError& wrong) {
    return options.exit(wrong) == 0 ? 0 : 2;
  }
  const char* broker = std::getenv("HINDSIGHT_BENCH_KAFKA");
  if (broker == nullptr) {
    std::printf("HINDSIGHT_BENCH_KAFKA is not set: nothing is measured\n");
    return 0;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "hindsight-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "error: %s cannot be made\n", folder.c_str());
    return 1;
  }
  if (const auto done = measure(broker, folder); !done) {
    std::fprintf(stderr, "error: %s; what the nodes said is in %s\n", done.error().message.c_str(), folder.c_str());
    return 1;
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace hindsight::bench
